package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agwire/agwire/internal/wait"
)

// Sizes of one batch of a scan.
const (
	scanBatch = 256
	scanBytes = 8 << 20
)

// staleFor is how long a replica may lag behind the leader before a scan asks
// the leader whether the message it waits for is still there.
const staleFor = time.Second

var errStop = errors.New("stop")

// scan reads the messages of one subject with sequences from to to, both
// included, in order, from any replica, and yields each once. to must have
// been read from the leader as the sequence of a message of the subject: scan
// returns only when it has come that far, or the message is gone. An error of
// yield ends the scan and is returned. size is about how many bytes are asked
// for at once.
func (b *Bus) scan(ctx context.Context, stream, subj string, from, to uint64, size int, yield func(stored) error) error {
	staleSince := time.Time{}
	delay := firstDelay
	for from <= to {
		before := from
		err := b.scanBatch(ctx, stream, getRequest{NextFor: subj, Seq: from, Batch: scanBatch, MaxBytes: size}, func(m stored) error {
			if m.seq > to {
				from = to + 1
				return errStop
			}
			if err := yield(m); err != nil {
				return &yieldError{err}
			}
			from = m.seq + 1
			return nil
		})
		var ye *yieldError
		switch {
		case errors.As(err, &ye):
			return ye.err
		case from > before:
			staleSince, delay = time.Time{}, firstDelay
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !errors.Is(err, ErrNotFound) && !transient(err):
			return err
		}
		// Nothing new: the replica lags, or the rest was deleted.
		if staleSince.IsZero() {
			staleSince = time.Now()
		} else if time.Since(staleSince) > staleFor {
			m, err := b.leader(ctx, stream, getRequest{NextFor: subj, Seq: from})
			if errors.Is(err, ErrNotFound) || err == nil && m.seq > to {
				return nil
			}
			if err != nil {
				return err
			}
			staleSince = time.Time{}
		}
		if err := wait.For(ctx, delay); err != nil {
			return err
		}
		delay = min(2*delay, lastDelay)
	}
	return nil
}

type yieldError struct{ err error }

func (e *yieldError) Error() string { return e.err.Error() }

// scanBatch makes one batched direct get and yields what it answers, until
// the end of the batch, an error, or a hole in the answers. ErrNotFound when
// there is nothing.
func (b *Bus) scanBatch(ctx context.Context, stream string, req getRequest, yield func(stored) error) error {
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	inbox := b.nc.NewInbox()
	sub, err := b.nc.SubscribeSync(inbox)
	if err != nil {
		return closedOr(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	if err := b.nc.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, body); err != nil {
		return err
	}
	var last uint64
	for {
		m, err := b.nextMsg(ctx, sub)
		if err != nil {
			return err
		}
		if st := get(m.Header, natsStatus); st == "204" {
			return nil
		} else if st == "503" {
			return nats.ErrNoResponders
		}
		if err := directStatus(m); err != nil {
			return err
		}
		s, err := fromDirect(m)
		if err != nil {
			return err
		}
		if s.prev != last {
			return fmt.Errorf("%w: an answer of a batch was lost", nats.ErrTimeout)
		}
		last = s.seq
		if err := yield(s); err != nil {
			return err
		}
	}
}

// nextMsg waits Options.Timeout at most.
func (b *Bus) nextMsg(ctx context.Context, sub *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.Timeout)
	defer cancel()
	m, err := sub.NextMsgWithContext(ctx)
	return m, closedOr(err)
}
