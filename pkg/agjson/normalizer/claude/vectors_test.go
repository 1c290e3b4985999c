package claude_test

import (
	"testing"

	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/claude"
)

func TestVectors(t *testing.T) {
	cases, ok := agtest.NormalizeCases(t, "claude")
	if !ok {
		return
	}
	agtest.ReadDepartures(t, "testdata/departures.txt").Check(t, rules, cases, func(c agtest.Case) []agtest.Object {
		events := agtest.Run(claude.New(normalizer.Host{}), c.Frames)
		agtest.CheckStream(t, events)
		return agtest.Objects(events)
	})
}
