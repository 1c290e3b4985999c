package reduce

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
	"github.com/agwire/agwire/pkg/agjson"
)

// feed pushes streams a piece at a time, all threads at once, and calls between now and then.
func (w *world) feed(streams map[string][]agjson.Event, rng *rand.Rand, between func(round int)) {
	w.t.Helper()
	var names []string
	for name := range streams {
		names = append(names, name)
	}
	var last [shards]<-chan struct{}
	for round := 0; len(names) > 0; round++ {
		if between != nil {
			between(round)
		}
		left := names[:0]
		for _, name := range names {
			s := streams[name]
			n := min(1+rng.IntN(12), len(s))
			last[w.bus.Shard(name)] = w.push(name, s[:n]...)
			if streams[name] = s[n:]; len(s) > n {
				left = append(left, name)
			}
		}
		names = left
	}
	for _, stored := range last {
		if stored != nil {
			w.await(stored)
		}
	}
}

// some is a part of the golden streams, each under a name of its own.
func some(t testing.TB, n int, prefix string) map[string][]agjson.Event {
	out := map[string][]agjson.Event{}
	for name, s := range golden(t) {
		if len(out) < n {
			out[prefix+name] = s
		}
	}
	return out
}

func rng() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// What is stored in the end is the fold of the log, of every recorded stream (SPEC §5 INV-FOLD).
func TestFoldsEveryStream(t *testing.T) {
	redistest.EachOwned(t, func(t *testing.T, srv *redistest.Server) {
		w := newWorld(t, srv)
		x := w.start(testConfig("a"), w.store)
		natstest.Eventually(t, "the service is ready", x.Ready)
		w.feed(golden(t), rng(), nil)
		w.upToDate("all")
		for shard := range shards {
			natstest.Eventually(t, "progress reaches the end", func() bool {
				mark, err := w.store.Progress(t.Context(), shard)
				return err == nil && mark.Sequence >= w.newest(shard)
			})
		}
		if got := x.errorsLogged(); len(got) > 0 {
			t.Errorf("errors: %q", got)
		}
		natstest.Eventually(t, "nothing is unwritten", func() bool { return x.metric("unwritten_bytes", "") == 0 })
		if err := x.stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
		if x.Ready() || x.metric("threads", "") != 0 || x.metric("memory_bytes", "") != 0 || x.metric("shards", "") != 0 {
			t.Errorf("after the end: ready %v, %v threads, %v bytes", x.Ready(), x.metric("threads", ""), x.metric("memory_bytes", ""))
		}
	})
}

// newest is the sequence of the newest message that the test has written to a shard.
func (w *world) newest(shard int) uint64 {
	n := uint64(0)
	for id, l := range w.logs {
		if w.bus.Shard(id) == shard {
			n = max(n, l.stored().Seq)
		}
	}
	return n
}

// The log that is there when a worker starts is folded too, and where it was folded before it is not folded again.
func TestGoesOnWhereItWas(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	s := simple(t)
	w.await(w.push("t", s[:30]...))
	x := w.start(testConfig("a"), w.store)
	w.upToDate("a log that was there")
	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
	w.await(w.push("t", s[30:40]...))
	y := w.start(testConfig("b"), w.store)
	w.upToDate("the next worker")
	if n := y.metric("events_total", ""); n != 10 {
		t.Errorf("%v events are folded, 10 are new", n)
	}
	if y.metric("loads_total", sourceStore) != 1 || y.metric("loads_total", sourceLog) != 0 {
		t.Errorf("loaded %v times from redis, %v from the log", y.metric("loads_total", sourceStore), y.metric("loads_total", sourceLog))
	}
}

// The end of a turn is written at once, the rest when its time has come, one write for many messages.
func TestCoalesces(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	cfg := testConfig("a")
	cfg.Delay = 10 * time.Second
	x := w.start(cfg, w.store)
	s := simple(t)
	end := 0
	for i, ev := range s {
		if _, ok := ev.Body.(*agjson.TurnDone); ok {
			end = i
			break
		}
	}
	for i := range end {
		w.push("t", s[i])
	}
	natstest.Eventually(t, "all are folded", func() bool { return x.metric("events_total", "") == float64(end) })
	if !w.missing("t") {
		t.Fatal("written before its time")
	}
	began := time.Now()
	w.await(w.push("t", s[end]))
	w.upToDate("the end of a turn")
	if took := time.Since(began); took > cfg.Delay/2 {
		t.Errorf("the end of a turn is written after %v", took)
	}
	if n := x.metric("writes_total", ""); n != 1 {
		t.Errorf("%v writes", n)
	}
	w.await(w.push("t", s[end+1]))
	natstest.Eventually(t, "the next event is folded", func() bool { return x.metric("events_total", "") == float64(end+2) })
	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
	w.upToDate("a drain")
}

// A new epoch begins anew, whether or not the fold is in memory.
func TestEpochs(t *testing.T) {
	for _, threads := range []int{1, 100} {
		t.Run(fmt.Sprint(threads, " in memory"), func(t *testing.T) {
			w := newWorld(t, redistest.New(t))
			cfg := testConfig("a")
			cfg.Threads = threads
			w.start(cfg, w.store)
			s := simple(t)
			for i := range 4 {
				for _, id := range []string{"a", "b", "c", "d"} {
					w.anew(id)
					w.push(id, s[:10+i]...)
					w.push(id, s[10+i:20-2*i]...)
				}
				if i%2 == 1 {
					w.upToDate("an epoch")
				}
			}
			w.upToDate("the last epoch")
		})
	}
}

// The worker changes in the middle of everything.
func TestHandover(t *testing.T) {
	redistest.EachOwned(t, func(t *testing.T, srv *redistest.Server) {
		w := newWorld(t, srv)
		workers := []*worker{w.start(testConfig("w0"), w.store)}
		w.feed(some(t, 24, "h"), rng(), func(round int) {
			if round%5 != 4 {
				return
			}
			next := w.start(testConfig(fmt.Sprint("w", len(workers))), w.store)
			if workers = append(workers, next); len(workers) > 2 {
				if err := workers[len(workers)-3].stop(); err != nil {
					t.Error(err)
				}
			}
			natstest.Eventually(t, "the new worker has its part", func() bool { return next.metric("shards", "") > 0 })
		})
		w.upToDate("after handovers")
		for i, x := range workers {
			if got := x.errorsLogged(); len(got) > 0 {
				t.Errorf("worker %d: %q", i, got)
			}
		}
	})
}

// The broker restarts in the middle.
func TestBrokerRestarts(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	x := w.start(testConfig("a"), w.store)
	w.feed(some(t, 12, "b"), rng(), func(round int) {
		if round == 3 || round == 6 {
			w.nats.Restart(t)
		}
	})
	w.upToDate("after restarts")
	natstest.Eventually(t, "the service is ready again", x.Ready)
}

// Few folds are kept in memory, and all threads are right.
func TestMemoryIsBounded(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	cfg := testConfig("a")
	cfg.Threads, cfg.Memory, cfg.MaxUnwritten = 3, 1<<20, 64<<10
	x := w.start(cfg, w.store)
	w.feed(some(t, 40, "m"), rng(), nil)
	w.upToDate("all")
	natstest.Eventually(t, "few are in memory", func() bool { return x.metric("threads", "") <= 2*3 })
	if x.metric("loads_total", sourceStore) == 0 {
		t.Error("none was loaded again")
	}
	if got := x.errorsLogged(); len(got) > 0 {
		t.Errorf("errors: %q", got)
	}
}

// Messages larger than the broker takes at once are folded like others.
func TestLargeMessage(t *testing.T) {
	w := newWorld(t, redistest.New(t), natstest.MaxPayload(64<<10))
	w.start(testConfig("a"), w.store)
	s := simple(t)
	large := agjson.Event{Body: &agjson.MemoryWrite{Scope: agjson.MemoryScopeThread, Value: []byte(`"` + strings.Repeat("x", 500<<10) + `"`)}}
	w.push("t", s[:3]...)
	w.push("t", large)
	w.await(w.push("t", s[3:9]...))
	w.upToDate("a large one")
}

// Progress that is ahead of what is stored, which only a damaged Redis has, costs a fold from the log.
func TestProgressIsAhead(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	s := simple(t)
	id := w.threadOf(0, "t")
	w.await(w.push(id, s[:20]...))
	x := w.start(testConfig("a"), w.store)
	w.upToDate("at first")
	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
	w.await(w.push(id, s[20:25]...))
	l := w.logs[id]
	if _, err := w.store.Advance(t.Context(), 0, threads.Mark(l.stored().Epoch.Incarnation, l.stored().Seq)); err != nil {
		t.Fatal(err)
	}
	w.await(w.push(id, s[25:27]...))
	y := w.start(testConfig("b"), w.store)
	w.upToDate("the gap is closed")
	if n := y.metric("events_total", ""); n != 7 {
		t.Errorf("%v events are folded, 7 are new", n)
	}
	if got := y.errorsLogged(); len(got) > 0 {
		t.Errorf("errors: %q", got)
	}
}

// Another worker has written what this one has not: it goes on from there (a version orders writes, DESIGN §4).
func TestAnotherIsAhead(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	cfg := testConfig("a")
	cfg.Delay = time.Second
	x := w.start(cfg, w.store)
	s := simple(t)
	w.await(w.push("t", s[:20]...))
	natstest.Eventually(t, "it is folded", func() bool { return x.metric("events_total", "") == 20 })
	f, err := threads.FromLog(t.Context(), w.bus, "t", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.await(w.push("t", s[20:21]...))
	if f, err = threads.FromLog(t.Context(), w.bus, "t", f); err != nil {
		t.Fatal(err)
	}
	ahead := f.Update()
	ahead.Position.Sequence += 1000 // as if it had folded further
	if res, err := w.store.Apply(t.Context(), "t", ahead); err != nil || res.Outcome != snapshot.Applied {
		t.Fatal(res, err)
	}
	natstest.Eventually(t, "its own write is refused", func() bool { return x.metric("writes_total", "stale") == 1 })
	natstest.Eventually(t, "it takes over what is stored", func() bool { return x.metric("loads_total", sourceLog) == 1 })
	w.upToDate("what the other has")
	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
}
