package fanout

import (
	"bytes"
	"context"
	"time"
)

// write writes what waits, until nothing does.
func (c *client) write(context.Context) {
	for {
		m, leave, ok := c.next()
		switch {
		case leave != nil:
			c.end(*leave)
			return
		case !ok:
			return
		case m == nil:
			continue
		}
		err := c.send(m)
		c.mu.Lock()
		c.inflight = 0
		stuck := c.stuck
		c.pump()
		c.mu.Unlock()
		if err != nil {
			code := 0
			if stuck {
				code = closeSlow
			}
			c.abandon(code)
			return
		}
		if stuck {
			c.finish(closeSlow, "too slow: come back with your cursors")
		}
	}
}

// next takes what is to be written next: answers first, then a message of each subscription in turn. m is nil if a turn was
// for nothing; false says that nothing waits.
func (c *client) next() (m *message, leave *ending, ok bool) {
	c.mu.Lock()
	if c.leave != nil {
		c.mu.Unlock()
		return nil, c.leave, true
	}
	if len(c.control) > 0 {
		data := c.control[0]
		if len(c.control) > 1 {
			data = bytes.Join(c.control, nil)
		}
		c.control, c.beating = nil, false
		c.pending -= int64(len(data))
		c.inflight = int64(len(data))
		c.room.Broadcast()
		c.mu.Unlock()
		return &message{parts: [2][]byte{data}}, nil, true
	}
	if len(c.ready) == 0 || c.closed {
		c.ready = nil
		c.writing = false
		c.mu.Unlock()
		return nil, nil, false
	}
	s := c.ready[0]
	c.ready[0] = nil
	c.ready = c.ready[1:]
	s.queued = false
	if !s.dropped {
		m = c.fetchedOf(s)
	}
	c.mu.Unlock()
	if m == nil {
		m = s.take()
	}
	if m != nil {
		c.mu.Lock()
		c.inflight = m.size()
		c.mu.Unlock()
	}
	return m, nil, true
}

// fetchedOf takes what was fetched for a subscription, and has it go on. The client is locked.
func (c *client) fetchedOf(s *sub) *message {
	m := s.out
	if m == nil {
		return nil
	}
	s.out = nil
	c.pending -= m.cost
	if s.more {
		s.more = false
		c.want(s)
	}
	if s.lagging > 0 {
		c.push(s)
	}
	return m
}

// send writes a message and counts it.
func (c *client) send(m *message) error {
	if !m.stored.IsZero() {
		c.s.m.delay.Observe(time.Since(m.stored).Seconds())
	}
	for _, p := range m.parts {
		if len(p) == 0 {
			continue
		}
		if err := c.sink.send(p); err != nil {
			return err
		}
		c.s.m.bytes.Add(float64(len(p)))
	}
	c.s.m.messages.Inc()
	if m.events > 0 {
		c.s.m.events.Add(float64(m.events))
	}
	if m.reset != "" {
		c.s.m.resets.WithLabelValues(m.reset).Inc()
	}
	return nil
}

// end says why, and ends the connection.
func (c *client) end(e ending) {
	c.count(e.code)
	if e.last != nil {
		_ = c.sink.send(e.last) // it ends either way
	}
	c.sink.end(e.code, e.reason)
	close(c.ended)
}

// abandon ends a connection that cannot be written to.
func (c *client) abandon(code int) {
	c.count(code)
	c.sink.cut()
	c.mu.Lock()
	if c.leave == nil {
		c.leave = &ending{}
	}
	c.room.Broadcast()
	c.mu.Unlock()
	close(c.ended)
}

// count counts the connection's end, once.
func (c *client) count(code int) {
	c.once.Do(func() { c.s.m.closes.WithLabelValues(closeLabel(code)).Inc() })
}
