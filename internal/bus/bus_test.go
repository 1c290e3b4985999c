package bus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

func ctxT(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func body(i int) []byte { return fmt.Appendf(nil, `{"i":%d}`, i) }

// run runs a writer in the background until the test ends, and returns what
// Run returned.
func run(t testing.TB, w *bus.FencedWriter) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	res := make(chan error, 1)
	go func() { res <- w.Run(ctx) }()
	var err error
	done := false
	stop = func() error {
		if !done {
			cancel()
			err, done = <-res, true
		}
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return stop
}

// threadOf is a thread of shard.
func threadOf(b *bus.Bus, shard int, n int) string {
	for i := 0; ; i++ {
		if t := fmt.Sprintf("t%d.%d", n, i); b.Shard(t) == shard {
			return t
		}
	}
}

func TestFrameGoesThrough(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	a, st, err := b.OpenInvoke(ctx, "thread 1", "inv.1", bus.InvokeStart{Source: "claude", Turn: "turn\n1", Trace: "00-ab-cd-01", Mapper: "x"})
	ok(t, err)
	defer a.Close()
	if st != (bus.InvokeState{}) {
		t.Fatalf("new invoke: %+v", st)
	}
	for i := range 100 {
		ok(t, a.Append(ctx, int64(i), body(i)))
	}
	ok(t, a.End(ctx, bus.End{Reason: bus.EndDone, Exit: 3}))
	ok(t, a.Flush(ctx))
	if _, err := b.AppendInput(ctx, "thread 1", "in 1", []byte("input")); err != nil {
		t.Fatal(err)
	}
	r := b.ReadFrames(b.Shard("thread 1"), 0)
	defer r.Close()
	for i := range 102 {
		f := must(r.Next(ctx))(t)
		if f.Err != nil || f.Thread != "thread 1" {
			t.Fatalf("%+v", f)
		}
		switch {
		case i < 100:
			if f.Kind != bus.KindFrame || f.Index != int64(i) || f.Invoke != "inv.1" || !bytes.Equal(f.Body, body(i)) {
				t.Fatalf("%+v", f)
			}
			if i == 0 && f.Start != (bus.InvokeStart{Source: "claude", Turn: "turn\n1", Trace: "00-ab-cd-01", Mapper: "x"}) {
				t.Fatalf("%+v", f.Start)
			}
		case i == 100:
			if f.Kind != bus.KindEnd || f.Index != 100 || f.End != (bus.End{Reason: bus.EndDone, Exit: 3}) {
				t.Fatalf("%+v", f)
			}
		default:
			if f.Kind != bus.KindInput || f.Input != "in 1" || string(f.Body) != "input" || f.Index != -1 {
				t.Fatalf("%+v", f)
			}
		}
	}
	if r.Lag() != 0 {
		t.Fatalf("lag %d", r.Lag())
	}
	st = must(b.InvokeState(ctx, "thread 1", "inv.1"))(t)
	if st.Next != 101 || !st.Ended || st.End.Exit != 3 {
		t.Fatalf("%+v", st)
	}
	if _, _, err := b.OpenInvoke(ctx, "thread 1", "inv.1", bus.InvokeStart{}); !errors.Is(err, bus.ErrEnded) {
		t.Fatal(err)
	}
}

func TestEventGoesThrough(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	shard := 2
	thread := threadOf(b, shard, 1)
	w := must(b.Claim(ctx, shard, bus.WriterOptions{Owner: "test"}))(t)
	run(t, w)
	if cp, covers := w.LastCheckpoint(); cp != nil || covers != 0 {
		t.Fatal(cp, covers)
	}

	liveCh := make(chan bus.EventMessage, 100)
	live := must(b.SubscribeLive(thread, bus.LiveHandler{Event: func(m bus.EventMessage) { liveCh <- m }}))(t)
	defer live.Close()

	var epoch bus.Epoch
	first := make(chan bus.Stored, 1)
	ok(t, w.Publish(ctx, bus.EventHeader{Thread: thread, First: 0, Count: 1, Frame: -1}, body(0), func(s bus.Stored) { first <- s }))
	epoch = (<-first).Epoch
	for i := 1; i < 50; i++ {
		ok(t, w.Publish(ctx, bus.EventHeader{Thread: thread, Epoch: epoch, First: int64(i), Count: 1, Invoke: "i", Frame: int64(i), Next: int64(i), FrameSeq: uint64(i)}, body(i), nil))
	}
	ok(t, w.Checkpoint(ctx, []byte("state"), nil))
	ok(t, w.Flush(ctx))

	for i := range 50 {
		m := <-liveCh
		if m.Err != nil || m.First != int64(i) || m.Epoch != epoch || !bytes.Equal(m.Body, body(i)) {
			t.Fatalf("live %d: %+v", i, m)
		}
	}
	head := must(b.Head(ctx, thread))(t)
	if head.First != 49 || head.Cursor() != (bus.Cursor{Epoch: epoch, Ordinal: 49}) {
		t.Fatalf("%+v", head)
	}
	n := 0
	for m, err := range b.ReadThread(ctx, thread, epoch.Seq) {
		ok(t, err)
		if n == 0 && (epoch != bus.Epoch{Incarnation: w.Incarnation(), Seq: m.FirstSeq}) {
			t.Fatalf("epoch %v, ordinal 0 is at %d", epoch, m.FirstSeq)
		}
		if m.First != int64(n) || !bytes.Equal(m.Body, body(n)) || m.Term != 1 {
			t.Fatalf("%d: %+v", n, m)
		}
		n++
	}
	if n != 50 {
		t.Fatal(n)
	}
	for i := range 50 {
		seq := must(b.Seek(ctx, thread, bus.Cursor{Epoch: epoch, Ordinal: int64(i)}))(t)
		for m, err := range b.ReadThread(ctx, thread, seq) {
			ok(t, err)
			if m.First != int64(i) {
				t.Fatalf("seek %d gave %d", i, m.First)
			}
			break
		}
	}
	w2 := must(b.Claim(ctx, shard, bus.WriterOptions{Owner: "test2"}))(t)
	defer w2.Close()
	if cp, _ := w2.LastCheckpoint(); string(cp) != "state" || w2.Term() != 2 {
		t.Fatal(string(cp), w2.Term())
	}
	h := w2.Headers()
	defer h.Close()
	if m, err := h.Next(ctx); !errors.Is(err, bus.ErrEndOfLog) {
		t.Fatalf("%+v %v", m, err)
	}
	for tc, err := range b.Threads(ctx, shard) {
		ok(t, err)
		if tc.Thread != thread || tc.Messages != 50 {
			t.Fatalf("%+v", tc)
		}
	}
}
