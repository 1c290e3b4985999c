package fanout

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/threads"
)

// slots is how many parts the heartbeats of all clients are spread over.
const slots = 16

// headsAtOnce is how many heads are asked for at once.
const headsAtOnce = 16

// missedBeats is after how many heartbeats without a sign of life a WebSocket is closed.
const missedBeats = 3

// rounds calls part for each slot in turn, once a heartbeat each, until ctx ends.
func (s *Service) rounds(ctx context.Context, part func(ctx context.Context, slot int)) error {
	tick := time.NewTicker(s.cfg.Heartbeat / slots)
	defer tick.Stop()
	for slot := 0; ; slot = (slot + 1) % slots {
		part(ctx, slot)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// beat sends the heartbeats of a slot's clients.
func (s *Service) beat(_ context.Context, slot int) {
	s.mu.Lock()
	var list []*client
	for c := range s.clients {
		if c.slot == slot {
			list = append(list, c)
		}
	}
	all := len(s.clients)
	s.mu.Unlock()
	pending := int64(0)
	for _, c := range list {
		pending += c.beat()
	}
	if len(list) > 0 {
		s.m.pending.Set(float64(pending) * float64(all) / float64(len(list)))
	} else if all == 0 {
		s.m.pending.Set(0)
	}
}

// beat sends a heartbeat, unless the last one still waits, and says how much waits.
func (c *client) beat() int64 {
	c.mu.Lock()
	pending := c.pending + c.inflight
	silent := c.wire == webSocket && time.Since(c.seen) > missedBeats*c.s.cfg.Heartbeat
	skip := c.beating || c.closed || c.leave != nil
	subs := make([]*sub, 0, len(c.subs))
	for _, s := range c.subs {
		if s.answered {
			subs = append(subs, s)
		}
	}
	busy := c.inflight > 0
	c.mu.Unlock()
	switch {
	case silent && busy: // it takes nothing either: there is no way to say so
		c.count(closeSilent)
		c.sink.cut()
		return pending
	case silent:
		c.finish(closeSilent, "no sign of life: come back with your cursors")
		return pending
	case skip:
		return pending
	}
	heads := make([]head, 0, len(subs))
	for _, s := range subs {
		heads = append(heads, s.head())
	}
	data := c.wire.encodeHeartbeat(heads)
	if c.wire == webSocket {
		data = append(data, pingFrame()...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beating = true
	c.reply(data)
	return pending
}

// head is what a heartbeat says of the subscription's thread: the head of the log, as far as it is known here.
func (s *sub) head() head {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	h := head{name: s.r.name, at: bus.Cursor{Epoch: s.r.epoch, Ordinal: s.r.tail}, open: s.r.open}
	if c := s.at.Epoch.Compare(h.at.Epoch); s.state == live && (c > 0 || c == 0 && s.at.Ordinal > h.at.Ordinal) {
		h.at = s.at
	}
	return h
}

// look asks the log for the heads of a slot's rooms, since a lost last message has no successor to show it, and the store
// whether turns are open.
func (s *Service) look(ctx context.Context, slot int) {
	s.mu.Lock()
	var list []*room
	for _, r := range s.rooms {
		if r.slot() == slot {
			list = append(list, r)
		}
	}
	s.mu.Unlock()
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Heartbeat)
	defer cancel()
	var g errgroup.Group
	g.SetLimit(headsAtOnce)
	g.Go(func() error { s.turns(ctx, list); return nil })
	for _, r := range list {
		r.rest()
		g.Go(func() error {
			switch at, err := s.deps.Bus.Head(ctx, r.thread); {
			case err == nil:
				r.heardHead(at)
			case !errors.Is(err, bus.ErrNotFound) && ctx.Err() == nil:
				s.retried("head", err)
			}
			return nil
		})
	}
	_ = g.Wait() // none of them fails
}

// slot is the part of the rounds that the room has: by its name, so that it stays.
func (r *room) slot() int {
	n := uint32(2166136261)
	for i := range len(r.thread) {
		n = (n ^ uint32(r.thread[i])) * 16777619
	}
	return int(n % slots)
}

// turns asks the store whether turns are open in rooms. What it knows only of an earlier place in the log stays as it was; what
// it does not keep, which may have been long ago, is not said to be open.
func (s *Service) turns(ctx context.Context, list []*room) {
	if s.deps.Store == nil {
		return
	}
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = r.thread
	}
	all, err := s.deps.Store.Positions(ctx, names)
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			s.redis(err)
			s.retried("positions", err)
		}
		return
	}
	s.redis(nil)
	for _, r := range list {
		at, ok := all[r.thread]
		r.mu.Lock()
		if !ok || threads.EpochOf(at.Version) == r.epoch && at.Ordinal >= r.tail {
			r.open = at.OpenTurn
		}
		r.mu.Unlock()
	}
}
