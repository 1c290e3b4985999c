package fanout

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/wait"
)

// sync begins to read what is missing, unless that is under way. The room is locked.
func (r *room) sync() {
	if r.syncing {
		r.again = true
		return
	}
	r.syncing = true
	r.spawn(func(ctx context.Context) {
		failed := 0
		for round := 0; ; round++ {
			done, err := r.refill(ctx, round)
			switch {
			case ctx.Err() != nil || done:
				return
			case err != nil:
				r.s.retried("refill", err)
				failed++
			case round < calmRounds:
				failed = 0
				continue
			}
			if wait.For(ctx, delayOf(failed)) != nil {
				return
			}
		}
	})
}

// Rounds of a refill: so many follow one another at once, and after so many a message whose predecessors the log does not
// show is taken without them.
const (
	calmRounds = 2
	lastRound  = 10
)

// refill asks for the head, reads the log up to it, and then takes what has come meanwhile. It is done when nothing is missing;
// false without an error says that there is more to read.
func (r *room) refill(ctx context.Context, round int) (done bool, err error) {
	r.mu.Lock()
	r.again = false
	r.mu.Unlock()
	at, err := r.s.head(ctx, r.thread)
	switch {
	case errors.Is(err, bus.ErrNotFound):
		return r.drain(bus.Head{}, round), nil
	case err != nil:
		return false, err
	}
	if at, err = r.settleHead(ctx, at); err != nil {
		return false, err
	}
	if err := r.readTo(ctx, at); err != nil {
		return false, err
	}
	return r.drain(at, round), nil
}

// A leader that was just elected may not know all of its log yet.
const (
	headTries = 20
	headDelay = 100 * time.Millisecond
)

// settleHead believes a head that is behind the room only when it stays there: then the log was restored from an older one.
func (r *room) settleHead(ctx context.Context, at bus.Head) (bus.Head, error) {
	for n := 0; ; n++ {
		r.mu.Lock()
		back := at.Epoch.Compare(r.epoch) < 0 || at.Epoch == r.epoch && at.Last() < r.tail
		if back && n == headTries {
			r.s.deps.Log.Warn("the log of a thread was set back", zap.String("thread", r.thread), zap.Uint64("seq", at.StreamSeq))
			r.jump(at.Epoch, at.Last()+1, reasonEpoch)
			r.seq = at.StreamSeq
			for s := range r.subs {
				if s.state == live || s.state == replaying {
					s.reset(reasonEpoch, -1)
				}
			}
			back = false
		}
		r.mu.Unlock()
		if !back {
			return at, nil
		}
		if err := wait.For(ctx, headDelay); err != nil {
			return at, err
		}
		var err error
		if at, err = r.s.head(ctx, r.thread); err != nil {
			return at, err
		}
	}
}

// readTo takes what the log has behind the room's tail, up to a head.
func (r *room) readTo(ctx context.Context, at bus.Head) error {
	r.mu.Lock()
	from, fresh := r.seq+1, at.Epoch != r.epoch
	if fresh {
		from = at.Epoch.Seq
	}
	r.mu.Unlock()
	for m, err := range r.s.deps.Bus.ReadThreadTo(ctx, r.thread, from, at.StreamSeq) {
		if err != nil {
			return err
		}
		r.mu.Lock()
		if !r.apply(&m) && m.Err == nil && m.Epoch == at.Epoch {
			// The log goes on behind a hole.
			reason := reasonGap
			if fresh || len(r.ring) == 0 {
				reason = reasonTrimmed
			}
			r.jump(m.Epoch, m.First, reason)
			if !r.apply(&m) {
				r.jump(m.Epoch, m.Last()+1, reasonGap) // its lines are not what it says: passed over
			}
		}
		fresh = false
		r.seq = max(r.seq, m.StreamSeq)
		r.mu.Unlock()
		r.s.m.refills.Inc()
	}
	return nil
}

// drain takes the live messages that have waited, once the log was read up to a head; a zero one says that the log is empty.
// It says whether nothing is missing now.
func (r *room) drain(at bus.Head, round int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := r.waiting
	r.forgetWaiting()
	for i := range waiting {
		m := &waiting[i]
		if m.StreamSeq <= at.StreamSeq || m.Err != nil || r.apply(m) {
			continue // the log was read up to here, or it goes on from there
		}
		if round >= lastRound {
			r.jump(m.Epoch, m.First, reasonGap)
			if r.apply(m) {
				continue
			}
		}
		r.waiting = waiting[i:]
		for k := range r.waiting {
			r.waitBytes += int64(len(r.waiting[k].Body))
		}
		return false
	}
	r.syncing = r.again
	return !r.again
}

// heardHead compares the head of the log with what is here.
func (r *room) heardHead(at bus.Head) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || !r.known || r.syncing {
		return
	}
	if at.Epoch != r.epoch || at.Last() != r.tail || at.StreamSeq > r.seq {
		r.again = true
		r.sync()
	}
}

// delayOf is how long a call waits that has failed so often: from 20 ms, doubled, to 1 s.
func delayOf(tries int) time.Duration { return min(20*time.Millisecond<<min(tries, 10), time.Second) }
