package fanout_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/pkg/client"
)

// fold folds an event stream until an id, beginning with f.
func (s *sse) fold(t testing.TB, f *client.Fold, until string) (resets []string) {
	t.Helper()
	reset := ""
	for {
		m, more := s.next(t)
		if !more {
			t.Fatal("the event stream ended")
		}
		var b msg
		ok(t, json.Unmarshal([]byte(m.data), &b))
		switch m.event {
		case "reset":
			if m.id != "" {
				t.Fatalf("a reset has the id %s", m.id)
			}
			reset = b.Reason
			resets = append(resets, reset)
		case "events":
			if m.id == "" || b.Pair != (reset != "") {
				t.Fatalf("batch with id %q, pair %v after reset %q", m.id, b.Pair, reset)
			}
			ok(t, f.Apply(client.Batch{Events: b.Events, Cursor: m.id, Reset: reset}))
			reset = ""
			if m.id == until {
				return resets
			}
		default:
			t.Fatalf("event %q", m.event)
		}
	}
}

// An event stream is as good as a WebSocket: from any event on, and back with what the browser sends.
func TestEventStream(t *testing.T) {
	r := newRig(t, options{})
	for i, s := range corpus(t) {
		if i%5 != 0 || len(s.events) > 60 {
			continue
		}
		l := r.thread("sse/" + s.name)
		var list []*sse
		for n, ev := range s.events {
			l.append(t, ev)
			if n%3 == i%3 {
				list = append(list, r.sse(t, l.id, "now", ""))
			}
		}
		for _, e := range list {
			f := client.NewFold()
			if got := e.fold(t, f, l.cursor()); !slices.Equal(got, []string{"join"}) || text(f) != s.want {
				t.Fatalf("%s: resets %q, or the fold differs", s.name, got)
			}
			_ = e.resp.Body.Close()
		}
		for n := 0; n < len(s.events)-1; n += 5 {
			f := client.NewFold()
			ok(t, f.Apply(client.Batch{Events: raws(s.events[:n+1])}))
			at := bus.Cursor{Epoch: l.epoch, Ordinal: int64(n)}.String()
			e := r.sse(t, l.id, "start", at) // what the browser sends wins
			if got := e.fold(t, f, l.cursor()); len(got) > 0 || text(f) != s.want {
				t.Fatalf("%s: resumed after event %d: resets %q, or the fold differs", s.name, n, got)
			}
			_ = e.resp.Body.Close()
		}
	}
}

// An event stream that is silent has an id all the same, so that it can be resumed (B1 37).
func TestEventStreamIsPrimed(t *testing.T) {
	r := newRig(t, options{})
	l := r.thread("t")
	l.append(t, first(), note("x"))
	for _, from := range []string{"live", l.cursor()} {
		e := r.sse(t, "t", from, "")
		if m, _ := e.any(t); !m.comment {
			t.Fatalf("it begins with %+v", m)
		}
		e.batch(t, l.cursor())
	}
	e := r.sse(t, "t", "", "")
	f := client.NewFold()
	e.fold(t, f, l.cursor())
	_ = e.resp.Body.Close()
	l.append(t, note("missed"))
	e = r.sse(t, "t", "", f.Cursor())
	if got := e.fold(t, f, l.cursor()); len(got) > 0 || f.Seq() != 2 {
		t.Fatalf("resets %q, at %d", got, f.Seq())
	}
}
