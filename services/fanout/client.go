package fanout

import (
	"context"
	"sync"
	"time"

	"github.com/agwire/agwire/internal/bus"
)

// sink is a connection, as far as it is written to. One goroutine at a time uses it, but for cut.
type sink interface {
	// send writes, and fails when the client takes nothing for too long.
	send(p []byte) error
	// end says why the connection ends, where that can be said, and ends it.
	end(code int, reason string)
	// cut ends the connection at once.
	cut()
}

// message is what one turn of a subscription writes.
type message struct {
	parts  [2][]byte // shared: not to be changed
	cost   int64     // counted as pending while it waits
	events int
	reset  string    // reason of the reset it begins with
	stored time.Time // when the log took its newest event, if nobody was given it before
}

func (m *message) size() int64 { return int64(len(m.parts[0]) + len(m.parts[1])) }

// Bounds of one client.
const (
	maxControl = 32 // answers that wait; then its requests do
	maxFetches = 2  // fetches at once
)

// ending is why a connection ends.
type ending struct {
	code   int
	reason string
	last   []byte // written before the end; nil = nothing
}

// client is one connection.
type client struct {
	s      *Service
	wire   wire
	sink   sink
	slot   int                         // of the heartbeats' round
	spawn  func(func(context.Context)) // in a goroutine that shut waits for; only while locked and not closed
	cancel context.CancelFunc
	wg     sync.WaitGroup
	ended  chan struct{} // closed when the connection was ended from here
	once   sync.Once     // its end is counted

	mu       sync.Mutex
	room     sync.Cond // for answers
	subs     map[string]*sub
	control  [][]byte // answers and heartbeats; they go first
	ready    []*sub   // subscriptions that have something to write, in turn
	fetches  []*sub   // subscriptions that have something to fetch, in turn
	fetching int
	pending  int64 // bytes that wait
	inflight int64 // bytes that are being written
	writing  bool
	beating  bool // a heartbeat waits
	stuck    bool // a write made no progress for too long
	seen     time.Time
	leave    *ending
	closed   bool
}

func newClient(ctx context.Context, s *Service, w wire) *client {
	c := &client{s: s, wire: w, ended: make(chan struct{}), subs: map[string]*sub{}, seen: time.Now()}
	c.room.L = &c.mu
	ctx, c.cancel = context.WithCancel(ctx)
	c.spawn = func(f func(context.Context)) { c.wg.Go(func() { f(ctx) }) }
	return c
}

// subscribe follows a thread, in place of what the client has of it already.
func (c *client) subscribe(ctx context.Context, thread string, from place) {
	r := c.s.enter(ctx, thread) // before the room is left that may be the same
	c.drop(thread)
	s := &sub{c: c, r: r, from: from, state: over}
	r.mu.Lock()
	s.set(resolving)
	r.subs[s] = struct{}{}
	c.mu.Lock()
	c.subs[thread] = s
	c.want(s)
	c.mu.Unlock()
	r.mu.Unlock()
	c.s.m.subscriptions.Inc()
}

// drop ends the subscription to a thread, if there is one. If it was not answered yet, it is now.
func (c *client) drop(thread string) {
	c.mu.Lock()
	s := c.subs[thread]
	c.mu.Unlock()
	if s == nil {
		return
	}
	s.r.mu.Lock()
	c.mu.Lock()
	if c.remove(s) && !s.answered {
		c.reply(encodeAnswer("unsubscribed", s.r.name, nil))
	}
	c.mu.Unlock()
	s.r.mu.Unlock()
	c.s.exit(s.r)
}

// remove ends a subscription; false if it has ended. Its room and the client are locked. The room is to be left then.
func (c *client) remove(s *sub) bool {
	if s.state == over {
		return false
	}
	s.set(over)
	s.forget()
	delete(s.r.subs, s)
	if c.subs[s.r.thread] == s {
		delete(c.subs, s.r.thread)
	}
	c.s.m.subscriptions.Dec()
	return true
}

// fail ends a subscription to a thread that cannot be read. Its room and the client are locked.
func (c *client) fail(s *sub) {
	const code = "unreadable"
	c.s.m.refused.WithLabelValues(code).Inc()
	data := c.wire.encodeError(s.r.thread, code, "the thread's log cannot be read from its start, and there is no snapshot of it")
	c.remove(s)
	c.spawn(func(context.Context) { c.s.exit(s.r) })
	if c.wire == webSocket {
		c.reply(data)
	} else if c.endLocked(closeNormal, ""); c.leave != nil {
		c.leave.last = data
	}
}

// answer tells that a subscription stands. Its room and the client are locked.
func (c *client) answer(s *sub, f found) {
	s.answered = true
	at := bus.Cursor{Epoch: s.r.epoch, Ordinal: s.r.tail}
	if s.from.name == fromLive {
		at = f.at
	}
	if c.wire == webSocket {
		c.reply(encodeAnswer("subscribed", s.r.name, &at))
	}
}

// prime tells an event stream that begins without a message where it begins, once. Its room and the client are locked.
func (c *client) prime(s *sub, f found) {
	if c.wire == webSocket || s.primed || f.state == joining {
		return
	}
	s.primed = true
	if f.out == nil {
		c.reply(encodePrime(f.at))
	}
}

// reply queues an answer; they keep their order. The client is locked.
func (c *client) reply(data []byte) {
	if c.closed || c.leave != nil {
		return
	}
	c.control = append(c.control, data)
	c.pending += int64(len(data))
	c.kick()
}

// waitRoom waits until there is room for another answer; false if the connection ends.
func (c *client) waitRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.control) >= maxControl && !c.closed && c.leave == nil {
		c.room.Wait()
	}
	return !c.closed && c.leave == nil
}

// lag counts bytes of the room that wait for a subscription now, and gives it a turn. The room is locked.
func (c *client) lag(s *sub, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.dropped || c.closed {
		return
	}
	limit := c.s.cfg.Queue
	for c.pending+c.inflight+min(size, limit/2) > limit {
		v := c.largest()
		if v == nil {
			break
		}
		c.pending -= v.lagging
		v.lagging = 0
		c.letGo(v)
		if v == s {
			return
		}
	}
	s.lagging += size
	c.pending += size
	c.push(s)
}

// letGo has a subscription start anew, once what is being written is. The client is locked.
func (c *client) letGo(s *sub) {
	s.dropped = true
	c.s.m.drops.Inc()
	c.push(s)
}

// giveUp drops what a subscription that reads the log is behind: more comes than it takes. The room is locked.
func (c *client) giveUp(s *sub) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !s.dropped && !c.closed {
		c.letGo(s)
	}
}

// largest is the subscription for which most waits, nil if nothing does.
func (c *client) largest() *sub {
	var v *sub
	for _, s := range c.subs {
		if s.lagging > 0 && (v == nil || s.lagging > v.lagging) {
			v = s
		}
	}
	return v
}

// push gives a subscription a turn to write. The client is locked, here and below.
func (c *client) push(s *sub) {
	if !s.queued {
		s.queued = true
		c.ready = append(c.ready, s)
	}
	c.kick()
}

// kick has what waits written.
func (c *client) kick() {
	if !c.writing && !c.closed {
		c.writing = true
		c.spawn(c.write)
	}
}

// want gives a subscription a turn to fetch; if something fetched waits already, once that is taken.
func (c *client) want(s *sub) {
	switch {
	case s.wanted || s.fetching || s.state == over:
	case s.out != nil:
		s.more = true
	default:
		s.wanted = true
		c.fetches = append(c.fetches, s)
		c.pump()
	}
}

// pump begins fetches, a few at once and only while not much waits.
func (c *client) pump() {
	for len(c.fetches) > 0 && c.fetching < maxFetches && c.pending+c.inflight <= c.s.cfg.Queue/2 && !c.closed && c.leave == nil {
		s := c.fetches[0]
		c.fetches[0] = nil
		c.fetches = c.fetches[1:]
		s.wanted, s.fetching = false, true
		c.fetching++
		c.spawn(s.fetch)
	}
}

// finish ends the connection from here: what waits is dropped, the cursors of the client stand.
func (c *client) finish(code int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(code, reason)
}

func (c *client) endLocked(code int, reason string) {
	if c.leave != nil || c.closed {
		return
	}
	c.leave = &ending{code: code, reason: reason}
	c.room.Broadcast()
	c.kick()
}

// shut ends everything of the connection, which is over, and waits for it.
func (c *client) shut() {
	c.mu.Lock()
	c.closed = true
	c.room.Broadcast()
	subs := make([]*sub, 0, len(c.subs))
	for _, s := range c.subs {
		subs = append(subs, s)
	}
	c.mu.Unlock()
	c.cancel()
	for _, s := range subs {
		s.r.mu.Lock()
		c.mu.Lock()
		mine := c.remove(s)
		c.mu.Unlock()
		s.r.mu.Unlock()
		if mine {
			c.s.exit(s.r)
		}
	}
	c.wg.Wait()
}
