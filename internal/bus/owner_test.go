package bus_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"pgregory.net/rapid"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
)

// board notes who works on what.
type board struct {
	mu    sync.Mutex
	on    map[int]map[string]bool
	clash int // times that two worked on one shard
}

func (b *board) work(id string) bus.ShardFunc {
	return func(ctx context.Context, shard int) error {
		b.mu.Lock()
		if b.on == nil {
			b.on = map[int]map[string]bool{}
		}
		if b.on[shard] == nil {
			b.on[shard] = map[string]bool{}
		}
		if len(b.on[shard]) > 0 {
			b.clash++
		}
		b.on[shard][id] = true
		b.mu.Unlock()
		<-ctx.Done()
		b.mu.Lock()
		delete(b.on[shard], id)
		b.mu.Unlock()
		return nil
	}
}

// covered counts the shards with a worker, and each worker's shards.
func (b *board) covered() (int, map[string]int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, by := 0, map[string]int{}
	for _, ids := range b.on {
		if len(ids) > 0 {
			n++
		}
		for id := range ids {
			by[id]++
		}
	}
	return n, by
}

type worker struct {
	owner  *bus.Owner
	cancel context.CancelFunc
	done   chan error
}

func startWorker(t testing.TB, b *bus.Bus, id string, bd *board) *worker {
	t.Helper()
	o := must(b.NewOwner(bus.OwnerOptions{Group: "g", ID: id, Beat: 100 * time.Millisecond, TTL: 600 * time.Millisecond}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	w := &worker{owner: o, cancel: cancel, done: make(chan error, 1)}
	go func() { w.done <- o.Run(ctx, bd.work(id)) }()
	t.Cleanup(func() { _ = w.stop() })
	return w
}

func (w *worker) stop() error {
	w.cancel()
	err := <-w.done
	w.done <- err
	return err
}

func even(by map[string]int, shards, workers int) bool {
	if len(by) != workers {
		return false
	}
	for _, n := range by {
		if n < shards/workers || n > (shards+workers-1)/workers {
			return false
		}
	}
	return true
}

func TestOneWorkerTakesAllAtOnce(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{Shards: 16})
	var bd board
	began := time.Now()
	w := startWorker(t, b, "a", &bd)
	natstest.Eventually(t, "all shards have a worker", func() bool { n, _ := bd.covered(); return n == 16 })
	if d := time.Since(began); d > 500*time.Millisecond {
		t.Errorf("it took %v", d)
	}
	ok(t, w.stop())
	// Its record says that it is gone: another starts at once too.
	began = time.Now()
	startWorker(t, b, "b", &bd)
	natstest.Eventually(t, "all shards have a worker", func() bool { n, by := bd.covered(); return n == 16 && by["b"] == 16 })
	if d := time.Since(began); d > 500*time.Millisecond {
		t.Errorf("it took %v", d)
	}
}

func TestShardsGoRoundWithoutClash(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{Shards: 16})
	var bd board
	workers := map[string]*worker{"a": startWorker(t, b, "a", &bd)}
	settled := func() bool {
		n, by := bd.covered()
		return n == 16 && even(by, 16, len(workers))
	}
	natstest.Eventually(t, "one worker has all", settled)
	for _, id := range []string{"b", "c", "d"} {
		workers[id] = startWorker(t, srv.Bus(t, bus.Options{Shards: 16}), id, &bd)
		natstest.Eventually(t, "the shards are even", settled)
	}
	for _, id := range []string{"a", "c", "d"} {
		ok(t, workers[id].stop())
		delete(workers, id)
		natstest.Eventually(t, "the shards are even", settled)
	}
	if bd.clash != 0 {
		t.Errorf("%d times two live workers had one shard", bd.clash)
	}
	if n := workers["b"].owner.Workers(); n != 1 {
		t.Errorf("%d workers", n)
	}
}

func TestDeadWorkerIsReplaced(t *testing.T) {
	srv := natstest.New(t)
	core, logs := observer.New(zap.InfoLevel)
	b := srv.Bus(t, bus.Options{Shards: 8, Log: zap.New(core)})
	proxy := natstest.NewProxy(t, srv)
	var bd, dead board
	startWorker(t, b, "a", &bd)
	natstest.Eventually(t, "one worker has all", func() bool { _, by := bd.covered(); return by["a"] == 8 })
	startWorker(t, proxy.Bus(t, bus.Options{Shards: 8}), "b", &dead)
	natstest.Eventually(t, "two have half", func() bool {
		_, by := bd.covered()
		_, other := dead.covered()
		return by["a"] == 4 && other["b"] == 4
	})
	if n := logs.FilterMessage("giving a shard up to another worker").FilterField(zap.String("worker", "a")).Len(); n != 4 {
		t.Errorf("%d shards were said to be given up", n)
	}
	proxy.Freeze() // as SIGKILL or SIGSTOP would
	began := time.Now()
	natstest.Eventually(t, "the other has all", func() bool { _, by := bd.covered(); return by["a"] == 8 })
	if d := time.Since(began); d > 1500*time.Millisecond {
		t.Errorf("it took %v", d)
	}
	silent := logs.FilterLevelExact(zap.WarnLevel).FilterMessageSnippet(`worker "b" silent for `)
	if silent.Len() != 1 || silent.FilterField(zap.String("svc", "g")).Len() != 1 {
		t.Errorf("of the dead worker is said: %+v", silent.All())
	}
	// Back from the dead, it is one of two again.
	proxy.Thaw()
	natstest.Eventually(t, "two have half", func() bool {
		_, by := bd.covered()
		_, other := dead.covered()
		return by["a"] == 4 && other["b"] == 4
	})
}

// TestWorkerLongDeadIsIgnored: its record is still there.
func TestWorkerLongDeadIsIgnored(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{Shards: 8})
	proxy := natstest.NewProxy(t, srv)
	var dead, bd board
	startWorker(t, proxy.Bus(t, bus.Options{Shards: 8}), "dead", &dead)
	natstest.Eventually(t, "it has all", func() bool { n, _ := dead.covered(); return n == 8 })
	proxy.Freeze()
	past := time.NewTimer(700 * time.Millisecond) // its TTL
	<-past.C
	began := time.Now()
	w := startWorker(t, b, "a", &bd)
	natstest.Eventually(t, "another has all", func() bool { n, _ := bd.covered(); return n == 8 })
	if d := time.Since(began); d > 300*time.Millisecond {
		t.Errorf("it took %v", d)
	}
	natstest.Eventually(t, "it beats", func() bool { return w.owner.Beats() > 5 })
	if n, _ := bd.covered(); n != 8 || w.owner.Workers() != 1 {
		t.Errorf("it has %d, of %d workers", n, w.owner.Workers())
	}
}

func TestBrokersAbsenceKillsNobody(t *testing.T) {
	srv := natstest.New(t)
	var bd board
	for _, id := range []string{"a", "b"} {
		startWorker(t, srv.Bus(t, bus.Options{Shards: 8}), id, &bd)
	}
	two := func() bool { n, by := bd.covered(); return n == 8 && even(by, 8, 2) }
	natstest.Eventually(t, "two have half", two)
	bd.mu.Lock()
	bd.clash = 0
	bd.mu.Unlock()
	srv.Stop()
	away := time.NewTimer(1200 * time.Millisecond) // twice the TTL
	<-away.C
	srv.Start(t)
	b := srv.Bus(t, bus.Options{Shards: 8})
	var third board
	w := startWorker(t, b, "c", &third)
	natstest.Eventually(t, "three share", func() bool {
		_, by := bd.covered()
		_, other := third.covered()
		return other["c"] >= 2 && by["a"]+by["b"] == 8-other["c"]
	})
	ok(t, w.stop())
	natstest.Eventually(t, "two have half", two)
	if bd.clash != 0 {
		t.Errorf("%d times two live workers had one shard", bd.clash)
	}
}

func TestSameIDReplacesItsFormerSelf(t *testing.T) {
	srv := natstest.New(t)
	var bd board
	old := startWorker(t, srv.Bus(t, bus.Options{Shards: 8}), "a", &bd)
	natstest.Eventually(t, "it has all", func() bool { n, _ := bd.covered(); return n == 8 })
	var again board
	startWorker(t, srv.Bus(t, bus.Options{Shards: 8}), "a", &again)
	natstest.Eventually(t, "its successor has all", func() bool { n, _ := again.covered(); return n == 8 })
	natstest.Eventually(t, "the former self ends", func() bool { return len(old.done) == 1 })
	if err := old.stop(); !errors.Is(err, bus.ErrFenced) {
		t.Errorf("the former self ended with %v", err)
	}
}

func TestShardFuncErrors(t *testing.T) {
	srv := natstest.New(t)
	b := srv.Bus(t, bus.Options{Shards: 2})
	o := must(b.NewOwner(bus.OwnerOptions{Group: "g", ID: "x"}))(t)
	var mu sync.Mutex
	calls := 0
	err := o.Run(ctxT(t), func(ctx context.Context, shard int) error {
		if shard == 1 {
			<-ctx.Done()
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		calls++
		if calls < 3 {
			return fmt.Errorf("try %d: %w", calls, bus.ErrFenced)
		}
		return fmt.Errorf("%w: ours", bus.ErrFatal)
	})
	if !errors.Is(err, bus.ErrFatal) || calls != 3 {
		t.Fatalf("%v after %d calls", err, calls)
	}
	for _, bad := range []bus.OwnerOptions{{}, {Group: "g"}, {ID: "x"}, {Group: "g", ID: "x", Beat: -1}, {Group: "g", ID: "x", Beat: time.Second, TTL: time.Second}} {
		if _, err := b.NewOwner(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// TestAssignment: every shard has one worker, evenly, the same for everybody,
// and a worker's coming or going moves little.
func TestAssignment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.IntRange(1, 128).Draw(t, "shards")
		workers := rapid.SliceOfNDistinct(rapid.StringN(1, 8, 16), 1, 12, rapid.ID[string]).Draw(t, "workers")
		where := place(t, shards, workers)
		perm := rapid.Permutation(workers).Draw(t, "order")
		for s, w := range place(t, shards, perm) {
			if where[s] != w {
				t.Fatalf("shard %d: %q or %q by the order of the workers", s, where[s], w)
			}
		}
		if len(workers) == 1 {
			return
		}
		gone := workers[0]
		moved, must := 0, 0
		for s, w := range place(t, shards, workers[1:]) {
			if where[s] == gone {
				must++
			} else if where[s] != w {
				moved++
			}
		}
		if len(workers) == 2 && moved > 0 || moved > shards/2+1 {
			t.Fatalf("%d shards moved needlessly, %d had to", moved, must)
		}
	})
}

func place(t *rapid.T, shards int, workers []string) map[int]string {
	where := map[int]string{}
	for w, ss := range bus.Assign(shards, workers) {
		if n := len(ss); n < shards/len(workers) || n > (shards+len(workers)-1)/len(workers) {
			t.Fatalf("%q has %d of %d shards among %d", w, n, shards, len(workers))
		}
		for _, s := range ss {
			if o, twice := where[s]; twice {
				t.Fatalf("shard %d: %q and %q", s, o, w)
			}
			where[s] = w
		}
	}
	if len(where) != shards {
		t.Fatalf("%d of %d shards have a worker", len(where), shards)
	}
	return where
}
