package normalize

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
)

// reapIdle hands invokes that have been silent for too long to reap, as many as it takes; the others wait for the next tick.
func (o *shardWork) reapIdle(ends chan<- openInvoke) {
	for inv, seen := range o.known {
		if time.Since(seen) < o.s.cfg.IdleAfter {
			continue
		}
		select {
		case ends <- inv:
			o.known[inv] = time.Now() // once a limit, should the end get lost
		default:
			return
		}
	}
}

// reap ends invokes as idle: by a frame behind the last one stored, which is void if another comes before it (DESIGN §3).
func (o *shardWork) reap(ctx context.Context, ends <-chan openInvoke) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case inv := <-ends:
			st, err := o.s.deps.Bus.InvokeState(ctx, inv.Thread, inv.Invoke)
			if err == nil && !st.Ended && st.Next > 0 && time.Since(st.Time) >= o.s.cfg.IdleAfter {
				_, err = o.s.deps.Bus.EndInvoke(ctx, inv.Thread, inv.Invoke, st.Next, bus.End{Reason: bus.EndIdle})
			}
			if err != nil && ctx.Err() == nil {
				o.log.Warn("ending an idle invoke failed", zap.String("thread", inv.Thread), zap.String("invoke", inv.Invoke), zap.Error(err))
			}
		}
	}
}
