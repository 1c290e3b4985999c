package bus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
)

// TestReaderSurvivesRestarts reads while frames are written, the broker is
// restarted, connections are cut and frozen, and the consumer is deleted.
func TestReaderSurvivesRestarts(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	proxy := natstest.NewProxy(t, srv)
	other := proxy.Bus(t, bus.Options{})
	ctx := ctxT(t)
	const frames = 30_000
	done := make(chan error, 1)
	go func() {
		a, _, err := b.OpenInvoke(ctx, "t", "i", bus.InvokeStart{})
		if err != nil {
			done <- err
			return
		}
		defer a.Close()
		for i := range frames {
			if err := a.Append(ctx, int64(i), body(i)); err != nil {
				done <- err
				return
			}
		}
		done <- a.Flush(ctx)
	}()
	js := must(jetstream.New(must(nats.Connect(srv.URL(), nats.MaxReconnects(-1)))(t)))(t)
	defer js.Conn().Close()
	r := other.ReadFrames(b.Shard("t"), 0)
	defer r.Close()
	var next int64
	var seq uint64
	for next < frames {
		f := must(r.Next(ctx))(t)
		if f.Seq <= seq {
			t.Fatalf("sequence %d after %d", f.Seq, seq)
		}
		seq = f.Seq
		if f.Index > next {
			t.Fatalf("frame %d after %d", f.Index, next-1)
		}
		if f.Index < next {
			continue // sent again by the appender
		}
		next++
		switch next {
		case 5000:
			srv.Restart(t)
		case 9000:
			proxy.Cut()
		case 13_000:
			stream := must(js.Stream(ctx, b.Names().FramesStream(b.Shard("t"))))(t)
			for name := range stream.ConsumerNames(ctx).Name() {
				ok(t, stream.DeleteConsumer(ctx, name))
			}
		case 17_000:
			proxy.Freeze()
			time.AfterFunc(2500*time.Millisecond, proxy.Thaw) // beyond two heartbeats
		case 20_000:
			srv.Restart(t)
		}
	}
	ok(t, <-done)
	if r.Restarts() < 3 {
		t.Errorf("the reader started over %d times only", r.Restarts())
	}
}

func TestReaderGoesOnAfterItsContextEnded(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	r := b.ReadFrames(b.Shard("t"), 0)
	defer r.Close()
	for range 3 {
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		if _, err := r.Next(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
	}
	must(b.AppendInput(ctx, "t", "x", nil))(t)
	if f := must(r.Next(ctx))(t); f.Input != "x" || r.Restarts() != 0 {
		t.Fatalf("%+v", f)
	}
}

func TestReaderKnowsAReplacedStream(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	shard := b.Shard("t")
	for range 10 {
		must(b.AppendInput(ctx, "t", "x", nil))(t)
	}
	r := b.ReadFrames(shard, 0)
	defer r.Close()
	var f bus.Frame
	for range 10 {
		f = must(r.Next(ctx))(t)
	}
	inc := r.Incarnation()

	beyond := b.ReadFrames(shard, f.Seq+100)
	if _, err := beyond.Next(ctx); !errors.Is(err, bus.ErrReset) || bus.DispositionOf(err) != bus.Stop {
		t.Fatalf("read from beyond the end: %v", err)
	}
	js := must(jetstream.New(must(nats.Connect(srv.URL()))(t)))(t)
	defer js.Conn().Close()
	ok(t, js.DeleteStream(ctx, b.Names().FramesStream(shard)))
	ok(t, b.Setup(ctx))
	if _, err := r.Next(ctx); !errors.Is(err, bus.ErrReset) {
		t.Fatalf("read on in a replaced stream: %v", err)
	}
	kept := b.ReadFrames(shard, 0)
	kept.Expect(inc)
	if _, err := kept.Next(ctx); !errors.Is(err, bus.ErrReset) {
		t.Fatalf("read a replaced stream: %v", err)
	}
	events := b.ReadEvents(shard, 0)
	events.Expect(inc - 1)
	if _, err := events.Next(ctx); !errors.Is(err, bus.ErrReset) {
		t.Fatalf("read a replaced stream: %v", err)
	}
}

func TestSeekAndTrimmedLog(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	shard := 1
	w := must(b.Claim(ctx, shard, bus.WriterOptions{Owner: "test"}))(t)
	run(t, w)
	// Ten threads in turn, messages of 0 to 4 events, two epochs of the first.
	type msg struct{ seq, first, count int64 }
	var epochs [10]bus.Epoch
	var next [10]int64
	logs := map[bus.Epoch][]msg{}
	write := func(k int, count int64) {
		h := bus.EventHeader{Thread: threadOf(b, shard, k), Epoch: epochs[k], First: next[k], Count: count, Frame: -1}
		if next[k] == 0 {
			h.Epoch = bus.Epoch{}
		}
		ch := make(chan bus.Stored, 1)
		ok(t, w.Publish(ctx, h, nil, func(s bus.Stored) { ch <- s }))
		s := <-ch
		epochs[k] = s.Epoch
		logs[s.Epoch] = append(logs[s.Epoch], msg{int64(s.Seq), next[k], count})
		next[k] += count
	}
	for i := range 300 {
		count := int64(i % 5)
		if next[i%10] == 0 {
			count = 3
		}
		write(i%10, count)
		if i == 150 {
			next[0] = 0
		}
	}
	first := threadOf(b, shard, 0)
	old := must(b.First(ctx, first))(t).Epoch
	if old == epochs[0] || old.Compare(epochs[0]) >= 0 {
		t.Fatalf("epochs %v and %v", old, epochs[0])
	}
	if _, err := b.Seek(ctx, first, bus.Cursor{Epoch: old, Ordinal: 1}); !errors.Is(err, bus.ErrEpoch) {
		t.Fatalf("an old cursor: %v", err)
	}
	check := func(k int, from int) {
		t.Helper()
		thread, log := threadOf(b, shard, k), logs[epochs[k]]
		for n := range next[k] {
			seq, err := b.Seek(ctx, thread, bus.Cursor{Epoch: epochs[k], Ordinal: n})
			var want msg
			for _, m := range log {
				if m.first <= n && n < m.first+m.count {
					want = m
				}
			}
			if want.first < log[from].first {
				if !errors.Is(err, bus.ErrTrimmed) {
					t.Fatalf("thread %d: ordinal %d, trimmed: %d, %v", k, n, seq, err)
				}
				continue
			}
			if err != nil || int64(seq) != want.seq {
				t.Fatalf("thread %d: ordinal %d at %d, %v; it is at %d", k, n, seq, err, want.seq)
			}
		}
		end := must(b.Seek(ctx, thread, bus.Cursor{Epoch: epochs[k], Ordinal: next[k]}))(t)
		for m, err := range b.ReadThread(ctx, thread, end) {
			t.Fatalf("behind the head: %+v, %v", m, err)
		}
	}
	for k := range 10 {
		check(k, 0)
	}
	js := must(jetstream.New(must(nats.Connect(srv.URL()))(t)))(t)
	defer js.Conn().Close()
	stream := must(js.Stream(ctx, b.Names().EventsStream(shard)))(t)
	ok(t, stream.Purge(ctx, jetstream.WithPurgeSequence(uint64(logs[epochs[3]][10].seq))))
	check(3, 10)
	if _, err := b.Head(ctx, "nobody"); !errors.Is(err, bus.ErrNotFound) {
		t.Fatal(err)
	}
	for m, err := range b.ReadThread(ctx, "nobody", 0) {
		t.Fatalf("%+v, %v", m, err)
	}
	// Purged wholly: the claim goes by the stream's end, not by its last message.
	ok(t, stream.Purge(ctx))
	heir := must(b.Claim(ctx, shard, bus.WriterOptions{Owner: "heir"}))(t)
	heir.Close()
}

// TestReadThreadEndsWhenItsEndIsDeleted: the head goes while it is read up to.
func TestReadThreadEndsWhenItsEndIsDeleted(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	s := newSource(t, b, 1, 1)
	run(t, s.w)
	ok(t, s.begin(ctx))
	for range 20 {
		ok(t, s.publish(ctx))
	}
	ok(t, s.w.Flush(ctx))
	head := must(b.Head(ctx, s.thread))(t)
	js := must(jetstream.New(must(nats.Connect(srv.URL()))(t)))(t)
	defer js.Conn().Close()
	stream := must(js.Stream(ctx, b.Names().EventsStream(1)))(t)
	ok(t, stream.DeleteMsg(ctx, head.StreamSeq))
	n := 0
	for _, err := range b.ReadThreadTo(ctx, s.thread, 0, head.StreamSeq) {
		ok(t, err)
		n++
	}
	if n != 20 {
		t.Fatal(n)
	}
}

func TestThreadsAreListed(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{Shards: 1})
	ctx := ctxT(t)
	w := must(b.Claim(ctx, 0, bus.WriterOptions{Owner: "test"}))(t)
	run(t, w)
	want := map[string]bool{}
	for i := range 500 {
		thread := fmt.Sprintf("thread %d.*>", i)
		want[thread] = true
		ok(t, w.Publish(ctx, bus.EventHeader{Thread: thread, Count: 1, Frame: -1}, nil, nil))
	}
	ok(t, w.Flush(ctx))
	for tc, err := range b.Threads(ctx, 0) {
		ok(t, err)
		if !want[tc.Thread] || tc.Messages != 1 {
			t.Fatalf("%+v", tc)
		}
		delete(want, tc.Thread)
	}
	if len(want) != 0 {
		t.Fatalf("%d were not listed", len(want))
	}
}
