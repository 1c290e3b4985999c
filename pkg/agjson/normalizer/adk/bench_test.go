package adk_test

import (
	"encoding/json"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer/adk"
)

// BenchmarkConvert maps all recorded streams from bytes of frames to bytes of events; json-any merely decodes the same frames.
func BenchmarkConvert(b *testing.B) {
	all := streams(b)
	var size, frames int64
	for _, s := range all {
		for _, f := range s.frames {
			size += int64(len(f))
			frames++
		}
	}
	b.Run("adk", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		var out []byte
		for b.Loop() {
			for _, s := range all {
				n := adk.New(host)
				for _, f := range s.frames {
					out = appendEvents(out[:0], n.Push(f))
				}
				out = appendEvents(out[:0], n.Flush())
			}
		}
		b.ReportMetric(float64(frames)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
	})
	b.Run("json-any", func(b *testing.B) {
		b.SetBytes(size)
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

func appendEvents(out []byte, events []agjson.Event) []byte {
	for i := range events {
		out = append(agjson.AppendEvent(out, &events[i]), '\n')
	}
	return out
}
