package bus_test

import (
	"sync"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
)

// follower folds what a subscription tells, as a client of the log must.
type follower struct {
	mu     sync.Mutex
	got    []bus.EventMessage
	losses map[bus.Loss]int
}

func (f *follower) handler() bus.LiveHandler {
	f.losses = map[bus.Loss]int{}
	return bus.LiveHandler{
		Event: func(m bus.EventMessage) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.got = append(f.got, m)
		},
		Loss: func(l bus.Loss, _ string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.losses[l]++
		},
	}
}

func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.got)
}

func (f *follower) lost(l bus.Loss) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.losses[l]
}

func TestLiveLossIsSeen(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	proxy := natstest.NewProxy(t, srv)
	viewer := proxy.Bus(t, bus.Options{})
	ctx := ctxT(t)
	s := newSource(t, b, 1, 1)
	run(t, s.w)
	var f follower
	live := must(viewer.SubscribeLive(s.thread, f.handler()))(t)
	defer live.Close()
	ok(t, s.begin(ctx))
	for range 10 {
		ok(t, s.publish(ctx))
	}
	natstest.Eventually(t, "what is stored arrives", func() bool { return f.count() == 11 })
	if f.lost(bus.LossGap)+f.lost(bus.LossReconnect)+f.lost(bus.LossDropped) != 0 {
		t.Fatalf("losses: %v", f.losses)
	}
	proxy.Freeze()
	proxy.Cut()
	for range 10 {
		ok(t, s.publish(ctx))
	}
	ok(t, s.w.Flush(ctx))
	proxy.Thaw()
	natstest.Eventually(t, "the reconnect is told", func() bool { return f.lost(bus.LossReconnect) == 1 })
	// The last message was lost: only the head shows it.
	head := must(viewer.Head(ctx, s.thread))(t)
	if head.Last() != 20 || f.count() != 11 {
		t.Fatalf("head %d, %d live", head.Last(), f.count())
	}
	ok(t, s.publish(ctx))
	natstest.Eventually(t, "the next one arrives", func() bool { return f.count() == 12 })
	if f.lost(bus.LossGap) != 1 {
		t.Fatalf("losses: %v", f.losses)
	}
	last, next := f.got[10], f.got[11]
	n := 0
	for m, err := range viewer.ReadThreadTo(ctx, s.thread, last.StreamSeq+1, next.PrevSeq) {
		ok(t, err)
		if m.First != last.Last()+1+int64(n) {
			t.Fatalf("refill %d: ordinal %d", n, m.First)
		}
		n++
	}
	if n != 10 || next.First != 21 {
		t.Fatalf("%d refilled, then ordinal %d", n, next.First)
	}
}

func TestSlowLiveHandlerIsTold(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	s := newSource(t, b, 1, 1)
	run(t, s.w)
	release := make(chan struct{})
	dropped := make(chan struct{})
	var once, told sync.Once
	live := must(b.SubscribeLiveShard(1, bus.LiveHandler{
		Event: func(bus.EventMessage) { once.Do(func() { <-release }) },
		Loss: func(l bus.Loss, _ string) {
			if l == bus.LossDropped {
				told.Do(func() { close(dropped) })
			}
		},
	}))(t)
	defer live.Close()
	ok(t, s.begin(ctx))
	big := make([]byte, 512<<10)
	for n := int64(1); n < 150; n++ { // 75 MiB wait, 64 MiB may
		ok(t, s.w.Publish(ctx, bus.EventHeader{Thread: s.thread, Epoch: s.epoch, First: n, Count: 1, Frame: -1}, big, nil))
	}
	ok(t, s.w.Flush(ctx))
	select {
	case <-dropped:
	case <-time.After(natstest.Within):
		t.Fatal("the drop was not told")
	}
	close(release)
	if live.Dropped() == 0 {
		t.Fatal("nothing counted")
	}
}
