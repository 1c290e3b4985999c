package agtest

import (
	"encoding/json"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// BenchmarkStreams measures a facet over streams of frames, from bytes of frames to bytes of events, beside encoding/json merely
// decoding the same frames into any, in one run. make gives a normalizer for each stream.
func BenchmarkStreams(b *testing.B, name string, streams [][]json.RawMessage, make func() normalizer.Normalizer) {
	var size, frames int64
	for _, s := range streams {
		for _, f := range s {
			size += int64(len(f))
			frames++
		}
	}
	run := func(name string, stream func(b *testing.B, frames []json.RawMessage)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range streams {
					stream(b, s)
				}
			}
			b.ReportMetric(float64(frames)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
	var out []byte
	write := func(events []agjson.Event) {
		out = out[:0]
		for i := range events {
			out = append(agjson.AppendEvent(out, &events[i]), '\n')
		}
	}
	run(name, func(_ *testing.B, frames []json.RawMessage) {
		n := make()
		for _, f := range frames {
			write(n.Push(f))
		}
		write(n.Flush())
	})
	run("encoding-json", func(b *testing.B, frames []json.RawMessage) {
		for _, f := range frames {
			var v any
			if err := json.Unmarshal(f, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
