package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nuid"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/wait"
)

// OwnerOptions say how a worker takes its part of a group's shards. Zero
// durations take the default that is named.
type OwnerOptions struct {
	Group string        // the workers that share the shards: "normalize"; not empty
	ID    string        // of this worker, unique in the group and best stable over restarts; not empty
	Beat  time.Duration // between heartbeats; default 500ms
	TTL   time.Duration // a worker silent for this long is dead; at least 3 beats; default 2s
}

func (o OwnerOptions) withDefaults() OwnerOptions {
	if o.Beat == 0 {
		o.Beat = 500 * time.Millisecond
	}
	if o.TTL == 0 {
		o.TTL = 2 * time.Second
	}
	return o
}

func (o OwnerOptions) validate() error {
	var errs []error
	if o.Group == "" || len(o.Group) > 64 {
		errs = append(errs, fmt.Errorf("group: %d bytes is not in 1 to 64", len(o.Group)))
	}
	if o.ID == "" || len(o.ID) > 128 {
		errs = append(errs, fmt.Errorf("id: %d bytes is not in 1 to 128", len(o.ID)))
	}
	if o.Beat <= 0 {
		errs = append(errs, errors.New("beat: not positive"))
	}
	if o.TTL < 3*o.Beat {
		errs = append(errs, fmt.Errorf("ttl: %v is below three beats of %v", o.TTL, o.Beat))
	}
	return errors.Join(errs...)
}

// ShardFunc works on one shard until ctx ends, then drains and returns. ctx
// ends when the shard is another worker's or the owner stops. A function that
// returns before that is called again after a delay, unless its error is an
// ErrFatal, ErrMismatch or ErrClosed, which stop the owner.
type ShardFunc func(ctx context.Context, shard int) error

// Owner takes a worker's fair part of the shards: each shard has one live
// worker of the group, and workers have equal parts, within one. It goes by
// heartbeats in a key-value bucket, and may for a moment be wrong: what makes
// sure is the fence (FencedWriter), or whatever else the group's work is
// guarded by.
//
// A shard goes from one live worker to another only after the first has
// returned from its ShardFunc. A worker that dies is replaced within TTL and a
// beat; one that leaves, at once. A worker alone takes all shards at once, and
// one that comes back under the same ID takes over from its former self
// without waiting.
type Owner struct {
	b    *Bus
	o    OwnerOptions
	key  string
	me   beat
	log  *zap.Logger
	kick chan struct{} // something changed: look again

	mu      sync.Mutex
	peers   map[string]*peer  // by worker id, without this one
	revs    map[string]uint64 // newest record read, by subject
	running map[int]context.CancelFunc
	leaving map[int]bool // running, and told to end for another worker
	beaten  time.Time    // of the last heartbeat that was stored
	steady  time.Time    // heartbeats have been stored without a break since
	beats   int          // stored and read since the start
	started bool         // the peers were read once
	rival   bool         // a younger process bears this worker's id
}

// NewOwner validates the options and does no I/O.
func (b *Bus) NewOwner(o OwnerOptions) (*Owner, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("owner: %w", err)
	}
	return &Owner{
		b: b, o: o, key: b.names.OwnerKey(o.Group, o.ID),
		me:    beat{ID: o.ID, Inc: nuid.Next(), Born: time.Now().UnixNano()},
		log:   b.log.With(zap.String("svc", o.Group), zap.String("worker", o.ID)),
		peers: map[string]*peer{}, revs: map[string]uint64{}, running: map[int]context.CancelFunc{}, leaving: map[int]bool{},
		kick: make(chan struct{}, 1),
	}, nil
}

// Holds is how many shards this worker works on now.
func (w *Owner) Holds() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.running)
}

// Workers is how many live workers the group has, this one included.
func (w *Owner) Workers() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.live(time.Now())) + 1
}

// Beats counts the heartbeats that were stored.
func (w *Owner) Beats() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.beats
}

// Run works until ctx ends, which is nil. Its error is a ShardFunc's that stops
// the owner, or an ErrFenced when a younger process bears the same ID. All
// ShardFuncs have returned when it does, and the other workers have been told.
func (w *Owner) Run(ctx context.Context, work ShardFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failure error
	var once sync.Once
	fail := func(err error) {
		once.Do(func() { failure = err })
		cancel()
	}
	sub, err := w.b.nc.Subscribe(w.b.names.OwnerSubject(w.b.names.OwnerKeys(w.o.Group)), w.onBeat)
	if err != nil {
		return fmt.Errorf("own shards: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()

	var wg sync.WaitGroup
	w.loop(ctx, fail, func(shard int) {
		sctx, stop := context.WithCancel(ctx)
		w.running[shard] = stop
		wg.Go(func() {
			defer stop()
			w.keep(sctx, shard, work, fail)
			w.mu.Lock()
			delete(w.running, shard)
			delete(w.leaving, shard)
			w.mu.Unlock()
			w.wake()
		})
	})
	wg.Wait()
	w.leave(context.WithoutCancel(ctx))
	once.Do(func() {})
	if failure != nil {
		return fmt.Errorf("own shards: %w", failure)
	}
	return nil
}

// loop beats and rebalances until ctx ends, then beats until no ShardFunc
// runs: one that drains still holds its shard.
func (w *Owner) loop(ctx context.Context, fail func(error), start func(shard int)) {
	tick := time.NewTicker(w.o.Beat)
	defer tick.Stop()
	done := ctx.Done()
	for {
		w.heartbeat(context.WithoutCancel(ctx))
		if w.hasRival() {
			fail(fmt.Errorf("%w: another process bears the id of this worker", ErrFenced))
		}
		if ctx.Err() != nil {
			done = nil
			if w.Holds() == 0 {
				return
			}
		} else if w.rebalance(start) {
			w.wake() // and tell the others at once
		}
		select {
		case <-done:
		case <-tick.C:
		case <-w.kick:
		}
	}
}

// keep calls work until ctx ends.
func (w *Owner) keep(ctx context.Context, shard int, work ShardFunc, fatal func(error)) {
	for delay := 10 * firstDelay; ; delay = min(2*delay, 5*time.Second) {
		began := time.Now()
		err := work(ctx, shard)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, ErrFatal) || errors.Is(err, ErrMismatch) || errors.Is(err, ErrClosed) {
			fatal(fmt.Errorf("shard %d: %w", shard, err))
			return
		}
		w.log.Warn("work on a shard ended early", zap.Int("shard", shard), zap.NamedError("err", err))
		if time.Since(began) > 10*w.o.TTL {
			delay = 10 * firstDelay
		}
		if wait.For(ctx, delay) != nil {
			return
		}
	}
}

func (w *Owner) wake() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// rebalance starts work on what is this worker's and free, and ends it on what
// is not. It tells whether it started any.
func (w *Owner) rebalance(start func(shard int)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.started {
		return false
	}
	alive := w.live(time.Now())
	workers := []string{w.o.ID}
	held := map[int]bool{}
	for id, p := range alive {
		workers = append(workers, id)
		for _, s := range p.beat.Holds {
			held[s] = true
		}
	}
	mine := map[int]bool{}
	for _, s := range assign(w.b.Shards(), workers)[w.o.ID] {
		mine[s] = true
	}
	for s, stop := range w.running {
		if !mine[s] && !w.leaving[s] {
			w.leaving[s] = true
			w.log.Info("giving a shard up to another worker", zap.Int("shard", s), zap.Int("workers", len(workers)))
			stop()
		}
	}
	began := false
	for s := range w.b.Shards() {
		if mine[s] && !held[s] && w.running[s] == nil {
			start(s)
			began = true
		}
	}
	return began
}
