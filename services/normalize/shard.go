package normalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/bus"
)

// shardWork is one ownership of one shard. All but the fields under mu belong to one goroutine.
type shardWork struct {
	s     *Service
	shard int
	log   *zap.Logger
	w     *bus.FencedWriter

	threads  map[string]*thread
	known    map[openInvoke]time.Time // open invokes, and when they last showed life here
	consumed uint64                   // sequence of the last frame worked on, by this owner or before it
	gathered int                      // bytes of events that wait
	since    int                      // event messages since the last checkpoint
	saved    time.Time                // of the last checkpoint
	dirty    bool                     // frames have come since then

	mu     sync.Mutex
	stored []storedBatch
	signal chan struct{}
}

// storedBatch is a batch that the log has, with the epoch it was stored in.
type storedBatch struct {
	b     *batch
	epoch bus.Epoch
}

// shard works on one shard until ctx ends and then drains; any error ends this ownership's memory, all of which the next one
// finds in the log.
func (s *Service) shard(ctx context.Context, shard int) error {
	o := bus.WriterOptions{Owner: s.cfg.Worker, Window: s.cfg.Window}
	return s.deps.Bus.WriteShard(ctx, shard, o, s.cfg.Drain, func(wctx context.Context, w *bus.FencedWriter) error {
		s.m.shards.Inc()
		defer s.m.shards.Dec()
		o := &shardWork{
			s: s, shard: shard, log: s.deps.Log.With(zap.String("svc", group), zap.Int("shard", shard)), w: w,
			threads: map[string]*thread{}, known: map[openInvoke]time.Time{}, signal: make(chan struct{}, 1), saved: time.Now(),
		}
		defer o.forget()
		err := o.work(ctx, wctx)
		if err != nil {
			w.Close() // what is queued is not waited for: the next ownership learns from the log what of it is stored
		}
		return err
	})
}

// forget takes what this ownership held out of the gauges.
func (o *shardWork) forget() {
	o.s.m.open.Sub(float64(len(o.known)))
	o.s.m.threads.Sub(float64(len(o.threads)))
}

// work recovers and then runs. outer ends when the shard is to be given up, ctx with it or when the writer ends.
func (o *shardWork) work(outer, ctx context.Context) error {
	if err := o.recover(ctx); err != nil {
		return err
	}
	err := o.loop(ctx)
	if outer.Err() == nil || o.w.Err() != nil {
		return err
	}
	dctx, cancel := context.WithTimeout(context.WithoutCancel(outer), o.s.cfg.Drain)
	defer cancel()
	if err := o.drain(dctx); err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	return nil
}

// recover learns from the log where the predecessor was.
func (o *shardWork) recover(ctx context.Context) error {
	data, _ := o.w.LastCheckpoint()
	cp, err := decodeCheckpoint(data)
	if err != nil {
		return err
	}
	o.consumed = cp.Frames
	for _, inv := range cp.Open {
		o.see(inv)
	}
	heads := o.w.Headers()
	defer heads.Close()
	for {
		m, err := heads.Next(ctx)
		if errors.Is(err, bus.ErrEndOfLog) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the log behind the checkpoint: %w", err)
		}
		if m.Err != nil || m.Invoke == "" {
			continue
		}
		if inv := (openInvoke{m.Thread, m.Invoke}); m.Closed {
			o.unsee(inv)
		} else {
			o.see(inv)
		}
	}
}

func (o *shardWork) see(inv openInvoke) {
	if _, ok := o.known[inv]; !ok {
		o.s.m.open.Inc()
	}
	o.known[inv] = time.Now()
}

func (o *shardWork) unsee(inv openInvoke) {
	if _, ok := o.known[inv]; ok {
		o.s.m.open.Dec()
		delete(o.known, inv)
	}
}

// loop reads frames and works on them until ctx ends.
func (o *shardWork) loop(ctx context.Context) error {
	frames := make(chan bus.Frame, 256)
	ends := make(chan openInvoke, 1)
	beats := make(chan openInvoke, 1024)
	unsubscribe, err := o.s.deps.Bus.SubscribeBeats(o.shard, func(thread, invoke string) {
		select {
		case beats <- openInvoke{thread, invoke}:
		default: // another one comes
		}
	})
	if err != nil {
		return err
	}
	defer unsubscribe()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		r := o.s.deps.Bus.ReadFrames(o.shard, o.consumed)
		defer r.Close()
		for {
			f, err := r.Next(ctx)
			if err != nil {
				return fmt.Errorf("read frames: %w", err)
			}
			select {
			case frames <- f:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	g.Go(func() error { return o.reap(ctx, ends) })
	g.Go(func() error { return o.serve(ctx, frames, beats, ends) })
	return g.Wait()
}

// serve is the one goroutine that changes the shard's state.
func (o *shardWork) serve(ctx context.Context, frames <-chan bus.Frame, beats <-chan openInvoke, ends chan<- openInvoke) error {
	tick := time.NewTicker(min(time.Second, o.s.cfg.CheckpointAfter))
	defer tick.Stop()
	for {
		in := frames
		if o.gathered > o.s.cfg.MaxGathered {
			in = nil // until the log has taken what waits
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case f := <-in:
			if err := o.guarded(ctx, f); err != nil {
				return err
			}
		case inv := <-beats:
			if _, ok := o.known[inv]; ok {
				o.known[inv] = time.Now()
			}
		case <-o.signal:
			if err := o.acked(ctx); err != nil {
				return err
			}
		case <-tick.C:
			o.reapIdle(ends)
			o.evict()
		}
		if err := o.checkpointIfDue(ctx); err != nil {
			return err
		}
	}
}

// guarded works on one frame. A frame that breaks us ends this ownership; one that has done so too often is passed over, and
// its invoke ends in an error.
func (o *shardWork) guarded(ctx context.Context, f bus.Frame) error {
	err := bus.Guard(func() error { return o.frame(ctx, f) })
	if err == nil || ctx.Err() != nil || o.w.Err() != nil {
		return err
	}
	n := o.s.tried(o.shard, f.Seq)
	o.log.Error("work on a frame failed", zap.String("thread", f.Thread), zap.String("invoke", f.Invoke), zap.Uint64("seq", f.Seq),
		zap.Int("attempt", n), zap.Error(err))
	return err
}

func (o *shardWork) checkpointIfDue(ctx context.Context) error {
	if !o.dirty || o.since < o.s.cfg.CheckpointEvery && time.Since(o.saved) < o.s.cfg.CheckpointAfter {
		return nil
	}
	return o.checkpoint(ctx)
}

// unstartedDelay is how long a checkpoint waits for a thread's first message.
const unstartedDelay = 50 * time.Millisecond

// checkpoint sends what waits, so that it lies before the checkpoint, and then the checkpoint.
func (o *shardWork) checkpoint(ctx context.Context) error {
	for _, t := range o.threads {
		if len(t.waiting) > 0 && t.epoch.IsZero() {
			// Its epoch is not known before its first message is stored: soon.
			o.since, o.saved = 0, time.Now().Add(unstartedDelay-o.s.cfg.CheckpointAfter)
			return nil
		}
	}
	for _, t := range o.threads {
		if err := o.send(ctx, t); err != nil {
			return err
		}
	}
	cp := checkpoint{Frames: o.consumed}
	for inv := range o.known {
		cp.Open = append(cp.Open, inv)
	}
	data, err := cp.encode()
	if err != nil {
		return err
	}
	o.since, o.saved, o.dirty = 0, time.Now(), false
	return o.w.Checkpoint(ctx, data, nil)
}

// drain stores what is in flight and leaves a checkpoint for the successor.
func (o *shardWork) drain(ctx context.Context) error {
	for o.waiting() {
		select {
		case <-o.signal:
			if err := o.acked(ctx); err != nil {
				return err
			}
		case <-o.w.Done():
			return o.w.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := o.checkpoint(ctx); err != nil {
		return err
	}
	return o.w.Flush(ctx)
}

func (o *shardWork) waiting() bool {
	for _, t := range o.threads {
		if len(t.waiting) > 0 || t.inFlight > 0 {
			return true
		}
	}
	return false
}

// evict lets go of threads that nothing happens in, the longest untouched first.
func (o *shardWork) evict() {
	var idle []*thread
	for _, t := range o.threads {
		if len(t.open) == 0 && len(t.waiting) == 0 && t.inFlight == 0 {
			idle = append(idle, t)
		}
	}
	if len(idle) <= o.s.cfg.Threads {
		return
	}
	slices.SortFunc(idle, func(a, b *thread) int { return a.touched.Compare(b.touched) })
	for _, t := range idle[:len(idle)-o.s.cfg.Threads] {
		delete(o.threads, t.id)
		o.s.m.threads.Dec()
	}
}
