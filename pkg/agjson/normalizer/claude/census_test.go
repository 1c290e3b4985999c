package claude_test

import (
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/agtest"
)

// TestCensus: no leaf of a recorded frame is lost but for those listed with their reason (SPEC §8.0).
func TestCensus(t *testing.T) {
	c := agtest.Census{
		Drops: "testdata/drops.txt",
		Kind: func(f agtest.Object) string {
			kind, _ := f["type"].(string)
			if sub, ok := f["subtype"].(string); ok && kind == "system" {
				kind += "." + sub
			}
			if ev, ok := f["event"].(agtest.Object); ok {
				sub, _ := ev["type"].(string)
				kind += "." + sub
			}
			return kind
		},
		Free: func(path string) bool {
			return strings.HasSuffix(path, "/modelUsage") || strings.HasSuffix(path, "/model_usage_since_last_result") || strings.HasSuffix(path, "/input")
		},
	}
	for _, s := range streams(t) {
		c.Stream(t, s.name, s.frames, run(s.frames))
	}
	c.Done(t)
}
