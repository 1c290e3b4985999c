package bus

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/agwire/agwire/internal/subject"
)

// AppendInput stores an input of a thread beside its frames and returns its
// frames-stream sequence. id names the input; it may be stored more than once
// when ctx allows several tries, and is recognised by its id. body is not
// kept. It holds while the broker has no leader.
func (b *Bus) AppendInput(ctx context.Context, thread, id string, body []byte) (uint64, error) {
	if err := subject.CheckID(thread); err != nil {
		return 0, fmt.Errorf("%w: thread: %w", ErrPoison, err)
	}
	if len(id) > subject.MaxID {
		return 0, fmt.Errorf("%w: input id of %d bytes", ErrPoison, len(id))
	}
	if err := b.checkSize(len(body)); err != nil {
		return 0, err
	}
	f := Frame{Kind: KindInput, Input: id}
	var seq uint64
	err := retry(ctx, func(err error) bool { return finalAppendError(err) == nil }, func(ctx context.Context) error {
		var err error
		seq, err = b.publish(ctx, b.split(b.names.Inputs(thread), f.header(), body))
		return err
	})
	if err != nil {
		if final := finalAppendError(err); final != nil {
			err = final
		}
		return 0, fmt.Errorf("append an input: %w", err)
	}
	return seq, nil
}

// publish stores msgs, together when they are several, and waits
// Options.Timeout for the answer.
func (b *Bus) publish(ctx context.Context, msgs []*nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.Timeout)
	defer cancel()
	last := msgs[len(msgs)-1]
	if len(msgs) > 1 {
		stampBatch(msgs)
		for _, m := range msgs[:len(msgs)-1] {
			if err := b.nc.PublishMsg(m); err != nil {
				return 0, closedOr(err)
			}
		}
	}
	m, err := b.nc.RequestMsgWithContext(ctx, last)
	if err != nil {
		return 0, closedOr(err)
	}
	ack := parseAck(m)
	return ack.seq, ack.err
}
