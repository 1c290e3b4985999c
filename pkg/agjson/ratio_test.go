package agjson_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// A corpus is streams of events, each event as its bytes.
type corpus struct {
	name    string
	streams [][][]byte
	events  int
}

// fill repeats the streams until they are enough for a pass to pay for its own garbage.
func (c *corpus) fill() {
	streams, events := c.streams, c.events
	for c.events < 10000 {
		c.streams = append(c.streams, streams...)
		c.events += events
	}
}

// corpora are one turn of an agent with tools, what the facets make of the recorded frames, and the captures of the vectors
// where those are; of all, the streams that fold by themselves.
func corpora(b *testing.B) []corpus {
	b.Helper()
	out := []corpus{{name: "turn"}, {name: "golden"}}
	var turn []json.RawMessage
	events, _ := stream(b)
	for _, data := range events {
		turn = append(turn, data)
	}
	out[0].add(b, turn)
	golden, err := filepath.Glob("normalizer/*/testdata/*/*.events.ndjson")
	if err != nil || len(golden) == 0 {
		b.Fatalf("no golden streams: %v", err)
	}
	for _, path := range golden {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		out[1].add(b, agtest.SplitLines(data))
	}
	dir, ok := agtest.VectorsDir(b)
	if !ok {
		return out
	}
	captures, err := filepath.Glob(filepath.Join(dir, "corpus/*/*.agjson.json"))
	if err != nil || len(captures) == 0 {
		b.Fatalf("no captures: %v", err)
	}
	out = append(out, corpus{name: "captures"})
	for _, path := range captures {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		var events []json.RawMessage
		if err := json.Unmarshal(data, &events); err != nil {
			b.Fatal(err)
		}
		out[2].add(b, events)
	}
	return out
}

// add adds a stream, compact as it is on the wire.
func (c *corpus) add(b *testing.B, events []json.RawMessage) {
	var stream [][]byte
	r := reducer.New()
	for _, data := range events {
		ev, err := agjson.Decode(data)
		if err != nil {
			b.Fatal(err)
		}
		stream = append(stream, agjson.AppendEvent(nil, &ev))
		r.Push(ev)
	}
	if r.Parked() != "" {
		return // it goes on from another stream, as the run of a resume does
	}
	c.streams = append(c.streams, stream)
	c.events += len(stream)
}

// each calls f with every event.
func (c *corpus) each(f func(i int, data []byte)) {
	i := 0
	for _, stream := range c.streams {
		for _, data := range stream {
			f(i, data)
			i++
		}
	}
}

// BenchmarkRatio has decoding alone, and decoding and folding, against encoding/json, which only decodes into equal types. Once it has
// to read the type first, as anyone must; once it is told ("told"), which is encoding/json at its best.
func BenchmarkRatio(b *testing.B) {
	for _, c := range corpora(b) {
		if c.events == 0 {
			b.Fatalf("no stream of %s folds", c.name)
		}
		c.fill()
		size := 0
		c.each(func(_ int, data []byte) { size += len(data) })
		b.Logf("%s: %d streams, %d events of %d bytes", c.name, len(c.streams), c.events, size/c.events)
		types := make([]reflect.Type, c.events)
		c.each(func(i int, data []byte) {
			var ev plainEvent
			if err := json.Unmarshal(data, &ev); err != nil {
				b.Fatal(err)
			}
			types[i] = reflect.TypeOf(ev.V).Elem()
		})
		decode := agtest.Side{Name: "decode", Ops: c.events, Run: func() {
			c.each(func(_ int, data []byte) {
				if _, err := agjson.Decode(data); err != nil {
					b.Fatal(err)
				}
			})
		}}
		fold := agtest.Side{Name: "fold", Ops: c.events, Run: func() {
			for _, stream := range c.streams {
				r := reducer.New()
				for _, data := range stream {
					if err := r.PushLine(data); err != nil {
						b.Fatal(err)
					}
				}
			}
		}}
		plain := agtest.Side{Name: "json", Ops: c.events, Run: func() {
			c.each(func(_ int, data []byte) {
				var ev plainEvent
				if err := json.Unmarshal(data, &ev); err != nil {
					b.Fatal(err)
				}
			})
		}}
		told := agtest.Side{Name: "told-json", Ops: c.events, Run: func() {
			c.each(func(i int, data []byte) {
				if err := json.Unmarshal(data, reflect.New(types[i]).Interface()); err != nil {
					b.Fatal(err)
				}
			})
		}}
		b.Run("decode/"+c.name, func(b *testing.B) { agtest.Race(b, decode, plain) })
		b.Run("decode/"+c.name+"/told", func(b *testing.B) { agtest.Race(b, decode, told) })
		b.Run("fold/"+c.name, func(b *testing.B) { agtest.Race(b, fold, plain) })
		b.Run("fold/"+c.name+"/told", func(b *testing.B) { agtest.Race(b, fold, told) })
	}
}
