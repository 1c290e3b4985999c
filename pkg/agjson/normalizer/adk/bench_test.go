package adk_test

import (
	"encoding/json"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/adk"
)

// BenchmarkStreams maps all recorded streams.
func BenchmarkStreams(b *testing.B) {
	var all [][]json.RawMessage
	for _, s := range streams(b) {
		all = append(all, s.frames)
	}
	agtest.BenchmarkStreams(b, "adk", all, func() normalizer.Normalizer { return adk.New(host) })
}
