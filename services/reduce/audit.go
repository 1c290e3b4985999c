package reduce

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/snapshot"
)

// auditPage is how many threads are looked at in one round trip.
const auditPage = 1000

// auditor searches, when called, for threads that the log has and Redis has not.
func (o *shardWork) auditor(ctx context.Context) error {
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return nil
		case <-o.audits:
		}
		if err := o.audit(ctx, first); err != nil && ctx.Err() == nil {
			o.log.Warn("the search for lost threads ended early", zap.Error(err))
		}
	}
}

// audit looks at all threads. A first one of an ownership also hands over those that were not kept: a limit may have changed.
func (o *shardWork) audit(ctx context.Context, first bool) error {
	page := make([]string, 0, auditPage)
	for th, err := range o.s.deps.Bus.Threads(ctx, o.shard) {
		if err != nil {
			return err
		}
		if page = append(page, th.Thread); len(page) == auditPage {
			if err := o.survey(ctx, page, first); err != nil {
				return err
			}
			page = page[:0]
		}
	}
	return o.survey(ctx, page, first)
}

// survey looks at threads, hands over those that are not whole and lists the others again, should the index have lost them.
func (o *shardWork) survey(ctx context.Context, page []string, first bool) error {
	if len(page) == 0 {
		return nil
	}
	var found map[string]snapshot.Standing
	err := o.s.retry(ctx, "audit", retryable, func() (err error) {
		found, err = o.s.deps.Store.Survey(ctx, page)
		return err
	})
	if err != nil {
		return err
	}
	active := map[string]time.Time{}
	for _, id := range page {
		st := found[id]
		switch st.Condition {
		case snapshot.Whole, snapshot.Void:
			active[id] = st.Position.UpdatedAt
		case snapshot.Gone, snapshot.Missing, snapshot.Damaged:
		}
		if st.Condition == snapshot.Missing || st.Condition == snapshot.Damaged || first && st.Condition == snapshot.Void {
			select {
			case o.lost <- id:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return o.s.retry(ctx, "audit", retryable, func() error { return o.s.deps.Store.Touch(ctx, active) })
}
