package fanout

import (
	"github.com/agwire/agwire/internal/bus"
)

// state is where a subscription stands.
type state uint8

const (
	resolving state = iota // where it begins is being found out
	joining                // it starts anew, and waits for the pair
	replaying              // it is behind what the room keeps, and reads the log
	live                   // it takes what the room has
	over                   // it has ended
)

// sub is one client's subscription to one thread.
type sub struct {
	c    *client
	r    *room
	from place

	// Guarded by the room's lock.
	state  state
	at     bus.Cursor // the last event that was given to the connection; the zero epoch = none yet
	next   uint64     // stream sequence from which the log is read for what follows
	reason string     // while joining: of the reset that comes with the pair
	least  int64      // while joining: ordinal that the pair must reach, since the log does not go on before it
	lost   bool       // while joining: the log has nothing, so that only the pair can tell what from.at is worth
	gen    int        // what was being fetched for an older one is void
	taken  int64      // while replaying: bytes of the room up to what it has, not counting what it began behind

	// Guarded by the client's lock.
	answered bool
	primed   bool     // an event stream was told where it begins
	lagging  int64    // bytes of the room that wait for it
	dropped  bool     // too much waits: it is to start anew
	queued   bool     // it stands in the line of those who have something to write
	wanted   bool     // it stands in the line of those who have something to fetch
	fetching bool     // a fetch is under way
	more     bool     // there is more to fetch once out is taken
	out      *message // what was fetched
	stop     func()   // ends the fetch that is under way
}

// set changes the state. The room is locked.
func (s *sub) set(st state) {
	was, is := s.state == live || s.state == over, st == live || st == over
	if was && !is {
		s.r.behind++
	} else if !was && is {
		s.r.behind--
	}
	s.state = st
}

// reset has the subscription start anew, from a pair that reaches an ordinal; -1 is any. The room is locked.
func (s *sub) reset(reason string, least int64) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.resetLocked(reason, least)
}

// resetLocked is reset with the client locked too.
func (s *sub) resetLocked(reason string, least int64) {
	s.gen++
	s.reason, s.least, s.lost = reason, least, false
	s.set(joining)
	s.forget()
	s.c.want(s)
}

// forget lets go of what waits for the client, and of what is being fetched. The client is locked.
func (s *sub) forget() {
	s.c.pending -= s.lagging
	s.lagging, s.dropped, s.more = 0, false, false
	if s.out != nil {
		s.c.pending -= s.out.cost
		s.out = nil
	}
	if s.stop != nil {
		s.stop()
	}
}

// settle finds out how the subscription goes on from its place. Both are locked.
func (s *sub) settle() {
	r := s.r
	if s.at.Epoch.IsZero() && !r.epoch.IsZero() {
		s.at, s.next = bus.Cursor{Epoch: r.epoch, Ordinal: -1}, r.epoch.Seq
	}
	lag := int64(0)
	switch c := s.at.Epoch.Compare(r.epoch); {
	case c < 0:
		s.resetLocked(reasonEpoch, -1)
		return
	case c > 0:
		// Redis or another server of our kind knew sooner.
		r.again = true
		r.sync()
	case s.at.Ordinal < r.tail:
		i, ok := r.after(s.at.Ordinal)
		if !ok {
			switch s.state {
			case live:
				s.taken = r.total - s.lagging
			case replaying:
			default:
				s.taken = r.total
			}
			s.set(replaying)
			s.c.pending -= s.lagging
			s.lagging = 0
			s.c.want(s)
			return
		}
		lag = r.total - r.ring[i].total + r.ring[i].size()
	}
	s.set(live)
	s.c.pending += lag - s.lagging
	s.lagging = lag
	if lag > 0 {
		s.c.push(s)
	}
}

// take is the next message from the room for a live subscription, nil if there is none.
func (s *sub) take() *message {
	r, c := s.r, s.c
	r.mu.Lock()
	defer r.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case s.dropped && (s.state == live || s.state == replaying):
		s.resetLocked(reasonSlow, -1)
		return nil
	case s.state != live:
		return nil
	case s.at.Epoch != r.epoch || s.at.Ordinal >= r.tail:
		c.pending -= s.lagging
		s.lagging = 0
		return nil
	}
	i, ok := r.after(s.at.Ordinal)
	if !ok {
		s.settle()
		return nil
	}
	b := r.batch(c.wire, i, s.at.Ordinal)
	s.at.Ordinal, s.next = b.to, b.next
	lag := r.total - b.total
	c.pending += lag - s.lagging
	s.lagging = lag
	if lag > 0 {
		c.push(s)
	}
	m := &message{parts: [2][]byte{b.data}, events: b.events()}
	if !b.sent {
		b.sent, m.stored = true, b.newest
	}
	return m
}
