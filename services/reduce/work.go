package reduce

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
)

// result is what became of a load or a write.
type result struct {
	t      *thread
	load   bool
	void   bool // what is stored was voided
	err    error
	age    int // of the shard when it began
	took   time.Duration
	fold   *threads.Fold // of a load
	source string        // of a load
	update snapshot.Update
	wrote  snapshot.Result // of a write
}

// retryable says whether a call of Redis or the broker may do better in a moment.
func retryable(err error) bool {
	for _, final := range []error{snapshot.ErrNotFound, snapshot.ErrIncomplete, snapshot.ErrTooLarge, snapshot.ErrLost, bus.ErrNotFound, bus.ErrTrimmed} {
		if errors.Is(err, final) {
			return false
		}
	}
	return bus.DispositionOf(err) == bus.Retry
}

// begin starts what the first thread in line needs. It has taken a place.
func (o *shardWork) begin(reads, writes context.Context, g *errgroup.Group) {
	t := o.line[0]
	o.line[0] = nil
	o.line = o.line[1:]
	var job func() result
	switch {
	case t.void != nil:
		job = o.voidJob(writes, t)
	case t.phase == loading:
		job = o.loadJob(reads, t)
	case t.dirty():
		job = o.writeJob(writes, t)
	}
	if job == nil {
		<-o.s.slots
		t.stage = idle
		o.schedule(t)
		return
	}
	t.stage = running
	o.running++
	age := o.age
	g.Go(func() error {
		start := time.Now()
		res := job()
		res.t, res.age, res.took = t, age, time.Since(start)
		<-o.s.slots
		o.results <- res
		return nil
	})
}

// loadJob comes by the fold of a thread.
func (o *shardWork) loadJob(ctx context.Context, t *thread) func() result {
	var first *bus.EventHeader
	if len(t.queue) > 0 {
		first = &t.queue[0].EventHeader
	}
	id, from := t.id, t.origin
	return func() (res result) {
		res.load = true
		res.err = bus.Guard(func() (err error) {
			res.fold, res.source, err = o.load(ctx, id, from, first)
			return err
		})
		return res
	}
}

// load comes by the fold of a thread: from Redis where that goes on to first, the message at hand, else from the log.
func (o *shardWork) load(ctx context.Context, id string, from origin, first *bus.EventHeader) (*threads.Fold, string, error) {
	var base *threads.Fold
	if from != fromLog {
		var snap snapshot.Snapshot
		err := o.s.retry(ctx, "load", retryable, func() (err error) {
			snap, err = o.s.deps.Store.Load(ctx, id)
			return err
		})
		switch {
		case err == nil:
			if base, err = threads.Restore(id, snap); err != nil {
				o.log.Warn("what is stored cannot be read, folding from the log", zap.String("thread", id), zap.Error(err))
			}
		case errors.Is(err, snapshot.ErrIncomplete):
			o.s.m.losses.WithLabelValues(lossThread).Inc()
		case !errors.Is(err, snapshot.ErrNotFound):
			return nil, "", err
		}
	}
	switch {
	case from == fromStore && first != nil && base != nil && base.Reaches(*first):
		return base, sourceStore, nil
	case from == fromStore && first != nil && first.Starts():
		return threads.NewFold(id), sourceNew, nil
	}
	var f *threads.Fold
	err := o.s.retry(ctx, "log", retryable, func() (err error) {
		f, err = threads.FromLog(ctx, o.s.deps.Bus, id, base)
		return err
	})
	return f, sourceLog, err
}

// writeJob writes what has changed of a thread; nil if that cannot be said.
func (o *shardWork) writeJob(ctx context.Context, t *thread) func() result {
	var u snapshot.Update
	if err := bus.Guard(func() error { u = t.fold.Update(); return nil }); err != nil {
		o.giveUp(t, faultPanic, err)
		return nil
	}
	o.weigh(t)
	t.flying.add(t.fresh)
	t.fresh, t.urgent = unwritten{}, false
	id := t.id
	return func() (res result) {
		res.update = u
		res.err = o.s.retry(ctx, "write", retryable, func() (err error) {
			res.wrote, err = o.s.deps.Store.Apply(ctx, id, u)
			return err
		})
		return res
	}
}

// finish takes what became of a load or a write. Its error ends the work on the shard.
func (o *shardWork) finish(res result) error {
	t := res.t
	o.running--
	t.stage = idle
	if errors.Is(res.err, context.Canceled) {
		if t.phase == live {
			t.fold.Forget() // whether it was written is not known
		}
		return nil // the shard is given up
	}
	if res.err != nil && bus.DispositionOf(res.err) == bus.Stop {
		return res.err
	}
	switch {
	case res.load:
		o.loaded(t, res)
	case res.void:
		o.voided(t, res)
	case t.phase == live && t.fold.Position().SameEpoch(res.update.Position.Version):
		o.written(t, res)
	default:
		// The fold that was written is no more: it is loaded again, given up, or of an epoch that is over.
		t.fresh.add(t.flying)
		t.flying = unwritten{}
		o.schedule(t)
	}
	return nil
}

func (o *shardWork) loaded(t *thread, res result) {
	switch {
	case errors.Is(res.err, bus.ErrNotFound):
		// Its log was purged while its messages waited.
		o.drop(t)
		return
	case errors.Is(res.err, bus.ErrPanic):
		o.giveUp(t, faultPanic, res.err)
		return
	case res.err != nil:
		o.giveUp(t, faultLog, res.err)
		return
	}
	o.s.m.loads.WithLabelValues(res.source).Inc()
	o.s.m.events.Add(float64(res.fold.Taken()))
	o.setFold(t, live, res.fold)
	if res.age != o.age {
		o.rewrite(t)
	}
	if res.fold.Parked() != "" {
		o.stayParked(t)
	}
	queue := t.queue
	t.queue, t.origin = nil, fromStore
	for i := range queue {
		if t.phase == loading {
			t.queue = append(t.queue, queue[i])
		} else {
			o.take(t, &queue[i])
		}
	}
	o.weigh(t)
	o.schedule(t)
}

// written takes a write's outcome.
func (o *shardWork) written(t *thread, res result) {
	if res.err != nil {
		o.s.m.writes.WithLabelValues("refused").Inc()
		o.tooLarge(t, res.err)
		return
	}
	o.s.m.writes.WithLabelValues(res.wrote.Outcome.String()).Inc()
	o.s.m.write.Observe(res.took.Seconds())
	switch res.wrote.Outcome {
	case snapshot.Applied, snapshot.Unchanged:
		o.stored(t, res)
	case snapshot.Rebase:
		// Lost, damaged, or the work of another: write all of it.
		o.s.m.losses.WithLabelValues(lossThread).Inc()
		o.audited = time.Time{}
		t.fold.Forget()
		t.urgent = true
		o.schedule(t)
	case snapshot.Stale:
		// Another worker is ahead, or was: go on from what it has, and from the log.
		o.reload(t, catchUp)
	case snapshot.Deleted:
		o.settle(t)
		o.setParked(t, false)
		o.setFold(t, deleted, nil)
	}
}

func (o *shardWork) stored(t *thread, res result) {
	if res.age == o.age {
		t.fold.Stored(res.update.Position.Version)
		o.count(-t.flying.bytes)
		if !t.flying.since.IsZero() {
			o.s.m.delay.Observe(time.Since(t.flying.since).Seconds())
		}
		t.flying = unwritten{}
	}
	size := 0
	for _, v := range res.update.Set {
		size += len(v.Data)
	}
	o.s.m.written.Add(float64(size))
	// A thread that is dear to write is written less often.
	t.pace = min(writeShare*res.took, slowest)
	o.schedule(t)
}

// A thread's writes take at most one part in writeShare of the time, unless they are slower than slowest allows.
const (
	writeShare = 8
	slowest    = time.Second
)

// missing looks after a thread that an audit did not find in Redis.
func (o *shardWork) missing(id string) {
	if t := o.threads[id]; t != nil {
		if t.phase == live && t.stage == idle && !t.dirty() {
			o.rewrite(t)
		}
		return
	}
	t := o.thread(id)
	t.origin = catchUp
	o.hasten(t)
	if len(o.threads) > o.s.cfg.Threads {
		o.evict()
	}
}
