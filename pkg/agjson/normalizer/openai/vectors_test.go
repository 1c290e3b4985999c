package openai_test

import (
	"testing"

	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/openai"
)

// TestVectors: the same events as the public SDK's, but for what testdata/departures.txt lists.
func TestVectors(t *testing.T) {
	cases, ok := agtest.NormalizeCases(t, "openai")
	if !ok {
		return
	}
	agtest.ReadDepartures(t, "testdata/departures.txt").Check(t, rules, cases, func(c agtest.Case) []agtest.Object {
		events := agtest.Run(openai.New(normalizer.Host{}), c.Frames)
		agtest.CheckStream(t, events)
		return agtest.Objects(events)
	})
}
