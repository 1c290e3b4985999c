package bus_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
)

// TestClusterFaults writes frames and events to three replicas while their
// leaders step down and die, and reads everything afterwards.
func TestClusterFaults(t *testing.T) {
	c := natstest.NewCluster(t)
	b := c.Bus(t, bus.Options{Shards: 1})
	ctx := ctxT(t)
	events := b.Names().EventsStream(0)
	frames := b.Names().FramesStream(0)

	s := newSource(t, b, 0, 1)
	stop := run(t, s.w)
	ok(t, s.begin(ctx))
	a, _, err := b.OpenInvoke(ctx, threadOf(b, 0, 2), "inv", bus.InvokeStart{})
	ok(t, err)
	defer a.Close()

	more, enough := context.WithCancel(ctx)
	fed := make(chan error, 2)
	n := 0
	go func() {
		for more.Err() == nil {
			if err := s.publish(ctx); err != nil {
				fed <- err
				return
			}
		}
		fed <- nil
	}()
	go func() {
		for more.Err() == nil {
			if err := a.Append(ctx, int64(n), body(n)); err != nil {
				fed <- err
				return
			}
			n++
		}
		fed <- errors.Join(a.End(ctx, bus.End{Reason: bus.EndDone}), a.Flush(ctx))
	}()
	progress := func() {
		t.Helper()
		e, f := len(s.acked()), a.Stored()
		natstest.Eventually(t, "events and frames are stored", func() bool { return len(s.acked()) > e+200 && a.Stored() > f+200 })
	}
	progress()
	c.StepDown(t, events)
	progress()
	c.StepDown(t, frames)
	progress()
	leader := c.Leader(events)
	c.Stop(leader)
	progress()
	c.Start(t, leader)
	c.WaitReady(t)
	progress()
	enough()
	ok(t, errors.Join(<-fed, <-fed))
	ok(t, s.w.Flush(ctx))
	ok(t, stop())
	if int64(len(s.acked())) != s.sent {
		t.Fatalf("%d of %d reported", len(s.acked()), s.sent)
	}
	checkLog(t, b, 0, s)
	checkTaken(t, taken(t, b, 0)["inv"], n)

	// What was acknowledged is read, whichever replica answers.
	next := int64(0)
	for m, err := range b.ReadThread(ctx, s.thread, 0) {
		ok(t, err)
		if m.First != next {
			t.Fatalf("ordinal %d, not %d", m.First, next)
		}
		next++
	}
	if next != s.sent {
		t.Fatalf("%d of %d read", next, s.sent)
	}
}
