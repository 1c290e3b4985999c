package reduce

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
)

// shardWork is one ownership of one shard. All of it belongs to one goroutine, but for what the channels hand over.
type shardWork struct {
	s     *Service
	shard int
	log   *zap.Logger

	threads map[string]*thread
	lru     *list.List // of *thread, used last first
	later   []dueWrite // threads that wait, by time
	line    []*thread  // threads that are ready
	running int        // loads and writes under way
	pending int64      // bytes that are read and not written
	age     int        // how often the shard was rewound

	in          chan incoming
	stopReading context.CancelFunc
	seen        snapshot.Mark // of the last message taken
	recorded    snapshot.Mark // progress as it is recorded; zero = nothing
	recording   bool
	busy        bool // messages have come since the last tick

	results chan result // of loads and writes; as large as there are places
	marks   chan recordResult
	lost    chan string   // threads that an audit has found to be missing
	audits  chan struct{} // calls for an audit
	audited time.Time     // zero = not yet, or there is reason for another
}

// incoming is a message as the reader hands it over.
type incoming struct {
	bus.EventMessage
	incarnation int64
	newest      bool
}

// dueWrite is a thread's place among those that wait; void unless it is due then still.
type dueWrite struct {
	t   *thread
	due time.Time
}

// Bounds of what waits.
const (
	readAhead = 64 // messages
	longLine  = 64 // threads in line at which an audit holds
)

// shard works on one shard until ctx ends and then drains. What is in memory when it returns is all in Redis or in the log.
func (s *Service) shard(ctx context.Context, shard int) error {
	o := &shardWork{
		s: s, shard: shard, log: s.deps.Log.With(zap.Int("shard", shard)), threads: map[string]*thread{}, lru: list.New(),
		results: make(chan result, cap(s.slots)), marks: make(chan recordResult, 1), lost: make(chan string), audits: make(chan struct{}, 1),
		stopReading: func() {},
	}
	s.m.shards.Inc()
	defer s.m.shards.Dec()
	defer o.forget()
	// Writes outlive ctx by the drain budget; what reads ends with it.
	writes, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(s.cfg.Drain, stop) })()
	g, writes := errgroup.WithContext(writes)
	reads, cancel := context.WithCancel(writes)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	g.Go(func() error {
		defer stop()
		return o.work(reads, writes, g)
	})
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// forget takes what this ownership held out of the gauges.
func (o *shardWork) forget() {
	for _, t := range o.threads {
		o.drop(t)
	}
}

func (o *shardWork) work(reads, writes context.Context, g *errgroup.Group) error {
	err := o.s.retry(reads, "progress", retryable, func() (err error) {
		o.recorded, err = o.s.deps.Store.Progress(reads, o.shard)
		return err
	})
	if err != nil && !errors.Is(err, snapshot.ErrNotFound) {
		return err
	}
	o.read(reads, g, o.recorded)
	g.Go(func() error { return o.auditor(reads) })
	if err := o.loop(reads, writes, g); err != nil {
		return err
	}
	return o.drain(reads, writes, g)
}

// read begins to read the log behind a mark, and ends what was read before.
func (o *shardWork) read(ctx context.Context, g *errgroup.Group, from snapshot.Mark) {
	o.stopReading()
	ctx, o.stopReading = context.WithCancel(ctx)
	in := make(chan incoming, readAhead)
	o.in = in
	g.Go(func() error {
		err := o.reader(ctx, in, from)
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
}

func (o *shardWork) reader(ctx context.Context, in chan<- incoming, from snapshot.Mark) error {
	r := o.s.deps.Bus.ReadEvents(o.shard, from.Sequence)
	r.Expect(threads.Incarnation(from))
	defer func() { r.Close() }()
	for fresh := from != (snapshot.Mark{}); ; {
		m, err := r.Next(ctx)
		if errors.Is(err, bus.ErrReset) && fresh {
			o.log.Warn("the stream is not the one that progress was made in, reading from its start", zap.Error(err))
			r.Close()
			r, fresh = o.s.deps.Bus.ReadEvents(o.shard, 0), false
			continue
		}
		if err != nil {
			return err
		}
		fresh = false
		select {
		case in <- incoming{m, r.Incarnation(), r.Lag() == 0}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// full says whether reading must wait until something is written.
func (o *shardWork) full() bool { return o.pending > 0 && o.s.pending.Load() > o.s.cfg.MaxUnwritten }

// loop is the one goroutine that changes the shard's state, until reads ends.
func (o *shardWork) loop(reads, writes context.Context, g *errgroup.Group) error {
	tick := time.NewTicker(o.s.cfg.Progress)
	defer tick.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		in, lost, slots := o.in, o.lost, chan<- struct{}(nil)
		if o.full() {
			in = nil
		}
		if len(o.line) > longLine {
			lost = nil
		}
		if len(o.line) > 0 {
			slots = o.s.slots
		}
		var timeout <-chan time.Time
		if len(o.later) > 0 {
			timer.Reset(time.Until(o.later[0].due))
			timeout = timer.C
		}
		select {
		case <-reads.Done():
			return nil
		case m := <-in:
			o.message(m)
			o.more(in)
		case slots <- struct{}{}:
			o.begin(reads, writes, g)
		case res := <-o.results:
			if err := o.finish(res); err != nil {
				return err
			}
		case res := <-o.marks:
			o.recordDone(reads, g, res)
		case id := <-lost:
			o.missing(id)
		case <-timeout:
			o.dueNow(time.Now())
		case <-tick.C:
			o.tick(reads, g)
		}
	}
}

// more takes what has come already, since a turn of the loop costs more than a message.
func (o *shardWork) more(in <-chan incoming) {
	for range readAhead - 1 {
		if o.full() {
			return
		}
		select {
		case m := <-in:
			o.message(m)
		default:
			return
		}
	}
}

// message takes one message of the log.
func (o *shardWork) message(m incoming) {
	o.busy = !m.newest
	o.seen = threads.Mark(m.incarnation, m.StreamSeq)
	if m.Err != nil {
		o.s.m.messages.WithLabelValues(fatePoison).Inc()
		o.log.Error("a message of the log is no event message", zap.String("thread", m.Thread), zap.Uint64("seq", m.StreamSeq), zap.Error(m.Err))
		return
	}
	if m.Count == 0 {
		o.s.m.messages.WithLabelValues(fateSkipped).Inc()
		return
	}
	t := o.thread(m.Thread)
	o.owe(t, unwritten{first: m.FirstSeq, bytes: int64(len(m.Body)), since: m.Time})
	switch {
	case t.phase == loading:
		t.queue = append(t.queue, m.EventMessage)
		o.hasten(t)
	default:
		o.take(t, &m.EventMessage)
		o.schedule(t)
	}
	if len(o.threads) > o.s.cfg.Threads {
		o.evict()
	}
}

// schedule puts a thread that is idle or waits to where it belongs now.
func (o *shardWork) schedule(t *thread) {
	switch {
	case t.stage != idle && t.stage != waiting:
		return
	case t.phase == loading:
		o.hasten(t)
	case !t.dirty():
		o.settle(t)
	case t.urgent:
		o.hasten(t)
	case t.stage == idle:
		t.stage, t.due = waiting, time.Now().Add(max(o.s.cfg.Delay, t.pace))
		o.insert(dueWrite{t, t.due})
	}
}

// hasten puts a thread in line.
func (o *shardWork) hasten(t *thread) {
	if t.stage == idle || t.stage == waiting {
		t.stage = ready
		o.line = append(o.line, t)
	}
}

// insert keeps later in order. Most delays are the same, so that the place is at the end or near it.
func (o *shardWork) insert(d dueWrite) {
	o.later = append(o.later, d)
	for i := len(o.later) - 1; i > 0 && o.later[i].due.Before(o.later[i-1].due); i-- {
		o.later[i], o.later[i-1] = o.later[i-1], o.later[i]
	}
}

// dueNow puts the threads in line whose time has come.
func (o *shardWork) dueNow(now time.Time) {
	n := 0
	for n < len(o.later) && !o.later[n].due.After(now) {
		if d := o.later[n]; d.t.stage == waiting && d.t.due.Equal(d.due) {
			o.hasten(d.t)
		}
		n++
	}
	clear(o.later[:n])
	o.later = o.later[n:]
}

// tick records progress, and looks after what needs no hurry.
func (o *shardWork) tick(reads context.Context, g *errgroup.Group) {
	o.record(reads, g)
	o.evict()
	if o.busy {
		o.busy = false
		return
	}
	if time.Since(o.audited) < o.s.cfg.Audit {
		return
	}
	select {
	case o.audits <- struct{}{}:
		o.audited = time.Now()
	default: // one is under way
	}
}

// drain writes what is unwritten and records the progress. A thread that is being loaded is left to the successor.
func (o *shardWork) drain(reads, writes context.Context, g *errgroup.Group) error {
	o.stopReading()
	for _, t := range o.threads {
		if t.dirty() {
			o.hasten(t)
		}
	}
	for o.running > 0 || len(o.line) > 0 || o.recording {
		slots := chan<- struct{}(nil)
		if len(o.line) > 0 {
			slots = o.s.slots
		}
		select {
		case slots <- struct{}{}:
			o.begin(reads, writes, g)
		case res := <-o.results:
			if err := o.finish(res); err != nil {
				return err
			}
			if t := res.t; t.dirty() {
				o.hasten(t)
			}
		case <-o.marks:
			o.recording = false
		case <-writes.Done():
			o.log.Warn("left unwritten, the next owner reads it again", zap.Int64("bytes", o.pending))
			return writes.Err()
		}
	}
	to, ok := o.progress()
	if !ok {
		return nil
	}
	if _, err := o.s.deps.Store.Continue(writes, o.shard, o.recorded, to); err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	return nil
}
