package reduce

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
)

// recordResult is what became of a record of progress.
type recordResult struct {
	mark snapshot.Mark // what is recorded now
	err  error
	age  int
}

// progress is the mark up to which all threads are written; false if there is none that may be recorded.
func (o *shardWork) progress() (snapshot.Mark, bool) {
	to := o.seen
	for _, t := range o.threads {
		if first := t.oldest(); first != 0 && first <= to.Sequence {
			to.Sequence = first - 1
		}
	}
	if to.Incarnation == 0 || to.Sequence == 0 || to.Compare(o.recorded) < 0 {
		to = o.recorded
	}
	return to, to != (snapshot.Mark{})
}

// record writes the progress down, and learns whether what was written before is still there.
func (o *shardWork) record(ctx context.Context, g *errgroup.Group) {
	to, ok := o.progress()
	if !ok || o.recording {
		return
	}
	o.recording = true
	from, age := o.recorded, o.age
	g.Go(func() error {
		res := recordResult{age: age}
		res.err = o.s.retry(ctx, "progress", retryable, func() (err error) {
			res.mark, err = o.s.deps.Store.Continue(ctx, o.shard, from, to)
			return err
		})
		o.marks <- res
		return nil
	})
}

func (o *shardWork) recordDone(ctx context.Context, g *errgroup.Group, res recordResult) {
	o.recording = false
	switch {
	case res.age != o.age || ctx.Err() != nil:
	case errors.Is(res.err, snapshot.ErrLost):
		o.rewind(ctx, g, res.mark)
	case res.err == nil:
		if o.recorded == (snapshot.Mark{}) {
			o.audited = time.Time{} // a loss before the first record has left no trace: look
		}
		o.recorded = res.mark
	}
}

// rewind reads the log again from where Redis, which was emptied or set back, says to be, and writes all that is in memory.
func (o *shardWork) rewind(ctx context.Context, g *errgroup.Group, to snapshot.Mark) {
	o.s.m.losses.WithLabelValues(lossProgress).Inc()
	o.log.Warn("redis has lost what was written, writing it again", zap.Uint64("seq", to.Sequence))
	o.age++
	o.recorded, o.seen, o.audited = to, snapshot.Mark{}, time.Time{}
	for _, t := range o.threads {
		switch t.phase {
		case loading:
			// Its messages come again.
			o.settle(t)
			if t.stage != running {
				o.drop(t)
			}
		case live:
			o.rewrite(t)
		}
	}
	o.line = nil
	for _, t := range o.threads {
		if t.stage == ready {
			o.line = append(o.line, t)
		}
	}
	o.read(ctx, g, to)
}

// rewrite has all of a thread written again.
func (o *shardWork) rewrite(t *thread) {
	t.fold.Forget()
	o.owe(t, unwritten{first: threads.VersionOf(t.fold.Epoch(), 0).First})
	o.schedule(t)
}
