package fanout

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
)

// room is a thread that has clients. Locks are taken in the order: room's, client's.
type room struct {
	s      *Service
	thread string
	name   []byte // the thread as messages spell it
	users  int    // subscriptions; guarded by the service's lock

	spawn  func(func(context.Context)) // in a goroutine that close waits for
	cancel context.CancelFunc
	wg     sync.WaitGroup

	attaching sync.Mutex
	attached  bool // guarded by attaching

	mu     sync.Mutex
	closed bool
	live   *bus.Live
	subs   map[*sub]struct{}
	behind int // subscriptions that are not at the newest messages

	// Where the log stands, as far as it is here whole; known once attached.
	known bool
	epoch bus.Epoch // zero = the log has nothing
	tail  int64     // last ordinal; -1 = none
	seq   uint64    // stream sequence of the last message
	open  bool      // a turn is open
	heard bool      // something came since the last heartbeat

	// The newest messages, without holes up to tail.
	ring    []*entry
	size    int64 // their bytes
	total   int64 // bytes ever in the ring
	trimAt  int64 // size at which what every client has is let go
	batches [wires][]*batch

	// Live messages that wait until what is before them is read.
	waiting   []bus.EventMessage
	waitBytes int64
	syncing   bool
	again     bool // messages were lost or let go since the log was asked for its head

	pairs pairCache
}

// keepBatches is how many encoded messages a room remembers of each wire.
const keepBatches = 8

// trimStep is the least size at which a room looks for messages that every client has.
const trimStep = 32 << 10

func newRoom(ctx context.Context, s *Service, thread string) *room {
	r := &room{s: s, thread: thread, name: name(thread), subs: map[*sub]struct{}{}, tail: -1, trimAt: trimStep, pairs: pairCache{turn: make(chan struct{}, 1)}}
	ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.spawn = func(f func(context.Context)) { r.wg.Go(func() { f(ctx) }) }
	return r
}

// attach makes the room follow its thread: it subscribes, then asks for the head. It may be called again.
func (r *room) attach(ctx context.Context) error {
	r.attaching.Lock()
	defer r.attaching.Unlock()
	if r.attached {
		return nil
	}
	r.mu.Lock()
	live := r.live
	r.mu.Unlock()
	if live == nil {
		var err error
		live, err = r.s.deps.Bus.SubscribeLive(r.thread, bus.LiveHandler{Event: r.event, Loss: r.loss})
		if err != nil {
			return err
		}
		r.mu.Lock()
		r.live = live
		gone := r.closed
		r.mu.Unlock()
		if gone {
			live.Close()
			return context.Canceled
		}
	}
	at, err := r.s.head(ctx, r.thread)
	if err != nil && !errors.Is(err, bus.ErrNotFound) {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = true
	if err == nil {
		r.epoch, r.tail, r.seq = at.Epoch, at.Last(), at.StreamSeq
	}
	r.attached = true
	if len(r.waiting) > 0 || r.again {
		r.sync()
	}
	return nil
}

// close ends the room; nobody uses it any more.
func (r *room) close() {
	r.mu.Lock()
	r.closed = true
	live := r.live
	r.mu.Unlock()
	if live != nil {
		live.Close()
	}
	r.cancel()
	r.wg.Wait()
}

// event takes a live message.
func (r *room) event(m bus.EventMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
	case !r.known || r.syncing:
		r.wait(m)
	case !r.apply(&m):
		r.s.m.losses.WithLabelValues(bus.LossGap.String()).Inc()
		r.wait(m)
		r.sync()
	}
}

// wait keeps a message until what is before it is read. What is too much is let go: it is in the log.
func (r *room) wait(m bus.EventMessage) {
	if r.waitBytes += int64(len(m.Body)); r.waitBytes > r.s.cfg.Keep {
		r.forgetWaiting()
		r.again = true
		return
	}
	r.waiting = append(r.waiting, m)
}

func (r *room) forgetWaiting() { r.waiting, r.waitBytes = nil, 0 }

// loss is told when live messages may be missing with none to show it.
func (r *room) loss(loss bus.Loss, _ string) {
	if loss == bus.LossGap {
		return // the message that follows shows it
	}
	r.s.m.losses.WithLabelValues(loss.String()).Inc()
	r.check()
}

// check asks the log for its head, and reads what is missing here.
func (r *room) check() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.again = true
	if r.known {
		r.sync()
	}
}

// apply takes the message if it goes on from the tail, begins an epoch, or is known already; false says that something is
// missing before it. The room is locked, here and below.
func (r *room) apply(m *bus.EventMessage) bool {
	if m.Err != nil {
		r.s.deps.Log.Warn("a message of the log cannot be read", zap.String("thread", r.thread), zap.Uint64("seq", m.StreamSeq), zap.Error(m.Err))
		return false
	}
	switch c := m.Epoch.Compare(r.epoch); {
	case c < 0, c > 0 && !m.Starts():
		return false
	case c > 0:
		r.begin(m.Epoch)
	case m.First > r.tail+1:
		return false
	}
	if m.Last() <= r.tail {
		if m.Last() == r.tail {
			r.seq = max(r.seq, m.StreamSeq)
		}
		return true
	}
	e, err := newEntry(m)
	if err != nil {
		r.s.deps.Log.Error("a message of the log has another number of events than it says", zap.String("thread", r.thread),
			zap.Uint64("seq", m.StreamSeq), zap.Error(err))
		return false
	}
	r.append(e)
	return true
}

// begin goes over to a newer epoch, of which nothing is here yet.
func (r *room) begin(epoch bus.Epoch) {
	first := r.epoch.IsZero()
	r.epoch, r.tail = epoch, -1
	r.empty()
	for s := range r.subs {
		switch {
		case s.state == joining && s.least >= 0:
			s.reset(reasonEpoch, -1) // what it waits for is of the epoch before
		case s.state == resolving || s.state == joining || s.at.Epoch == epoch:
		case first && s.at.Epoch.IsZero():
			s.at = bus.Cursor{Epoch: epoch, Ordinal: -1}
		default:
			s.reset(reasonEpoch, -1)
		}
	}
}

// jump goes on behind a hole that the log cannot fill: at the ordinal next of an epoch.
func (r *room) jump(epoch bus.Epoch, next int64, reason string) {
	fresh := epoch != r.epoch
	if fresh {
		reason = reasonEpoch
	}
	r.epoch, r.tail = epoch, next-1
	r.empty()
	for s := range r.subs {
		if fresh && s.state == joining && s.least >= 0 {
			s.reset(reason, next-1)
			continue
		}
		known := s.at.Epoch == epoch && s.at.Ordinal >= next-1
		if s.state == live && !known || s.state == replaying && s.at.Epoch != epoch {
			s.reset(reason, next-1)
		}
	}
}

// empty lets go of the newest messages and of what was made of them.
func (r *room) empty() {
	r.ring, r.size = nil, 0
	r.batches = [wires][]*batch{}
}

// append adds a message at the tail.
func (r *room) append(e *entry) {
	r.heard = true
	r.total += e.size()
	e.total = r.total
	r.ring = append(r.ring, e)
	r.size += e.size()
	r.tail, r.seq = e.last, e.seq
	r.trim()
	for s := range r.subs {
		switch {
		case s.state == live && s.at.Ordinal < e.last:
			s.c.lag(s, e.size())
		case s.state == replaying && r.total-s.taken > r.s.cfg.Queue:
			s.c.giveUp(s)
		}
	}
}

// trim keeps the ring small: within Keep, and without what every client has.
func (r *room) trim() {
	drop := 0
	for size := r.size; size > r.s.cfg.Keep && drop < len(r.ring)-1; drop++ {
		size -= r.ring[drop].size()
	}
	look := r.size > r.trimAt && r.behind == 0
	if look {
		drop = max(drop, r.had())
	}
	r.drop(drop)
	if look {
		r.trimAt = max(trimStep, 2*r.size)
	}
}

// had is how many of the oldest messages every client has.
func (r *room) had() int {
	least := r.tail
	for s := range r.subs {
		least = min(least, s.at.Ordinal)
	}
	n := 0
	for n < len(r.ring) && r.ring[n].last <= least {
		n++
	}
	return n
}

func (r *room) drop(n int) {
	for _, e := range r.ring[:n] {
		r.size -= e.size()
	}
	clear(r.ring[:n])
	r.ring = r.ring[n:]
}

// rest lets go of what nobody needs, if nothing has come since the last rest.
func (r *room) rest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.heard && r.behind == 0 {
		r.drop(r.had())
		if len(r.ring) == 0 {
			r.ring = nil
		}
		r.batches = [wires][]*batch{}
	}
	r.heard = false
}

// after is the place in the ring of the message that holds the ordinal behind a place; false if the ring begins later, or
// there is none yet.
func (r *room) after(ordinal int64) (int, bool) {
	if len(r.ring) == 0 || ordinal+1 < r.ring[0].first || ordinal >= r.tail {
		return 0, false
	}
	i, _ := slices.BinarySearchFunc(r.ring, ordinal+1, func(e *entry, n int64) int {
		if e.last < n {
			return -1
		}
		return 1
	})
	return i, i < len(r.ring)
}

// batch is the next message for who has come to an ordinal, which the ring goes on from. Those who stand at one place get one
// message, if it is worth it: so they stay together.
func (r *room) batch(w wire, i int, ordinal int64) *batch {
	entries := r.ring[i:]
	entries = entries[:upTo(entries, r.s.cfg.Chunk)]
	ready := entries[len(entries)-1].total - entries[0].total + entries[0].size()
	list := r.batches[w]
	for k, b := range list {
		if b.from == ordinal+1 {
			if 2*b.size >= ready {
				return b
			}
			list = slices.Delete(list, k, k+1)
			break
		}
	}
	b := newBatch(w, r.name, r.epoch, entries, ordinal+1)
	r.s.m.encoded.Add(float64(len(b.data)))
	if len(list) == keepBatches {
		list = slices.Delete(list, 0, 1)
	}
	r.batches[w] = append(list, b)
	return b
}
