package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// WriteShard claims a shard, calls work with its writer, and sees to the rest:
// it runs the writer meanwhile, ends work's context when ctx ends or the writer
// does, and when work has returned waits up to drain for what is queued to be
// stored. It is what a ShardFunc does that writes events.
//
// The error is the writer's, an ErrFenced mostly, before work's, before that
// of draining. It is nil when work returned nil or ctx ended, and all that was
// queued is stored.
func (b *Bus) WriteShard(ctx context.Context, shard int, o WriterOptions, drain time.Duration, work func(context.Context, *FencedWriter) error) error {
	w, err := b.Claim(ctx, shard, o)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var ended error
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	workCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	wg.Go(func() {
		defer cancel()
		ended = w.Run(runCtx)
	})
	defer wg.Wait() // also when work panics
	defer stop()
	err = work(workCtx, w)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	flushCtx, done := context.WithTimeout(context.WithoutCancel(ctx), drain)
	flushed := w.Flush(flushCtx)
	done()
	stop()
	wg.Wait()
	switch {
	case ended != nil:
		return ended
	case err != nil:
		return err
	case flushed != nil:
		return fmt.Errorf("drain the writer of shard %d: %w", shard, flushed)
	}
	return nil
}
