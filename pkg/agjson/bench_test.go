package agjson_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

// The same stream of one turn, decoded and encoded by this package and by encoding/json into equal types, in one run: compare
// ns/event. DecodeKnown is encoding/json at its best, told beforehand of which type each event is.
func BenchmarkDecode(b *testing.B) {
	events, size := stream(b)
	b.Run("agjson", func(b *testing.B) {
		perEvent(b, len(events), size, func() {
			for _, data := range events {
				if _, err := agjson.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("encoding-json", func(b *testing.B) {
		perEvent(b, len(events), size, func() {
			for _, data := range events {
				var ev plainEvent
				if err := json.Unmarshal(data, &ev); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

func BenchmarkDecodeKnown(b *testing.B) {
	events, size := stream(b)
	types := make([]reflect.Type, len(events))
	for i, data := range events {
		var ev plainEvent
		if err := json.Unmarshal(data, &ev); err != nil {
			b.Fatal(err)
		}
		types[i] = reflect.TypeOf(ev.V).Elem()
	}
	perEvent(b, len(events), size, func() {
		for i, data := range events {
			if err := json.Unmarshal(data, reflect.New(types[i]).Interface()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	events, size := stream(b)
	b.Run("agjson", func(b *testing.B) {
		var decoded []agjson.Event
		for _, data := range events {
			ev, err := agjson.Decode(data)
			if err != nil {
				b.Fatal(err)
			}
			decoded = append(decoded, ev)
		}
		var buf []byte
		perEvent(b, len(events), size, func() {
			for i := range decoded {
				buf = agjson.AppendEvent(buf[:0], &decoded[i])
			}
		})
	})
	b.Run("encoding-json", func(b *testing.B) {
		decoded := make([]plainEvent, len(events))
		for i, data := range events {
			if err := json.Unmarshal(data, &decoded[i]); err != nil {
				b.Fatal(err)
			}
		}
		perEvent(b, len(events), size, func() {
			for i := range decoded {
				if _, err := json.Marshal(decoded[i]); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

func BenchmarkCheck(b *testing.B) {
	events, size := stream(b)
	perEvent(b, len(events), size, func() {
		for _, data := range events {
			if err := agjson.Check("AgEvent", agjson.Producer, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// perEvent runs f, which handles n events of size bytes together.
func perEvent(b *testing.B, n, size int, f func()) {
	b.ReportAllocs()
	b.SetBytes(int64(size))
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
}

// stream is testdata/stream.ndjson: one turn of three steps, with reasoning, text, tools and their results.
func stream(tb testing.TB) (events [][]byte, size int) {
	for _, data := range lines(tb, "testdata/stream.ndjson") {
		events = append(events, data)
		size += len(data)
	}
	return events, size
}
