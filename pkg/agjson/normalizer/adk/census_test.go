package adk_test

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
			if f["type"] == "__host_error__" {
				return "__host_error__"
			}
			return "event"
		},
		Free: func(path string) bool {
			switch path[strings.LastIndexByte(path, '/')+1:] {
			case "args", "response", "stateDelta", "artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations":
				return true
			}
			return false
		},
	}
	for _, s := range streams(t) {
		c.Stream(t, s.name, s.frames, run(s.frames))
	}
	c.Done(t)
}
