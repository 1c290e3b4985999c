package bus_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
)

// TestBrokerIsKilled writes and reads frames and events while the broker's
// process is killed by SIGKILL and started again.
func TestBrokerIsKilled(t *testing.T) {
	srv := natstest.NewProcess(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	s := newSource(t, b, 1, 1)
	stop := run(t, s.w)
	ok(t, s.begin(ctx))
	a, _, err := b.OpenInvoke(ctx, threadOf(b, 1, 2), "inv", bus.InvokeStart{})
	ok(t, err)
	defer a.Close()

	more, enough := context.WithCancel(ctx)
	defer enough()
	fed := make(chan error, 3)
	n := 0
	go func() {
		for more.Err() == nil {
			if err := s.publish(ctx); err != nil {
				fed <- err
				return
			}
		}
		fed <- s.w.Flush(ctx)
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
	go func() {
		r := b.ReadEvents(1, 0)
		defer r.Close()
		for next := int64(0); ; next++ {
			m, err := r.Next(more)
			if more.Err() != nil {
				fed <- nil
				return
			}
			if err == nil && m.First != next {
				err = errors.New("the reader lost, doubled or reordered a message")
			}
			if err != nil {
				fed <- err
				return
			}
		}
	}()
	for range 4 {
		e, f := len(s.acked()), a.Stored()
		natstest.Eventually(t, "events and frames are stored", func() bool { return len(s.acked()) > e+2000 && a.Stored() > f+2000 })
		srv.Kill(t)
		srv.Start(t)
	}
	e, f := len(s.acked()), a.Stored()
	natstest.Eventually(t, "events and frames are stored", func() bool { return len(s.acked()) > e+2000 && a.Stored() > f+2000 })
	enough()
	ok(t, errors.Join(<-fed, <-fed, <-fed))
	ok(t, stop())
	if int64(len(s.acked())) != s.sent || s.w.Reclaims() < 4 {
		t.Fatalf("%d of %d reported, %d claims", len(s.acked()), s.sent, s.w.Reclaims())
	}
	checkLog(t, b, 1, s)
	checkTaken(t, taken(t, b, 1)["inv"], n)
}
