package bus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
)

// taken reads a shard's frames to their end and keeps what a normalizer would:
// the next index of each invoke, until its end.
func taken(t testing.TB, b *bus.Bus, shard int) map[string][]bus.Frame {
	t.Helper()
	ctx := ctxT(t)
	mark := must(b.AppendInput(ctx, threadOf(b, shard, 999), "mark", nil))(t)
	out := map[string][]bus.Frame{}
	r := b.ReadFrames(shard, 0)
	defer r.Close()
	ended := map[string]bool{}
	for {
		f := must(r.Next(ctx))(t)
		if f.Seq >= mark {
			return out
		}
		if f.Err != nil || f.Kind == bus.KindInput || ended[f.Invoke] || f.Index != int64(len(out[f.Invoke])) {
			continue
		}
		out[f.Invoke] = append(out[f.Invoke], f)
		ended[f.Invoke] = f.Kind == bus.KindEnd
	}
}

func checkTaken(t testing.TB, got []bus.Frame, n int) {
	t.Helper()
	if len(got) != n+1 || got[n].Kind != bus.KindEnd {
		t.Fatalf("%d frames taken, %d and an end were acknowledged", len(got), n)
	}
	for i, f := range got[:n] {
		if !bytes.Equal(f.Body, body(i)) {
			t.Fatalf("frame %d: %q", i, f.Body)
		}
	}
}

func TestFramesSurviveRestarts(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	thread := threadOf(b, 1, 1)
	var wg sync.WaitGroup
	const invokes, frames = 4, 6000
	var acks [invokes]*bus.FrameAppender
	for k := range invokes {
		acks[k], _, _ = b.OpenInvoke(ctx, thread, fmt.Sprint("inv", k), bus.InvokeStart{Source: "x"})
		defer acks[k].Close()
		wg.Go(func() {
			for i := range frames {
				if err := acks[k].Append(ctx, int64(i), body(i)); err != nil {
					t.Error(err)
					return
				}
			}
			if err := errors.Join(acks[k].End(ctx, bus.End{Reason: bus.EndDone}), acks[k].Flush(ctx)); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 3 {
		natstest.Eventually(t, "frames are stored", func() bool { return acks[0].Stored() > int64(i*frames/4) })
		srv.Restart(t)
	}
	wg.Wait()
	got := taken(t, b, 1)
	for k := range invokes {
		checkTaken(t, got[fmt.Sprint("inv", k)], frames)
	}
}

// TestRacingAppenders has two processes send the same invoke at once, as when
// a client retries a request that still runs, through connections that are cut.
func TestRacingAppenders(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	thread := threadOf(b, 2, 1)
	const frames = 5000
	var wg sync.WaitGroup
	for k := range 2 {
		proxy := natstest.NewProxy(t, srv)
		other := proxy.Bus(t, bus.Options{AckWait: 300 * time.Millisecond})
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(k)))
			a, _, err := other.OpenInvoke(ctx, thread, "inv", bus.InvokeStart{})
			if err != nil {
				t.Error(err)
				return
			}
			defer a.Close()
			for i := range frames {
				if rng.IntN(1500) == 0 {
					proxy.Cut()
				}
				if err := a.Append(ctx, int64(i), body(i)); err != nil {
					t.Error(err)
					return
				}
			}
			if err := errors.Join(a.End(ctx, bus.End{Reason: bus.EndDone}), a.Flush(ctx)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkTaken(t, taken(t, b, 2)["inv"], frames)
	st := must(b.InvokeState(ctx, thread, "inv"))(t)
	if !st.Ended || st.Next != frames+1 {
		t.Fatalf("%+v", st)
	}
}

// TestInvokeStateIsWhatANormalizerTook puts hostile frames on an invoke's
// subject, lost, doubled and reordered ones from several writers, each with
// a floor that was true when it was sent, though perhaps behind what others
// had stored by then, and compares.
func TestInvokeStateIsWhatANormalizerTook(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{Shards: 1})
	nc := must(nats.Connect(srv.URL()))(t)
	defer nc.Close()
	js := must(nc.JetStream())(t)
	ctx := ctxT(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		thread, invoke := "t", fmt.Sprint("inv", run)
		subj := b.Names().Frames(thread, invoke)
		var next int64
		ended := false
		var reached []int64 // the state after each message
		var seqs []uint64
		for range rapid.IntRange(0, 40).Draw(rt, "messages") {
			index := max(0, next+int64(rapid.IntRange(-3, 2).Draw(rt, "off")))
			end := rapid.IntRange(0, 15).Draw(rt, "end") == 0
			h := nats.Header{bus.HeaderIndex: {fmt.Sprint(index)}}
			if end {
				h[bus.HeaderKind], h[bus.HeaderEnd] = []string{"end"}, []string{"idle"}
			}
			if len(seqs) > 0 && !ended && rapid.Bool().Draw(rt, "floored") {
				i := rapid.IntRange(0, len(seqs)-1).Draw(rt, "known")
				j := rapid.IntRange(i, len(seqs)-1).Draw(rt, "by then")
				h[bus.HeaderFloor] = []string{fmt.Sprintf("%d:%d", reached[i], seqs[j])}
			}
			ack, err := js.PublishMsg(&nats.Msg{Subject: subj, Header: h})
			if err != nil {
				rt.Fatal(err)
			}
			if !ended && index == next {
				next++
				ended = end
			}
			reached, seqs = append(reached, next), append(seqs, ack.Sequence)
		}
		st, err := b.InvokeState(ctx, thread, invoke)
		if err != nil || st.Next != next || st.Ended != ended {
			rt.Fatalf("%+v, %v; a normalizer took %d, ended %v", st, err, next, ended)
		}
	})
}

// TestInvokeStateOfATrimmedInvoke: what aged out was stored all the same.
func TestInvokeStateOfATrimmedInvoke(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{Shards: 1})
	ctx := ctxT(t)
	a, _, err := b.OpenInvoke(ctx, "t", "i", bus.InvokeStart{})
	ok(t, err)
	defer a.Close()
	for i := range 100 {
		ok(t, a.Append(ctx, int64(i), body(i)))
		ok(t, a.Flush(ctx))
	}
	js := must(jetstream.New(must(nats.Connect(srv.URL()))(t)))(t)
	defer js.Conn().Close()
	ok(t, must(js.Stream(ctx, b.Names().FramesStream(0)))(t).Purge(ctx, jetstream.WithPurgeSequence(50)))
	if st := must(b.InvokeState(ctx, "t", "i"))(t); st.Next != 100 {
		t.Fatalf("%+v", st)
	}
}

// TestRefusedFrameIsSentAgainWithAllBehindIt has the broker refuse one frame
// of a pipeline whose later frames it stores: it has no room for one more
// batch.
func TestRefusedFrameIsSentAgainWithAllBehindIt(t *testing.T) {
	srv := natstest.New(t, natstest.MaxPayload(64<<10))
	b := srv.Bus(t, bus.Options{Shards: 1})
	ctx := ctxT(t)
	nc := must(nats.Connect(srv.URL()))(t)
	defer nc.Close()
	for i := range 50 { // all batches that one stream may have open
		must(nc.RequestMsg(&nats.Msg{Subject: "agw.i.0.x", Header: nats.Header{
			"Nats-Batch-Id": {fmt.Sprint(i)}, "Nats-Batch-Sequence": {"1"},
		}}, time.Second))(t)
	}
	a, _, err := b.OpenInvoke(ctx, "t", "i", bus.InvokeStart{})
	ok(t, err)
	defer a.Close()
	want := make([][]byte, 40)
	for i := range want {
		want[i] = body(i)
		if i == 10 || i == 20 {
			want[i] = bytes.Repeat([]byte{byte(i)}, 200_000)
		}
		ok(t, a.Append(ctx, int64(i), want[i]))
	}
	ok(t, a.End(ctx, bus.End{Reason: bus.EndDone}))
	if n := must(a.WaitStored(ctx, 10))(t); n != 10 {
		t.Fatalf("%d acknowledged", n)
	}
	natstest.Eventually(t, "a later frame is stored", func() bool {
		last := must(must(jetstream.New(nc))(t).Stream(ctx, b.Names().FramesStream(0)))(t).CachedInfo().State.LastSeq
		return last > 20
	})
	if st := must(b.InvokeState(ctx, "t", "i"))(t); st.Next != 10 || st.Ended {
		t.Fatalf("%+v", st)
	}
	for i := range 50 {
		must(nc.RequestMsg(&nats.Msg{Subject: "agw.i.0.x", Header: nats.Header{
			"Nats-Batch-Id": {fmt.Sprint(i)}, "Nats-Batch-Sequence": {"2"}, "Nats-Batch-Commit": {"1"},
		}}, time.Second))(t)
	}
	ok(t, a.Flush(ctx))
	got := taken(t, b, 0)["i"]
	if len(got) != 41 || got[40].Kind != bus.KindEnd {
		t.Fatalf("%d taken", len(got))
	}
	for i, f := range got[:40] {
		if !bytes.Equal(f.Body, want[i]) {
			t.Fatalf("frame %d of %d bytes", i, len(f.Body))
		}
	}
	if st := must(b.InvokeState(ctx, "t", "i"))(t); st.Next != 41 || !st.Ended {
		t.Fatalf("%+v", st)
	}
}

func TestAppendIsIdempotent(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	a, _, err := b.OpenInvoke(ctx, "t", "i", bus.InvokeStart{})
	ok(t, err)
	for i := range 10 {
		ok(t, a.Append(ctx, int64(i), body(i)))
	}
	if err := a.Append(ctx, 11, nil); !errors.Is(err, bus.ErrGap) {
		t.Fatal(err)
	}
	ok(t, a.Flush(ctx))
	a.Close()
	if err := a.Append(ctx, 10, nil); !errors.Is(err, bus.ErrClosed) {
		t.Fatal(err)
	}
	again, st, err := b.OpenInvoke(ctx, "t", "i", bus.InvokeStart{})
	ok(t, err)
	defer again.Close()
	if st.Next != 10 || st.Ended || again.Next() != 10 || again.Stored() != 10 {
		t.Fatalf("%+v", st)
	}
	for i := range 20 {
		ok(t, again.Append(ctx, int64(i), body(i)))
	}
	ok(t, again.End(ctx, bus.End{Reason: bus.EndTruncated}))
	if err := again.Append(ctx, 21, nil); !errors.Is(err, bus.ErrEnded) {
		t.Fatal(err)
	}
	if err := again.End(ctx, bus.End{Reason: bus.EndDone}); !errors.Is(err, bus.ErrEnded) {
		t.Fatal(err)
	}
	ok(t, again.Flush(ctx))
	checkTaken(t, taken(t, b, b.Shard("t"))["i"], 20)
}

func TestIdleEndIsVoidWhenMoreCame(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	a, _, err := b.OpenInvoke(ctx, "t", "i", bus.InvokeStart{})
	ok(t, err)
	defer a.Close()
	for i := range 5 {
		ok(t, a.Append(ctx, int64(i), body(i)))
	}
	ok(t, a.Flush(ctx))
	if ended := must(b.EndInvoke(ctx, "t", "i", 4, bus.End{Reason: bus.EndIdle}))(t); ended {
		t.Fatal("an end that names fewer frames than there are ended the invoke")
	}
	ok(t, a.Append(ctx, 5, body(5)))
	ok(t, a.Flush(ctx))
	if ended := must(b.EndInvoke(ctx, "t", "i", 6, bus.End{Reason: bus.EndIdle}))(t); !ended {
		t.Fatal("not ended")
	}
	if st := must(b.InvokeState(ctx, "t", "i"))(t); !st.Ended || st.End.Reason != bus.EndIdle || st.Next != 7 {
		t.Fatalf("%+v", st)
	}
	checkTaken(t, taken(t, b, b.Shard("t"))["i"], 6)
}

func TestOversizeFrames(t *testing.T) {
	srv := natstest.New(t, natstest.MaxPayload(64<<10))
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	a, _, err := b.OpenInvoke(ctx, "t", "i", bus.InvokeStart{Source: "mcp"})
	ok(t, err)
	defer a.Close()
	var want [][]byte
	for i := range 20 {
		data := body(i)
		if i%3 == 0 {
			data = bytes.Repeat([]byte{byte('a' + i)}, 1_500_000+i)
		}
		want = append(want, data)
		ok(t, a.Append(ctx, int64(i), data))
	}
	ok(t, a.Flush(ctx))
	if _, err := b.AppendInput(ctx, "t", "big", want[0]); err != nil {
		t.Fatal(err)
	}
	r := b.ReadFrames(b.Shard("t"), 0)
	defer r.Close()
	for i := range want {
		f := must(r.Next(ctx))(t)
		if f.Index != int64(i) || !bytes.Equal(f.Body, want[i]) || i == 0 && f.Start.Source != "mcp" {
			t.Fatalf("%d: index %d, %d bytes", i, f.Index, len(f.Body))
		}
	}
	if f := must(r.Next(ctx))(t); f.Input != "big" || !bytes.Equal(f.Body, want[0]) {
		t.Fatalf("input %q of %d bytes", f.Input, len(f.Body))
	}
	if st := must(b.InvokeState(ctx, "t", "i"))(t); st.Next != 20 {
		t.Fatalf("%+v", st)
	}
	if err := a.Append(ctx, 20, make([]byte, 100<<20)); !errors.Is(err, bus.ErrTooLarge) {
		t.Fatal(err)
	}
}

// TestIncompleteChunksAreDropped reads from within a set, as after its head
// aged out.
func TestIncompleteChunksAreDropped(t *testing.T) {
	srv := natstest.New(t, natstest.MaxPayload(64<<10))
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	if _, err := b.AppendInput(ctx, "t", "cut", make([]byte, 300_000)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AppendInput(ctx, "t", "whole", make([]byte, 300_000)); err != nil {
		t.Fatal(err)
	}
	r := b.ReadFrames(b.Shard("t"), 2)
	defer r.Close()
	if f := must(r.Next(ctx))(t); f.Input != "whole" || len(f.Body) != 300_000 || f.Seq != f.First+5 {
		t.Fatalf("%q, %d bytes, %d to %d", f.Input, len(f.Body), f.First, f.Seq)
	}
}

func TestFullStreamRefuses(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{FramesMaxBytes: 100_000})
	ctx := ctxT(t)
	a, _, err := b.OpenInvoke(ctx, "t", "i", bus.InvokeStart{})
	ok(t, err)
	defer a.Close()
	for i := range 50 {
		if err = a.Append(ctx, int64(i), make([]byte, 10_000)); err != nil {
			break
		}
		if err = a.Flush(ctx); err != nil {
			break
		}
	}
	if !errors.Is(err, bus.ErrFull) || bus.DispositionOf(err) != bus.Retry {
		t.Fatal(err)
	}
	if st := must(b.InvokeState(ctx, "t", "i"))(t); st.Next != a.Stored() || st.Next == 0 {
		t.Fatalf("%+v, %d acknowledged", st, a.Stored())
	}
	if _, err := b.AppendInput(ctx, "t", "x", make([]byte, 20_000)); !errors.Is(err, bus.ErrFull) {
		t.Fatal(err)
	}
}

func TestForeignFramesAreShown(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{Shards: 1})
	nc := must(nats.Connect(srv.URL()))(t)
	defer nc.Close()
	ctx := ctxT(t)
	for _, m := range []*nats.Msg{
		{Subject: "agw.f.0.t.i"},
		{Subject: "agw.f.0.t.i", Header: nats.Header{bus.HeaderIndex: {"-1"}}},
		{Subject: "agw.f.0.t.i", Header: nats.Header{bus.HeaderIndex: {"0"}, bus.HeaderKind: {"x"}}},
		{Subject: "agw.f.0.t.i", Header: nats.Header{bus.HeaderIndex: {"0"}, bus.HeaderKind: {"end"}, bus.HeaderEnd: {"because"}}},
		{Subject: "agw.f.0.t.i", Header: nats.Header{bus.HeaderIndex: {"0"}, bus.HeaderTurn: {"a b"}}},
		{Subject: "agw.f.0.t.i", Header: nats.Header{bus.HeaderIndex: {"0"}, bus.HeaderFloor: {"x"}}},
		{Subject: "agw.f.0.t"},
		{Subject: "agw.f.0.%zz.i", Header: nats.Header{bus.HeaderIndex: {"0"}}},
		{Subject: "agw.f.0.t.i", Header: nats.Header{bus.HeaderIndex: {"0"}}, Data: []byte("good")},
	} {
		if _, err := nc.RequestMsg(m, time.Second); err != nil {
			t.Fatal(err)
		}
	}
	r := b.ReadFrames(0, 0)
	defer r.Close()
	for i := range 8 {
		if f := must(r.Next(ctx))(t); !errors.Is(f.Err, bus.ErrPoison) || f.Seq != uint64(i+1) {
			t.Errorf("%d: %+v", i, f)
		}
	}
	if f := must(r.Next(ctx))(t); f.Err != nil || string(f.Body) != "good" {
		t.Errorf("%+v", f)
	}
	if st := must(b.InvokeState(ctx, "t", "i"))(t); st.Next != 1 {
		t.Errorf("%+v", st)
	}
	if _, _, err := b.OpenInvoke(ctx, strings.Repeat("x", 257), "i", bus.InvokeStart{}); bus.DispositionOf(err) != bus.Park {
		t.Error(err)
	}
}

func TestAppendHoldsUntilItsContextEnds(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	a, _, err := b.OpenInvoke(ctx, "t", "i", bus.InvokeStart{})
	ok(t, err)
	defer a.Close()
	srv.Stop()
	ok(t, a.Append(ctx, 0, body(0)))
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if err := a.Flush(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if _, err := b.AppendInput(short, "t", "x", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	srv.Start(t)
	ok(t, a.Flush(ctx))
}
