package reduce

import (
	"context"

	"go.uber.org/zap"
)

// tooLarge gives a thread up that the store will not take. The log can be folded still, so that what is stored, which stands
// where it stood, must not be taken for the thread any more: it is voided, and progress does not pass until it is.
func (o *shardWork) tooLarge(t *thread, err error) {
	at, owed := t.fold.Position(), t.fresh
	owed.add(t.flying)
	o.giveUp(t, faultTooLarge, err)
	t.void, t.voiding = &at, true
	o.owe(t, unwritten{first: owed.first, bytes: owed.bytes})
	o.hasten(t)
}

// begunAnew takes note that an epoch begins of a thread that was given up: its first write replaces whatever is stored.
func (o *shardWork) begunAnew(t *thread) {
	if t.void != nil {
		t.void, t.voiding = nil, false
	}
}

// voidJob voids what is stored of a thread.
func (o *shardWork) voidJob(ctx context.Context, t *thread) func() result {
	t.flying.add(t.fresh)
	t.fresh = unwritten{}
	id, at := t.id, *t.void
	t.void = nil
	return func() (res result) {
		res.void = true
		res.err = o.s.retry(ctx, "void", retryable, func() (err error) {
			res.wrote, err = o.s.deps.Store.Void(ctx, id, at)
			return err
		})
		return res
	}
}

// voided takes the outcome. Whatever it is, nothing older than what was voided is stored now.
func (o *shardWork) voided(t *thread, res result) {
	t.voiding = false
	if res.err != nil {
		o.log.Error("what is stored of a thread could not be taken away", zap.String("thread", t.id), zap.Error(res.err))
	} else {
		o.s.m.writes.WithLabelValues("void").Inc()
	}
	o.count(-t.flying.bytes)
	t.flying = unwritten{}
	o.schedule(t)
}
