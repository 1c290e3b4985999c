package threads

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/pkg/agjson"
)

// long is the log of a thread of many messages, the last of which is being written.
func long(messages int) []agjson.Event {
	events := []agjson.Event{first(), {TurnID: "t", Body: &agjson.TurnStart{ThreadID: "thread"}}}
	for i := range messages {
		id := fmt.Sprint("m", i)
		events = append(events,
			agjson.Event{ID: id, TurnID: "t", Body: &agjson.MessageStart{Role: agjson.RoleAssistant, ThreadID: "thread"}},
			agjson.Event{ID: id + ":t", TurnID: "t", MessageID: id, Body: &agjson.TextStart{}},
			agjson.Event{ID: id + ":t", TurnID: "t", Body: &agjson.TextDelta{Delta: strings.Repeat("some words ", 180)}})
		if i < messages-1 {
			events = append(events, agjson.Event{ID: id, TurnID: "t", Body: &agjson.MessageEnd{}})
		}
	}
	for i := range events {
		events[i].Seq = int64(i)
	}
	return events
}

// BenchmarkPair compares what a join costs: from stored bytes, with Redis's part, and folded from the log's events.
func BenchmarkPair(b *testing.B) {
	events := long(500)
	f := NewFold("t")
	take(b, f, events)
	u := f.Update()
	s := stored(u)
	pair, err := storedPair(&s)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("bytes", func(b *testing.B) {
		b.SetBytes(int64(len(pair.Events)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := storedPair(&s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("redis", func(b *testing.B) {
		store := open(b, redistest.New(b))
		if _, err := store.Apply(b.Context(), "t", u); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(pair.Events)))
		for b.Loop() {
			s, err := store.Load(b.Context(), "t")
			if err == nil {
				_, err = storedPair(&s)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	m := message(events)
	b.Run("fold", func(b *testing.B) {
		b.SetBytes(int64(len(pair.Events)))
		for b.Loop() {
			f := NewFold("t")
			if _, err := f.Take(m); err != nil {
				b.Fatal(err)
			}
			foldPair(f)
		}
	})
}

// BenchmarkUpdate is the cost of writing one more delta of a long thread, before Redis.
func BenchmarkUpdate(b *testing.B) {
	events := long(500)
	f := NewFold("t")
	take(b, f, events)
	f.Stored(f.Update().Position.Version)
	at := int64(len(events))
	b.ReportAllocs()
	for b.Loop() {
		take(b, f, []agjson.Event{{Seq: at, ID: "m499:t", TurnID: "t", Body: &agjson.TextDelta{Delta: "x"}}})
		f.Stored(f.Update().Position.Version)
		at++
	}
}
