package openai_test

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
			if name, ok := f["name"].(string); ok {
				return name
			}
			data, ok := f["data"].(agtest.Object)
			if !ok {
				return kind
			}
			kind, _ = data["type"].(string)
			if ev, ok := data["event"].(agtest.Object); ok {
				if _, ok = ev["type"].(string); !ok {
					return "chunk"
				}
			}
			return kind
		},
		Free: func(path string) bool { return strings.HasSuffix(path, "/properties") },
	}
	for _, s := range streams(t) {
		c.Stream(t, s.name, s.frames, run(s.frames))
	}
	c.Done(t)
}
