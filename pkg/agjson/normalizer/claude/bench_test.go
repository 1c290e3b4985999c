package claude_test

import (
	"encoding/json"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/claude"
)

// BenchmarkStreams maps all recorded streams.
func BenchmarkStreams(b *testing.B) {
	var all [][]json.RawMessage
	for _, s := range streams(b) {
		all = append(all, s.frames)
	}
	agtest.BenchmarkStreams(b, "claude", all, func() normalizer.Normalizer { return claude.New(host) })
}
