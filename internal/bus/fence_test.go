package bus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
)

// source feeds a writer: message n of a writer is event n of its own thread,
// so that the log shows which writer wrote what. It keeps what was reported.
type source struct {
	b      *bus.Bus
	w      *bus.FencedWriter
	thread string
	name   string
	epoch  bus.Epoch

	mu     sync.Mutex
	sent   int64
	stored []bus.Stored
}

func newSource(t testing.TB, b *bus.Bus, shard, n int) *source {
	t.Helper()
	name := fmt.Sprintf("w%d", n)
	return &source{b: b, thread: threadOf(b, shard, n), name: name, w: must(b.Claim(ctxT(t), shard, bus.WriterOptions{Owner: name}))(t)}
}

// begin writes the message of ordinal 0 and waits for it.
func (s *source) begin(ctx context.Context) error {
	first := make(chan bus.Stored, 1)
	if err := s.w.Publish(ctx, bus.EventHeader{Thread: s.thread, Count: 1, Frame: -1}, s.body(0), func(st bus.Stored) { first <- st }); err != nil {
		return err
	}
	select {
	case st := <-first:
		s.epoch = st.Epoch
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sent = 1
		s.stored = append(s.stored, st)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.w.Done():
		return s.w.Err()
	}
}

func (s *source) body(n int64) []byte { return fmt.Appendf(nil, "%s:%d", s.name, n) }

func (s *source) publish(ctx context.Context) error {
	s.mu.Lock()
	n := s.sent
	s.sent++
	s.mu.Unlock()
	h := bus.EventHeader{Thread: s.thread, Epoch: s.epoch, First: n, Count: 1, Invoke: "i", Frame: n, Next: n + 1}
	return s.w.Publish(ctx, h, s.body(n), func(st bus.Stored) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stored = append(s.stored, st)
	})
}

func (s *source) acked() []bus.Stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]bus.Stored(nil), s.stored...)
}

// checkLog reads a shard's events stream and demands what must hold whatever
// died: each writer's messages once, in order, from the first without a hole;
// every reported message where it was reported; and none of an earlier term
// behind one of a later term.
func checkLog(t testing.TB, b *bus.Bus, shard int, sources ...*source) {
	t.Helper()
	ctx := ctxT(t)
	byThread := map[string]*source{}
	for _, s := range sources {
		byThread[s.thread] = s
	}
	log := map[string][]bus.EventMessage{}
	checker := newSource(t, b, shard, 9999)
	stop := run(t, checker.w)
	ok(t, checker.begin(ctx))
	ok(t, stop())
	end := checker.acked()[0].Seq
	r := b.ReadEvents(shard, 0)
	defer r.Close()
	var term uint64
	for r.Position() < end {
		m := must(r.Next(ctx))(t)
		ok(t, m.Err)
		if m.Term < term {
			t.Fatalf("sequence %d of term %d stands behind term %d", m.StreamSeq, m.Term, term)
		}
		term = m.Term
		log[m.Thread] = append(log[m.Thread], m)
	}
	for _, s := range sources {
		got := log[s.thread]
		for n, m := range got {
			if m.First != int64(n) || !bytes.Equal(m.Body, s.body(int64(n))) {
				t.Fatalf("%s: message %d of the log holds ordinal %d", s.name, n, m.First)
			}
			if m.Epoch.Seq != got[0].FirstSeq {
				t.Fatalf("%s: epoch %v, ordinal 0 is at %d", s.name, m.Epoch, got[0].FirstSeq)
			}
		}
		for n, st := range s.acked() {
			if n >= len(got) || got[n].StreamSeq != st.Seq {
				t.Fatalf("%s: message %d was reported at %d and is not there; the log has %d", s.name, n, st.Seq, len(got))
			}
		}
		t.Logf("%s: %d sent, %d reported, %d in the log", s.name, s.sent, len(s.acked()), len(got))
	}
}

func TestZombieCannotWrite(t *testing.T) {
	srv := natstest.New(t)
	fresh := srv.Bus(t, bus.Options{})
	proxy := natstest.NewProxy(t, srv)
	for round := range 5 {
		shard := round % fresh.Shards()
		zombie := newSource(t, proxy.Bus(t, bus.Options{}), shard, 100+round)
		res := make(chan error, 1)
		ctx := ctxT(t)
		go func() { res <- zombie.w.Run(ctx) }()
		ok(t, zombie.begin(ctx))
		for range 100 {
			ok(t, zombie.publish(ctx))
		}
		proxy.Freeze()
		// The pipeline fills with what will arrive late.
		for zombie.w.InFlight() < 200 {
			ok(t, zombie.publish(ctx))
		}
		heir := newSource(t, fresh, shard, 200+round)
		stop := run(t, heir.w)
		ok(t, heir.begin(ctx))
		for range rand.IntN(300) {
			ok(t, heir.publish(ctx))
		}
		proxy.Thaw()
		for range 300 {
			ok(t, heir.publish(ctx))
		}
		if err := <-res; !errors.Is(err, bus.ErrFenced) || bus.DispositionOf(err) != bus.Stop {
			t.Fatalf("the zombie ended with %v", err)
		}
		if err := zombie.publish(ctx); !errors.Is(err, bus.ErrFenced) {
			t.Fatalf("the zombie still publishes: %v", err)
		}
		ok(t, heir.w.Flush(ctx))
		ok(t, stop())
		checkLog(t, fresh, shard, zombie, heir)
	}
}

func TestWriterSurvivesRestarts(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	s := newSource(t, b, 1, 1)
	stop := run(t, s.w)
	ok(t, s.begin(ctx))
	feed := make(chan error, 1)
	more, enough := context.WithCancel(ctx)
	go func() {
		for more.Err() == nil {
			if err := s.publish(ctx); err != nil {
				feed <- err
				return
			}
		}
		feed <- nil
	}()
	for range 3 {
		n := len(s.acked())
		natstest.Eventually(t, "the writer goes on", func() bool { return len(s.acked()) > n+1000 })
		srv.Restart(t)
	}
	n := len(s.acked())
	natstest.Eventually(t, "the writer goes on", func() bool { return len(s.acked()) > n+1000 })
	enough()
	ok(t, <-feed)
	ok(t, s.w.Flush(ctx))
	ok(t, stop())
	if int64(len(s.acked())) != s.sent {
		t.Fatalf("%d of %d reported", len(s.acked()), s.sent)
	}
	checkLog(t, b, 1, s)
}

func TestWriterSurvivesCutConnections(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	proxy := natstest.NewProxy(t, srv)
	ctx := ctxT(t)
	s := newSource(t, proxy.Bus(t, bus.Options{AckWait: 300 * time.Millisecond, Quiet: 50 * time.Millisecond}), 1, 1)
	run(t, s.w)
	ok(t, s.begin(ctx))
	for i := range 20_000 {
		ok(t, s.publish(ctx))
		switch i % 4000 {
		case 1000:
			proxy.Cut()
		case 3000:
			// Longer than AckWait: the writer claims again behind messages
			// that arrive before its claim does.
			proxy.Freeze()
			time.AfterFunc(500*time.Millisecond, proxy.Thaw)
		}
	}
	ok(t, s.w.Flush(ctx))
	if int64(len(s.acked())) != s.sent {
		t.Fatalf("%d of %d reported", len(s.acked()), s.sent)
	}
	checkLog(t, b, 1, s)
}

// TestWritersFight lets three writers take one shard from each other at random.
func TestWritersFight(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	var sources []*source
	var mu sync.Mutex
	var wg sync.WaitGroup
	ctx := ctxT(t)
	for k := range 3 {
		proxy := natstest.NewProxy(t, srv)
		fighter := proxy.Bus(t, bus.Options{Window: 16 << k})
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(k)))
			for round := range 8 {
				s := newSource(t, fighter, 3, 1000+100*k+round)
				mu.Lock()
				sources = append(sources, s)
				mu.Unlock()
				res := make(chan error, 1)
				rctx, cancel := context.WithCancel(ctx)
				go func() { res <- s.w.Run(rctx) }()
				err := s.begin(ctx)
				for range rng.IntN(3000) {
					if err != nil {
						break
					}
					if rng.IntN(2000) == 0 {
						proxy.Freeze()
						time.AfterFunc(time.Duration(rng.IntN(200))*time.Millisecond, proxy.Thaw)
					}
					err = s.publish(ctx)
				}
				if err == nil {
					err = s.w.Flush(ctx)
				}
				cancel()
				if rerr := <-res; rerr != nil && !errors.Is(rerr, bus.ErrFenced) {
					t.Errorf("run: %v", rerr)
				}
				if err != nil && !errors.Is(err, bus.ErrFenced) {
					t.Errorf("publish: %v", err)
				}
			}
		})
	}
	wg.Wait()
	checkLog(t, b, 3, sources...)
}

func TestOversizeEventsKeepTheirPlace(t *testing.T) {
	srv := natstest.New(t, natstest.MaxPayload(64<<10))
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	shard := 0
	thread := threadOf(b, shard, 1)
	w := must(b.Claim(ctx, shard, bus.WriterOptions{Owner: "test"}))(t)
	run(t, w)
	liveCh := make(chan bus.EventMessage, 1000)
	live := must(b.SubscribeLive(thread, bus.LiveHandler{
		Event: func(m bus.EventMessage) { liveCh <- m },
		Loss:  func(l bus.Loss, _ string) { t.Errorf("loss: %v", l) },
	}))(t)
	defer live.Close()
	var want [][]byte
	var epoch bus.Epoch
	for i := range 60 {
		size := 10
		if i%7 == 0 {
			size = 1_500_000 // an ordinary tool result
		}
		data := bytes.Repeat([]byte{byte('a' + i%26)}, size)
		want = append(want, data)
		h := bus.EventHeader{Thread: thread, Epoch: epoch, First: int64(i), Count: 1, Frame: -1}
		first := make(chan bus.Stored, 1)
		ok(t, w.Publish(ctx, h, data, func(s bus.Stored) { first <- s }))
		if i == 0 {
			epoch = (<-first).Epoch
		}
	}
	ok(t, w.Checkpoint(ctx, bytes.Repeat([]byte("c"), 300_000), nil))
	ok(t, w.Flush(ctx))
	i := 0
	for m, err := range b.ReadThread(ctx, thread, 0) {
		ok(t, err)
		if m.First != int64(i) || !bytes.Equal(m.Body, want[i]) || m.Epoch != epoch {
			t.Fatalf("%d: ordinal %d, %d bytes", i, m.First, len(m.Body))
		}
		if l := <-liveCh; l.First != m.First || l.StreamSeq != m.StreamSeq || l.FirstSeq != m.FirstSeq || !bytes.Equal(l.Body, m.Body) {
			t.Fatalf("live %d: ordinal %d, %d bytes", i, l.First, len(l.Body))
		}
		if seq := must(b.Seek(ctx, thread, bus.Cursor{Epoch: epoch, Ordinal: int64(i)}))(t); seq != m.FirstSeq {
			t.Fatalf("seek %d: %d, not %d", i, seq, m.FirstSeq)
		}
		i++
	}
	if i != len(want) {
		t.Fatal(i)
	}
	heir := must(b.Claim(ctx, shard, bus.WriterOptions{Owner: "heir"}))(t)
	defer heir.Close()
	if cp, _ := heir.LastCheckpoint(); len(cp) != 300_000 {
		t.Fatalf("checkpoint of %d bytes", len(cp))
	}
	if err := heir.Publish(ctx, bus.EventHeader{Thread: thread, Epoch: epoch, First: 60, Count: 1}, make([]byte, 65<<20), nil); !errors.Is(err, bus.ErrTooLarge) {
		t.Fatal(err)
	}
}

func TestCheckpointAndHeadersTellWhereToGoOn(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	s := newSource(t, b, 2, 1)
	stop := run(t, s.w)
	ok(t, s.begin(ctx))
	for range 10 {
		ok(t, s.publish(ctx))
	}
	ok(t, s.w.Checkpoint(ctx, []byte("eleven"), nil))
	for range 5 {
		ok(t, s.publish(ctx))
	}
	ok(t, s.w.Flush(ctx))
	ok(t, stop())
	// Two claims in a row: the checkpoint and its reach outlive both.
	for k := range 2 {
		heir := must(b.Claim(ctx, 2, bus.WriterOptions{Owner: "heir"}))(t)
		heir.Close()
		cp, _ := heir.LastCheckpoint()
		if string(cp) != "eleven" || heir.Term() != uint64(2+k) {
			t.Fatalf("%q in term %d", cp, heir.Term())
		}
		r := heir.Headers()
		for n := int64(11); n < 16; n++ {
			m := must(r.Next(ctx))(t)
			if m.First != n || m.Frame != n || m.Next != n+1 || m.Invoke != "i" || len(m.Body) != 0 {
				t.Fatalf("%+v", m)
			}
		}
		if _, err := r.Next(ctx); !errors.Is(err, bus.ErrEndOfLog) {
			t.Fatal(err)
		}
		r.Close()
	}
}

func TestPublishRefusesWhatCannotBeRead(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	ctx := ctxT(t)
	w := must(b.Claim(ctx, 0, bus.WriterOptions{Owner: "test"}))(t)
	defer w.Close()
	thread, e := threadOf(b, 0, 1), bus.Epoch{Incarnation: 1, Seq: 1}
	for name, h := range map[string]bus.EventHeader{
		"no thread":          {First: 0, Count: 1},
		"foreign shard":      {Thread: threadOf(b, 1, 1), Count: 1},
		"epoch at the start": {Thread: thread, Epoch: e, Count: 1},
		"no epoch later":     {Thread: thread, First: 1, Count: 1},
		"no epoch, empty":    {Thread: thread, First: 0, Count: 0},
		"negative":           {Thread: thread, Epoch: e, First: -1, Count: 1},
		"bad invoke":         {Thread: thread, Epoch: e, First: 1, Count: 1, Invoke: "\xff"},
	} {
		if err := w.Publish(ctx, h, nil, nil); bus.DispositionOf(err) != bus.Park {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []bus.WriterOptions{{}, {Owner: "x", Window: 999}, {Owner: "x", Window: -1}} {
		if _, err := b.Claim(ctx, 0, o); !errors.Is(err, bus.ErrFatal) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := b.Claim(ctx, 99, bus.WriterOptions{Owner: "x"}); !errors.Is(err, bus.ErrFatal) {
		t.Error(err)
	}
}

func TestWriteShard(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{})
	thread := threadOf(b, 1, 1)
	o := bus.WriterOptions{Owner: "test"}
	own := errors.New("own")
	for name, c := range map[string]struct {
		work func(ctx context.Context, cancel func(), w *bus.FencedWriter) error
		want error
	}{
		"its context ends": {func(ctx context.Context, cancel func(), w *bus.FencedWriter) error {
			cancel()
			<-ctx.Done()
			return fmt.Errorf("read: %w", ctx.Err())
		}, nil},
		"done":      {func(context.Context, func(), *bus.FencedWriter) error { return nil }, nil},
		"own error": {func(context.Context, func(), *bus.FencedWriter) error { return own }, own},
		"fenced": {func(ctx context.Context, _ func(), w *bus.FencedWriter) error {
			must(b.Claim(ctx, 1, bus.WriterOptions{Owner: "other"}))(t).Close()
			ok(t, w.Publish(ctx, bus.EventHeader{Thread: thread, Count: 1, Frame: -1}, nil, nil))
			<-ctx.Done()
			return ctx.Err()
		}, bus.ErrFenced},
	} {
		ctx, cancel := context.WithCancel(ctxT(t))
		stored := 0
		err := b.WriteShard(ctx, 1, o, time.Second, func(ctx context.Context, w *bus.FencedWriter) error {
			ok(t, w.Checkpoint(ctx, []byte("x"), func(bus.Stored) { stored++ }))
			return c.work(ctx, cancel, w)
		})
		cancel()
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if stored != 1 {
			t.Errorf("%s: what was queued was not drained", name)
		}
	}
}
