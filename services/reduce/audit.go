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
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-o.audits:
		}
		if err := o.audit(ctx); err != nil && ctx.Err() == nil {
			o.log.Warn("the search for lost threads ended early", zap.Error(err))
		}
	}
}

func (o *shardWork) audit(ctx context.Context) error {
	page := make([]string, 0, auditPage)
	for th, err := range o.s.deps.Bus.Threads(ctx, o.shard) {
		if err != nil {
			return err
		}
		if page = append(page, th.Thread); len(page) == auditPage {
			if err := o.survey(ctx, page); err != nil {
				return err
			}
			page = page[:0]
		}
	}
	return o.survey(ctx, page)
}

// survey looks at threads, hands over those that are not whole and lists the others again, should the index have lost them.
func (o *shardWork) survey(ctx context.Context, page []string) error {
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
		switch st := found[id]; st.Condition {
		case snapshot.Whole:
			active[id] = st.Position.UpdatedAt
		case snapshot.Missing, snapshot.Damaged:
			select {
			case o.lost <- id:
			case <-ctx.Done():
				return ctx.Err()
			}
		case snapshot.Gone:
		}
	}
	return o.s.retry(ctx, "audit", retryable, func() error { return o.s.deps.Store.Touch(ctx, active) })
}
