package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"go.uber.org/zap"
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
// returns before that is called again after a delay, unless its error is of
// ErrFatal, which stops the owner.
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
	b   *Bus
	o   OwnerOptions
	key string
	inc string

	mu      sync.Mutex
	peers   map[string]*peer // by worker id, without this one
	running map[int]*shardRun
	beaten  time.Time // of the last heartbeat that was stored
	steady  time.Time // heartbeats have been stored without a break since
	started bool      // the peers were read once
	leaving bool
	kick    chan struct{} // something changed: look again
}

// beat is the record of one worker in the bucket.
type beat struct {
	ID    string `json:"id"`
	Inc   string `json:"inc"` // of the process that bears the id
	Gone  bool   `json:"gone,omitempty"`
	Holds []int  `json:"holds"`
}

// peer is another worker as it was last heard of.
type peer struct {
	beat beat
	seen time.Time // here, by this process's clock
	rev  uint64
}

// shardRun is a ShardFunc that runs.
type shardRun struct{ cancel context.CancelFunc }

// NewOwner validates the options and does no I/O.
func (b *Bus) NewOwner(o OwnerOptions) (*Owner, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("owner: %w", err)
	}
	return &Owner{
		b: b, o: o, key: b.names.OwnerKey(o.Group, o.ID), inc: nuid.Next(),
		peers: map[string]*peer{}, running: map[int]*shardRun{}, kick: make(chan struct{}, 1),
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

// Run works until ctx ends, which is nil, or a ShardFunc's error is fatal, which
// is returned. All ShardFuncs have returned when it does, and the other
// workers have been told.
func (w *Owner) Run(ctx context.Context, work ShardFunc) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sub, err := w.b.nc.Subscribe(w.b.names.OwnerSubject(w.b.names.OwnerKeys(w.o.Group)), w.onBeat)
	if err != nil {
		return fmt.Errorf("own shards: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()

	var wg sync.WaitGroup
	// Peers are told of a change of hands at the next beat, and of what a
	// ShardFunc gave up at once, by the loop below.
	start := func(shard int) {
		sctx, stop := context.WithCancel(ctx)
		w.running[shard] = &shardRun{cancel: stop}
		wg.Go(func() {
			defer stop()
			w.keep(sctx, shard, work, cancel)
			w.mu.Lock()
			delete(w.running, shard)
			w.mu.Unlock()
			w.wake()
		})
	}
	w.loop(ctx, start)
	wg.Wait()
	w.leave()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("own shards: %w", err)
	}
	return nil
}

// loop beats and rebalances until ctx ends.
func (w *Owner) loop(ctx context.Context, start func(shard int)) {
	tick := time.NewTicker(w.o.Beat)
	defer tick.Stop()
	for {
		w.heartbeat(ctx)
		w.rebalance(ctx, start)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-w.kick:
		}
	}
}

// keep calls work until ctx ends.
func (w *Owner) keep(ctx context.Context, shard int, work ShardFunc, fatal context.CancelCauseFunc) {
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
		w.b.log.Warn("work on a shard ended early", zap.String("group", w.o.Group), zap.Int("shard", shard), zap.Error(err))
		if time.Since(began) > 10*w.o.TTL {
			delay = 10 * firstDelay
		}
		if pause(ctx, delay) != nil {
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

// heartbeat stores this worker's record, and reads the others': what was
// missed of their notices is seen within a beat.
func (w *Owner) heartbeat(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.o.Beat)
	defer cancel()
	if err := w.store(ctx, false); err != nil {
		if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
			w.b.log.Debug("heartbeat", zap.String("group", w.o.Group), zap.Error(err))
		}
		return
	}
	if err := w.read(ctx); err != nil {
		w.b.log.Debug("read heartbeats", zap.String("group", w.o.Group), zap.Error(err))
		return
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.beaten) > w.o.TTL {
		w.steady = now
	}
	w.beaten = now
}

func (w *Owner) store(ctx context.Context, gone bool) error {
	w.mu.Lock()
	r := beat{ID: w.o.ID, Inc: w.inc, Gone: gone, Holds: make([]int, 0, len(w.running))}
	for s := range w.running {
		r.Holds = append(r.Holds, s)
	}
	w.mu.Unlock()
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.b.publish(ctx, []*nats.Msg{{Subject: w.b.names.OwnerSubject(w.key), Header: nats.Header{}, Data: body}})
	return err
}

// leave tells the others that this worker is gone.
func (w *Owner) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), w.b.opts.Timeout)
	defer cancel()
	if err := w.store(ctx, true); err != nil {
		w.b.log.Debug("last heartbeat", zap.String("group", w.o.Group), zap.Error(err))
	}
}

// onBeat takes a record as another worker publishes it.
func (w *Owner) onBeat(m *nats.Msg) {
	if w.take(m.Data, 0, false) {
		w.wake()
	}
}

// take remembers a record; it tells whether it changes who works on what.
func (w *Owner) take(body []byte, age time.Duration, first bool) bool {
	var r beat
	if json.Unmarshal(body, &r) != nil || r.ID == "" || r.ID == w.o.ID {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.peers[r.ID]
	if r.Gone {
		delete(w.peers, r.ID)
		return p != nil
	}
	if first && age > w.o.TTL {
		return false
	}
	now := time.Now()
	if p == nil {
		w.peers[r.ID] = &peer{beat: r, seen: now}
		return true
	}
	changed := p.beat.Inc != r.Inc || len(p.beat.Holds) != len(r.Holds)
	p.beat, p.seen = r, now
	return changed
}

// read takes the stored records. On the first read a record's age is by the
// broker's clock, so that workers long dead do not count; later only a record
// that is newer than the last one counts as a sign of life.
func (w *Owner) read(ctx context.Context) error {
	stream := w.b.names.OwnersStream()
	w.mu.Lock()
	first := !w.started
	w.mu.Unlock()
	var now time.Time
	recs := map[string]stored{}
	err := w.b.scanBatch(ctx, stream, getRequest{NextFor: w.b.names.OwnerSubject(w.b.names.OwnerKeys(w.o.Group)), Seq: 1, Batch: 1000}, func(m stored) error {
		recs[m.subject] = m
		if m.time.After(now) {
			now = m.time
		}
		return nil
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	for _, m := range recs {
		w.mu.Lock()
		var r beat
		known := json.Unmarshal(m.data, &r) == nil && w.peers[r.ID] != nil && w.peers[r.ID].rev >= m.seq
		w.mu.Unlock()
		if known {
			continue
		}
		w.take(m.data, now.Sub(m.time), first)
		w.mu.Lock()
		if p := w.peers[r.ID]; p != nil {
			p.rev = m.seq
		}
		w.mu.Unlock()
	}
	w.mu.Lock()
	w.started = true
	w.mu.Unlock()
	return nil
}

// live is the peers that count as alive. While one's own heartbeats fail, and
// for a TTL after that, nobody is declared dead: it was the broker that was away.
func (w *Owner) live(now time.Time) map[string]*peer {
	alive := make(map[string]*peer, len(w.peers))
	grace := now.Sub(w.beaten) > w.o.TTL || now.Sub(w.steady) <= w.o.TTL
	for id, p := range w.peers {
		if grace || now.Sub(p.seen) <= w.o.TTL {
			alive[id] = p
		}
	}
	return alive
}

// rebalance starts work on what is this worker's and free, and ends it on what
// is not.
func (w *Owner) rebalance(ctx context.Context, start func(shard int)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.started || ctx.Err() != nil {
		return
	}
	now := time.Now()
	alive := w.live(now)
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
	for s, r := range w.running {
		if !mine[s] {
			r.cancel()
		}
	}
	for s := range w.b.Shards() {
		if mine[s] && !held[s] && w.running[s] == nil {
			start(s)
		}
	}
	for id, p := range w.peers {
		if alive[id] == nil && now.Sub(p.seen) > 10*w.o.TTL {
			delete(w.peers, id)
		}
	}
}
