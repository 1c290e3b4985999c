package reduce

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
	"github.com/agwire/agwire/pkg/agjson"
)

func memoryOf(text string) agjson.Body {
	return &agjson.MemoryWrite{Scope: agjson.MemoryScopeThread, Value: []byte(`"` + text + `"`)}
}

// A fold that parks is folded again once; then its snapshot stays at the last event before, and the shard goes on.
func TestParkedFold(t *testing.T) {
	for _, kept := range []int{100, 1} {
		t.Run(fmt.Sprint(kept, " in memory"), func(t *testing.T) {
			w := newWorld(t, redistest.New(t))
			cfg := testConfig("a")
			cfg.Threads = kept
			x := w.start(cfg, w.store)
			s := simple(t)
			id, other := w.threadOf(0, "t"), w.threadOf(0, "u")
			w.push(id, s[:23]...)
			bad := agjson.Event{ID: "nowhere", TurnID: "t1", Body: &agjson.TextDelta{Delta: "x"}}
			w.await(w.push(id, s[23], bad, s[24]))
			natstest.Eventually(t, "the thread is parked", func() bool { return x.metric("parked_threads", "") == 1 })
			w.push(id, s[25])
			for i := range 5 {
				w.push(fmt.Sprint(other, i), s[:9]...)
				w.push(id, s[26+i])
			}
			w.await(w.push(other, s[:30]...))
			w.threadUpToDate("another thread", other)
			natstest.Eventually(t, "it is stored as of the event before", func() bool {
				snap, err := w.store.Load(t.Context(), id)
				return err == nil && snap.Position.Ordinal == 23
			})
			snap, err := w.store.Load(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			w.checkFold("parked", id, snap, s[:24])
			// An audit may have been first to fold it, from the log.
			again := x.metric("loads_total", sourceLog) > 0 || contains(x.errorsLogged(), "a fold is parked, folding the thread again")
			if got := x.errorsLogged(); !again || !contains(got, "its snapshot stays behind") {
				t.Errorf("errors: %q", got)
			}
			natstest.Eventually(t, "progress goes on", func() bool {
				mark, err := w.store.Progress(t.Context(), 0)
				return err == nil && mark.Sequence >= w.newest(0)
			})
			w.anew(id)
			w.await(w.push(id, s[:25]...))
			w.threadUpToDate("a new epoch", id)
			natstest.Eventually(t, "none is parked", func() bool { return x.metric("parked_threads", "") == 0 })
		})
	}
}

// A message that is none, or does not follow, gives its thread up until its next epoch, and no other.
func TestPoison(t *testing.T) {
	for name, spoil := range map[string]func(w *world, id string){
		"no JSON":         func(w *world, id string) { w.await(w.raw(id, 20, 1, []byte("{\n"))) },
		"no event":        func(w *world, id string) { w.await(w.raw(id, 20, 1, []byte(`{"type":"text.delta","seq":20}`+"\n"))) },
		"fewer than said": func(w *world, id string) { w.await(w.raw(id, 20, 2, []byte(`{"type":"x","seq":20}`+"\n"))) },
		"a hole":          func(w *world, id string) { w.await(w.raw(id, 25, 1, []byte(`{"type":"x","seq":25}`+"\n"))) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, redistest.New(t))
			x := w.start(testConfig("a"), w.store)
			s := simple(t)
			id, other := w.threadOf(0, "t"), w.threadOf(0, "u")
			w.push(other, s[:20]...)
			w.await(w.push(id, s[:20]...))
			w.upToDate("before")
			spoil(w, id)
			w.push(id, s[20])
			w.await(w.push(other, s[20:]...))
			w.threadUpToDate("another thread", other)
			natstest.Eventually(t, "the thread is given up", func() bool { return x.metric("broken_threads", "") == 1 })
			natstest.Eventually(t, "progress goes on", func() bool {
				mark, err := w.store.Progress(t.Context(), 0)
				return err == nil && mark.Sequence >= w.newest(0)
			})
			snap, err := w.store.Load(t.Context(), id)
			if err != nil || snap.Position.Ordinal != 19 {
				t.Fatalf("what was stored: %+v, %v", snap.Position, err)
			}
			if got := x.errorsLogged(); !contains(got, "given up") {
				t.Errorf("errors: %q", got)
			}
			w.anew(id)
			w.await(w.push(id, s[:25]...))
			w.upToDate("a new epoch")
			natstest.Eventually(t, "none is given up", func() bool { return x.metric("broken_threads", "") == 0 })
			for _, e := range x.logs.All() {
				for _, f := range e.Context {
					if strings.Contains(f.String, "text.delta") {
						t.Errorf("content is logged: %s", f.String)
					}
				}
			}
		})
	}
}

// A thread beyond what Redis may hold is given up, and what was stored of it, which stands still now, is taken away: readers
// find the log (DESIGN §4).
func TestTooLarge(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	small, err := snapshot.New(snapshot.Options{URL: w.redis.URL, Prefix: w.redis.Prefix, MaxValue: 4 << 10, MaxSnapshot: 8 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = small.Close() })
	x := w.start(testConfig("a"), small)
	s := simple(t)
	w.await(w.push("t", s[:9]...))
	w.upToDate("before")
	w.await(w.push("t", agjson.Event{Body: memoryOf(strings.Repeat("x", 5000))}))
	natstest.Eventually(t, "the thread is given up", func() bool { return x.metric("faults_total", faultTooLarge) == 1 })
	natstest.Eventually(t, "what was stored is void", func() bool {
		_, err := w.store.Load(t.Context(), "t")
		return errors.Is(err, snapshot.ErrVoid)
	})
	natstest.Eventually(t, "nothing is unwritten", func() bool { return x.metric("unwritten_bytes", "") == 0 })
	page, err := w.store.List(t.Context(), "", 10, "")
	if err != nil || len(page.Entries) != 1 || page.Entries[0].Stored || page.Entries[0].Position.OpenTurn {
		t.Fatalf("listed: %+v, %v", page.Entries, err)
	}
	w.await(w.push("t", s[9]))
	natstest.Eventually(t, "progress goes on", func() bool {
		mark, err := w.store.Progress(t.Context(), w.bus.Shard("t"))
		return err == nil && mark.Sequence >= w.newest(w.bus.Shard("t"))
	})
	if _, err := w.store.Load(t.Context(), "t"); !errors.Is(err, snapshot.ErrVoid) {
		t.Fatalf("it is written again: %v", err)
	}
	// A worker with a larger limit keeps it again, and a new epoch is kept anyway.
	ok(t, x.stop())
	y := w.start(testConfig("b"), w.store)
	w.threadUpToDate("a larger limit", "t")
	ok(t, y.stop())
	w.start(testConfig("c"), small)
	w.await(w.push("t", agjson.Event{Body: memoryOf(strings.Repeat("y", 5000))}))
	natstest.Eventually(t, "it is void again", func() bool {
		_, err := w.store.Load(t.Context(), "t")
		return errors.Is(err, snapshot.ErrVoid)
	})
	w.anew("t")
	w.await(w.push("t", s[:5]...))
	w.threadUpToDate("a new epoch", "t")
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// unit is a piece of work on a shard that is driven by hand.
func (w *world) unit(reg *prometheus.Registry) *shardWork {
	w.t.Helper()
	s, err := New(testConfig("unit"), Deps{Bus: w.bus, Store: w.store, Log: zap.NewNop(), Metrics: reg})
	if err != nil {
		w.t.Fatal(err)
	}
	return &shardWork{s: s, log: zap.NewNop(), threads: map[string]*thread{}, lru: list.New()}
}

// A panic around one message is the end of its thread's fold, not of the shard.
func TestPanicIsOneThreads(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	reg := prometheus.NewRegistry()
	o := w.unit(reg)
	th := o.thread("t")
	th.phase = live // and has no fold: whoever takes a message panics
	o.owe(th, unwritten{first: 7, bytes: 9, since: time.Now()})
	o.take(th, &bus.EventMessage{EventHeader: bus.EventHeader{Thread: "t", Epoch: bus.Epoch{Incarnation: 1, Seq: 1}, First: 0, Count: 1}, StreamSeq: 7})
	if th.phase != broken || th.oldest() != 0 || o.pending != 0 {
		t.Fatalf("phase %d, oldest %d, %d bytes", th.phase, th.oldest(), o.pending)
	}
	th = o.thread("u")
	o.setFold(th, live, threads.NewFold("u"))
	th.fold, th.stage = nil, idle
	if job := o.writeJob(t.Context(), th); job != nil || th.phase != broken {
		t.Fatalf("phase %d", th.phase)
	}
	x := &worker{t: t, metrics: reg}
	if x.metric("faults_total", faultPanic) != 2 || x.metric("broken_threads", "") != 2 {
		t.Error("the panics are not counted")
	}
}

// Progress never passes what is unwritten.
func TestProgressHoldsAtTheOldest(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	o := w.unit(prometheus.NewRegistry())
	mark := func(seq uint64) snapshot.Mark { return threads.Mark(5, seq) }
	if _, ok := o.progress(); ok {
		t.Fatal("progress of nothing")
	}
	o.seen = mark(50)
	for _, step := range []struct {
		do   func()
		want uint64
	}{
		{func() {}, 50},
		{func() { o.owe(o.thread("a"), unwritten{first: 40}) }, 39},
		{func() { o.owe(o.thread("a"), unwritten{first: 45}) }, 39},
		{func() {
			a := o.thread("a")
			a.flying.add(a.fresh)
			a.fresh = unwritten{}
			o.owe(a, unwritten{first: 48})
		}, 39},
		{func() { o.owe(o.thread("b"), unwritten{first: 42}) }, 39},
		{func() { o.thread("a").flying = unwritten{} }, 41},
		{func() { o.settle(o.thread("b")) }, 47},
		{func() { o.recorded = mark(48) }, 48},
		{func() { o.settle(o.thread("a")) }, 50},
		{func() { o.owe(o.thread("c"), unwritten{first: 1}) }, 48},
	} {
		step.do()
		if got, ok := o.progress(); !ok || got != mark(step.want) {
			t.Fatalf("progress %v, want %d", got, step.want)
		}
	}
}

func TestRetry(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	s := w.unit(prometheus.NewRegistry()).s
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := s.retry(ctx, "x", retryable, func() error {
		if n++; n < 3 {
			return errors.New("not yet")
		}
		if s.trouble.Load() != 1 {
			t.Error("nothing is in trouble")
		}
		return nil
	})
	if err != nil || n != 3 || s.trouble.Load() != 0 {
		t.Fatal(err, n)
	}
	if err := s.retry(ctx, "x", retryable, func() error { return fmt.Errorf("x: %w", snapshot.ErrLost) }); !errors.Is(err, snapshot.ErrLost) {
		t.Fatal(err)
	}
	err = s.retry(ctx, "x", retryable, func() error { cancel(); return errors.New("never") })
	if !errors.Is(err, context.Canceled) || s.trouble.Load() != 0 {
		t.Fatal(err)
	}
}

func TestConfigReportsEveryBadField(t *testing.T) {
	_, err := New(Config{Delay: -1}, Deps{})
	for _, name := range []string{"worker", "ttl", "delay", "parallel", "threads", "memory", "max-unwritten", "progress", "audit", "drain", "dependency"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	cfg := Defaults()
	if err := cfg.validate(); err == nil || strings.Count(err.Error(), "want") != 1 {
		t.Errorf("the defaults lack more than the worker: %v", err)
	}
	if len(cfg.Settings()) != 10 {
		t.Error("a field has no setting")
	}
}
