package fanout

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/wait"
)

// found is what a fetch has found.
type found struct {
	state  state // joining, or any other for what settle says
	at     bus.Cursor
	next   uint64
	reason string
	least  int64 // joining: ordinal that the pair must reach
	lost   bool
	size   int64 // bytes read of the log
	out    *message
	failed bool // the thread cannot be read: the subscription ends
}

// job is what a fetch works on.
type job struct {
	state  state
	at     bus.Cursor
	next   uint64
	to     uint64 // the room's last message
	reason string
	least  int64
	lost   bool
	gen    int
}

// fetch finds what the subscription needs next, trying again until ctx ends.
func (s *sub) fetch(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.r.mu.Lock()
	s.c.mu.Lock()
	s.stop = stop
	j := job{s.state, s.at, s.next, s.r.seq, s.reason, s.least, s.lost, s.gen}
	s.c.mu.Unlock()
	s.r.mu.Unlock()
	var f found
	for tries := 0; j.state != live && j.state != over; tries++ {
		var err error
		if f, err = s.step(ctx, j); err == nil || ctx.Err() != nil {
			break
		}
		s.c.s.retried(fetchName(j.state), err)
		if wait.For(ctx, delayOf(tries)) != nil {
			break
		}
	}
	s.fetched(ctx, j, f)
}

func fetchName(st state) string {
	switch st {
	case resolving:
		return "resolve"
	case joining:
		return "join"
	}
	return "replay"
}

func (s *sub) step(ctx context.Context, j job) (found, error) {
	switch j.state {
	case resolving:
		return s.resolve(ctx)
	case joining:
		return s.join(ctx, j)
	}
	return s.replay(ctx, j)
}

// fetched takes what a fetch has found, unless it is void.
func (s *sub) fetched(ctx context.Context, j job, f found) {
	r, c := s.r, s.c
	r.mu.Lock()
	defer r.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	s.fetching, s.stop = false, nil
	c.fetching--
	defer c.pump()
	switch {
	case s.state == over || c.closed || j.state == live:
		return
	case s.gen != j.gen || ctx.Err() != nil:
		if s.state != live {
			c.want(s)
		}
		return
	case f.failed:
		c.fail(s)
		return
	}
	s.at, s.next = f.at, f.next
	s.taken += f.size
	if j.state == resolving {
		c.answer(s, f)
	}
	c.prime(s, f)
	if f.out != nil {
		s.out = f.out
		c.pending += f.out.cost
		c.push(s)
	}
	if f.state == joining {
		s.reason, s.least, s.lost = f.reason, f.least, f.lost
		s.set(joining)
		c.want(s)
		return
	}
	s.settle()
}

// resolve finds where the subscription begins.
func (s *sub) resolve(ctx context.Context) (found, error) {
	r := s.r
	if err := r.attach(ctx); err != nil {
		return found{}, err
	}
	r.mu.Lock()
	epoch, tail, seq := r.epoch, r.tail, r.seq
	_, inRing := r.after(s.from.at.Ordinal)
	r.mu.Unlock()
	here := found{state: live, at: bus.Cursor{Epoch: epoch, Ordinal: tail}, next: seq + 1}
	switch s.from.name {
	case fromNow:
		here.state, here.reason, here.least = joining, reasonJoin, -1
		return here, nil
	case fromLive:
		return here, nil
	case fromStart:
		return found{state: live, at: bus.Cursor{Epoch: epoch, Ordinal: -1}, next: epoch.Seq}, nil
	}
	c := s.from.at
	if c.Epoch == epoch && (c.Ordinal == tail || c.Ordinal < tail && inRing) {
		return found{state: live, at: c, next: s.seekHere(c)}, nil
	}
	return s.seek(ctx, c)
}

// seekHere is the stream sequence of what follows a cursor that the room has.
func (s *sub) seekHere(c bus.Cursor) uint64 {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if i, ok := s.r.after(c.Ordinal); ok {
		return s.r.ring[i].firstSeq
	}
	return s.r.seq + 1
}

// seek asks the log what follows a cursor. The log decides, not the room: another server of our kind may have been sooner.
func (s *sub) seek(ctx context.Context, c bus.Cursor) (found, error) {
	leave, err := s.c.s.slot(ctx)
	if err != nil {
		return found{}, err
	}
	defer leave()
	b := s.c.s.deps.Bus
	at, err := b.Head(ctx, s.r.thread)
	switch {
	case errors.Is(err, bus.ErrNotFound):
		return found{state: joining, at: c, reason: reasonEpoch, least: -1, lost: true}, nil
	case err != nil:
		return found{}, err
	case at.Epoch != c.Epoch || c.Ordinal > at.Last():
		return found{state: joining, at: at.Cursor(), reason: reasonEpoch, least: -1}, nil
	case c.Ordinal == at.Last():
		return found{state: live, at: c, next: at.StreamSeq + 1}, nil
	}
	next, err := b.Seek(ctx, s.r.thread, bus.Cursor{Epoch: c.Epoch, Ordinal: c.Ordinal + 1})
	switch {
	case errors.Is(err, bus.ErrTrimmed):
		return found{state: joining, at: at.Cursor(), reason: reasonTrimmed, least: -1}, nil
	case errors.Is(err, bus.ErrEpoch), errors.Is(err, bus.ErrNotFound):
		return found{state: joining, at: at.Cursor(), reason: reasonEpoch, least: -1}, nil
	case err != nil:
		return found{}, err
	}
	return found{state: live, at: c, next: next}, nil
}

// disagree is how long the log and the pair may be of different epochs, or one of them say that there is no such thread, before
// something else is done than to ask again.
const disagree = time.Second

// join gets the pair.
func (s *sub) join(ctx context.Context, j job) (found, error) {
	r, m := s.r, s.c.s.m
	began := time.Now()
	for tries := 0; ; tries++ {
		late := time.Since(began) > disagree
		p, err := r.pair(ctx, j.least, late)
		switch {
		case err == nil:
			m.join.Observe(time.Since(began).Seconds())
			return s.start(j, p), nil
		case errors.Is(err, bus.ErrNotFound):
			if f, ok := s.startEmpty(j, late); ok {
				return f, nil
			}
		case errors.Is(err, bus.ErrTrimmed), errors.Is(err, bus.ErrPoison), errors.Is(err, bus.ErrPanic):
			s.c.s.deps.Log.Error("a thread cannot be joined", zap.String("thread", r.thread), zap.Error(err))
			return found{failed: true}, nil
		case !errors.Is(err, errStale):
			return found{}, err
		}
		delay := delayOf(tries)
		if !late {
			delay = min(delay, disagree/8)
		}
		if err := wait.For(ctx, delay); err != nil {
			return found{}, err
		}
	}
}

// start is the reset and the pair.
func (s *sub) start(j job, p *sharedPair) found {
	if j.lost {
		// The log has nothing any more, the pair all: what the client has is known by it.
		switch c := s.from.at; {
		case p.Cursor.Epoch == c.Epoch && p.Cursor.Ordinal <= c.Ordinal:
			return found{state: live, at: c, next: p.StreamSeq + 1}
		case p.Cursor.Epoch == c.Epoch:
			j.reason = reasonTrimmed
		}
	}
	return found{state: live, at: p.Cursor, next: p.StreamSeq + 1, out: s.resetTo(j.reason, p.encoded(s.c.wire, s.c.s.m))}
}

// startEmpty is the same where there is no such thread. It is not certain while the room has its log.
func (s *sub) startEmpty(j job, certain bool) (found, bool) {
	s.r.mu.Lock()
	epoch, tail, seq := s.r.epoch, s.r.tail, s.r.seq
	s.r.mu.Unlock()
	if !epoch.IsZero() && !certain {
		return found{}, false
	}
	f := found{state: live, at: bus.Cursor{Epoch: epoch, Ordinal: tail}, next: seq + 1}
	if j.reason != reasonJoin || !epoch.IsZero() {
		f.out = s.resetTo(j.reason, emptyPair(s.c.wire, s.r.name))
	}
	return f, true
}

func (s *sub) resetTo(reason string, pair []byte) *message {
	reset := s.c.wire.encodeReset(s.r.name, reason)
	return &message{parts: [2][]byte{reset, pair}, cost: int64(len(reset) + len(pair)), reset: reason}
}

// replay reads the next part of the log.
func (s *sub) replay(ctx context.Context, j job) (found, error) {
	r, svc := s.r, s.c.s
	leave, err := svc.slot(ctx)
	if err != nil {
		return found{}, err
	}
	defer leave()
	var entries []*entry
	size, next := int64(0), j.next
	for m, err := range svc.deps.Bus.ReadThreadPart(ctx, r.thread, j.next, j.to, svc.cfg.Chunk) {
		if err != nil {
			return found{}, err
		}
		if m.Epoch.Compare(j.at.Epoch) > 0 {
			break // the room knows, or will
		}
		next = m.StreamSeq + 1
		if m.Err != nil || m.Count == 0 || m.Epoch != j.at.Epoch || m.Last() <= j.at.Ordinal {
			continue
		}
		want := j.at.Ordinal + 1
		if len(entries) > 0 {
			want = entries[len(entries)-1].last + 1
		}
		e, err := newEntry(&m)
		if m.First > want || err != nil {
			if len(entries) > 0 {
				next = m.FirstSeq
				break // seen again by the next part
			}
			if err != nil {
				return hole(j, m.Last()), nil
			}
			return hole(j, m.First-1), nil
		}
		entries = append(entries, e)
		if size += e.size(); size >= int64(svc.cfg.Chunk) {
			break
		}
	}
	svc.m.replays.Inc()
	if len(entries) == 0 {
		return s.replayEnd(j, next), nil
	}
	b := newBatch(s.c.wire, r.name, j.at.Epoch, entries, j.at.Ordinal+1)
	svc.m.encoded.Add(float64(len(b.data)))
	return found{
		state: live, at: bus.Cursor{Epoch: j.at.Epoch, Ordinal: b.to}, next: next, size: b.size,
		out: &message{parts: [2][]byte{b.data}, events: b.events(), cost: int64(len(b.data))},
	}, nil
}

// hole is where the log does not go on: it was trimmed, or what is there cannot be read. The pair must reach behind it.
func hole(j job, least int64) found {
	return found{state: joining, at: j.at, next: j.next, reason: reasonTrimmed, least: least}
}

// replayEnd is a part in which there was nothing. That is right only if the room has no more than the client, or has gone on.
func (s *sub) replayEnd(j job, next uint64) found {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	_, inRing := s.r.after(j.at.Ordinal)
	if s.r.epoch == j.at.Epoch && s.r.tail > j.at.Ordinal && s.r.seq <= j.to && !inRing {
		return hole(j, s.r.tail)
	}
	return found{state: live, at: j.at, next: next}
}
