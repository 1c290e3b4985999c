package fanout_test

import (
	"slices"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/services/fanout"
)

// What Redis says of an earlier place in the log is not said of the head, and nothing is said to be open that Redis does not keep.
func TestHeartbeatOfAnOldSnapshot(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { c.Heartbeat = 50 * time.Millisecond }})
	s := corpus(t)[0]
	open := slices.IndexFunc(s.events, func(ev agjson.Event) bool { return ev.Body.Type() == "turn.start" })
	old, void := r.thread("old"), r.thread("void")
	for _, l := range []*thread{old, void} {
		l.append(t, s.events[:open+1]...)
		l.reduce(t)
	}
	old.append(t, s.events[open+1:]...)
	k := r.raw(t, nil)
	k.subscribe(t, old.id, "live")
	k.subscribe(t, void.id, "live")
	deadline := time.Now().Add(natstest.Within)
	beats := func(what string, f func(msg) bool) {
		t.Helper()
		for n := 0; n < 5; {
			m := k.any(t)
			if m.Op == "heartbeat" && m.Heads[old.id].Cursor == old.cursor() && m.Heads[old.id].Open {
				t.Fatal("the turn is said to be open that has ended")
			}
			if m.Op == "heartbeat" && f(m) {
				n++
			}
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	beats("the turn is open", func(m msg) bool { return m.Heads[void.id].Open })
	at := must(r.store.Positions(t.Context(), []string{void.id}))(t)[void.id]
	if res := must(r.store.Void(t.Context(), void.id, at))(t); res.Outcome != snapshot.Applied {
		t.Fatal(res)
	}
	beats("nothing is known to be open", func(m msg) bool { return !m.Heads[void.id].Open })
}
