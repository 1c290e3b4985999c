package vercel_test

import (
	"encoding/json"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer/vercel"
)

// BenchmarkStreams maps all recorded streams, from bytes of frames to bytes of events, beside encoding/json merely decoding the
// same frames into any.
func BenchmarkStreams(b *testing.B) {
	all := streams(b)
	frames, size := 0, 0
	for _, s := range all {
		frames += len(s.frames)
		for _, f := range s.frames {
			size += len(f)
		}
	}
	b.Run("vercel", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		var out []byte
		for b.Loop() {
			for _, s := range all {
				n := vercel.New(host)
				for _, f := range s.frames {
					for _, ev := range n.Push(f) {
						out = agjson.AppendEvent(out[:0], &ev)
					}
				}
				for _, ev := range n.Flush() {
					out = agjson.AppendEvent(out[:0], &ev)
				}
			}
		}
		b.ReportMetric(float64(frames)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, s := range all {
				for _, f := range s.frames {
					var v any
					if err := json.Unmarshal(f, &v); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		b.ReportMetric(float64(frames)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
	})
}
