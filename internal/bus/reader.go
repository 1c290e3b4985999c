package bus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/wait"
)

// Settings of a reader's consumer.
const (
	pullMessages  = 1000
	pullBytes     = 8 << 20
	pullHeartbeat = time.Second
	pullExpiry    = 30 * time.Second
	consumerIdle  = 30 * time.Second // the server drops an abandoned consumer then
)

// reader reads one stream, whole but for where one invoke is looked up, in
// order, from after a sequence on, through an ordered consumer without acks. Whenever the consumer
// is in doubt (restart, lost message, silence) it makes another from the last
// message that was handed out, so nothing is lost, doubled or reordered.
type reader struct {
	b           *Bus
	stream      string
	filter      string // one subject; "" = all
	headersOnly bool
	after       uint64 // sequence of the last message handed out
	received    uint64 // sequence of the last message received, perhaps of an open set
	incarnation int64  // of the stream; 0 = not opened yet
	dseq        uint64 // consumer sequence of the last message received
	name        string // of the consumer
	it          jetstream.MessagesContext
	asm         assembler
	lag         uint64
	remade      int
}

// next returns the next whole message.
func (r *reader) next(ctx context.Context) (stored, error) {
	return r.nextWithin(ctx, math.MaxUint64)
}

// nextWithin is next, or ErrEndOfLog once the message of sequence last, which
// there must be, was received and completes nothing.
func (r *reader) nextWithin(ctx context.Context, last uint64) (stored, error) {
	delay := firstDelay
	for {
		m, err := r.receive(ctx)
		if err == nil {
			delay = firstDelay
			r.received = m.seq
			whole, ok := r.asm.add(m)
			if !ok && m.seq >= last {
				return stored{}, ErrEndOfLog
			}
			if !ok {
				continue
			}
			r.after, r.lag = whole.seq, whole.pending
			return whole, nil
		}
		if ctx.Err() != nil {
			// The consumer is as good as before: a later call goes on with it.
			return stored{}, ctx.Err()
		}
		r.stop()
		if errors.Is(err, ErrReset) || errors.Is(err, ErrClosed) {
			return stored{}, err
		}
		r.b.log.Debug("reader starts over", zap.String("subject", r.stream), zap.Uint64("seq", r.after), zap.NamedError("err", err))
		if err := wait.For(ctx, delay); err != nil {
			return stored{}, err
		}
		delay = min(2*delay, lastDelay)
	}
}

// receive returns the consumer's next message; its error means that the
// consumer is not to be used again.
func (r *reader) receive(ctx context.Context) (stored, error) {
	if r.it == nil {
		if err := r.open(ctx); err != nil {
			return stored{}, err
		}
	}
	m, err := r.it.Next(jetstream.NextContext(ctx))
	if err != nil {
		return stored{}, err
	}
	s, dseq, err := fromConsumer(m)
	if err != nil {
		return stored{}, err
	}
	if dseq != r.dseq+1 {
		return stored{}, fmt.Errorf("a message of the consumer was lost: %d after %d", dseq, r.dseq)
	}
	r.dseq = dseq
	return s, nil
}

func (r *reader) open(ctx context.Context) error {
	if r.b.nc.IsClosed() {
		return ErrClosed
	}
	if err := r.check(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*r.b.opts.Timeout)
	defer cancel()
	c, err := r.b.js.CreateConsumer(ctx, r.stream, jetstream.ConsumerConfig{
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       r.after + 1,
		FilterSubject:     r.filter,
		AckPolicy:         jetstream.AckNonePolicy,
		ReplayPolicy:      jetstream.ReplayInstantPolicy,
		InactiveThreshold: consumerIdle,
		Replicas:          1,
		MemoryStorage:     true,
		HeadersOnly:       r.headersOnly,
		MaxDeliver:        1,
	})
	if err != nil {
		return err
	}
	it, err := c.Messages(
		jetstream.PullMaxMessagesWithBytesLimit(pullMessages, max(pullBytes, 2*r.b.payload)),
		jetstream.PullExpiry(pullExpiry), jetstream.PullHeartbeat(pullHeartbeat))
	if err != nil {
		return err
	}
	if r.name != "" {
		r.remade++
	}
	r.it, r.name, r.dseq = it, c.CachedInfo().Name, 0
	r.asm = assembler{dropped: r.asm.dropped}
	return nil
}

// check makes sure that the stream is the one that the position is of. The
// leader may, just elected, not know all of its log yet: it is asked for a while.
func (r *reader) check(ctx context.Context) error {
	for asked := 0; ; asked++ {
		i, err := r.b.info(ctx, r.stream)
		if isCode(err, codeStreamMissing) && asked < 20 {
			err = nil
		} else if err != nil {
			return err
		} else if r.incarnation != 0 && r.incarnation != i.incarnation() {
			return fmt.Errorf("%w: %s", ErrReset, r.stream)
		} else if i.State.LastSeq >= r.after {
			r.incarnation = i.incarnation()
			return nil
		} else if asked >= 20 {
			return fmt.Errorf("%w: %s ends at %d, before %d", ErrReset, r.stream, i.State.LastSeq, r.after)
		}
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// stop leaves the consumer; the server is told, and forgets it by itself if
// it did not hear.
func (r *reader) stop() {
	if r.it == nil {
		return
	}
	r.it.Stop()
	r.it = nil
	if r.b.nc.IsConnected() {
		_ = r.b.nc.Publish("$JS.API.CONSUMER.DELETE."+r.stream+"."+r.name, nil)
	}
}

// fromConsumer reads a message that a consumer delivered, and its consumer
// sequence. Everything stands in the reply subject:
//
//	$JS.ACK.<stream>.<consumer>.<delivered>.<sseq>.<dseq>.<time>.<pending>
//	$JS.ACK.<domain>.<account>.<stream>.<consumer>.<delivered>.<sseq>.<dseq>.<time>.<pending>…
func fromConsumer(m jetstream.Msg) (stored, uint64, error) {
	bad := errors.New("broker's answer: reply subject of a delivered message")
	t := strings.Split(m.Reply(), ".")
	if len(t) > 9 {
		t = t[2:]
	}
	if len(t) < 9 {
		return stored{}, 0, bad
	}
	var n [4]uint64
	for i := range n {
		v, err := strconv.ParseUint(t[5+i], 10, 64)
		if err != nil {
			return stored{}, 0, bad
		}
		n[i] = v
	}
	s := stored{
		subject: m.Subject(), first: n[0], seq: n[0], time: time.Unix(0, int64(n[2])), pending: n[3],
		header: m.Headers(), data: m.Data(),
	}
	return s, n[1], nil
}

// FrameReader reads the frames and inputs of one shard in stream order. It is
// for one goroutine; Close it.
type FrameReader struct{ r reader }

// ReadFrames returns a reader of a shard's frames stream that begins behind
// the sequence after; 0 reads from the start. It does no I/O by itself.
func (b *Bus) ReadFrames(shard int, after uint64) *FrameReader {
	return &FrameReader{reader{b: b, stream: b.names.FramesStream(shard), after: after}}
}

// Next waits for the next frame. While the broker is away it waits on; its
// error is ctx's, ErrReset or ErrClosed. A message that is no frame is
// returned with Frame.Err set.
func (r *FrameReader) Next(ctx context.Context) (Frame, error) {
	m, err := r.r.next(ctx)
	if err != nil {
		return Frame{}, fmt.Errorf("read frames: %w", err)
	}
	return r.r.b.decodeFrame(m), nil
}

// Expect makes Next fail with ErrReset unless the stream is of that
// incarnation, which a position that was kept belongs to. Call it before Next.
func (r *FrameReader) Expect(incarnation int64) { r.r.incarnation = incarnation }

// Incarnation is when the stream that is read was created, Unix nanoseconds;
// 0 before the first Next.
func (r *FrameReader) Incarnation() int64 { return r.r.incarnation }

// Lag is how many messages were behind the last frame when it was delivered,
// as the replica knew that delivered it; 0 means that it was the newest there.
func (r *FrameReader) Lag() uint64 { return r.r.lag }

// Restarts counts how often the reader had to start over.
func (r *FrameReader) Restarts() int { return r.r.remade }

// Close leaves the consumer.
func (r *FrameReader) Close() { r.r.stop() }

// EventReader reads the event messages of one shard in stream order; claims,
// fillers and checkpoints are left out. It is for one goroutine; Close it.
type EventReader struct {
	r     reader
	until uint64
}

// ReadEvents returns a reader of a shard's events stream that begins behind
// the sequence after; 0 reads from the start. It does no I/O by itself.
func (b *Bus) ReadEvents(shard int, after uint64) *EventReader {
	return &EventReader{r: reader{b: b, stream: b.names.EventsStream(shard), after: after}}
}

// Next waits for the next event message. While the broker is away it waits
// on; its error is ctx's, ErrReset or ErrClosed. A message that is none is
// returned with EventMessage.Err set.
func (r *EventReader) Next(ctx context.Context) (EventMessage, error) {
	for {
		if r.until > 0 && r.r.after >= r.until {
			return EventMessage{}, ErrEndOfLog
		}
		m, err := r.r.next(ctx)
		if err != nil {
			return EventMessage{}, fmt.Errorf("read events: %w", err)
		}
		if strings.HasPrefix(m.subject, r.r.b.names.Prefix()+".c.") {
			continue
		}
		return r.r.b.decodeEvent(m), nil
	}
}

// Position is the stream sequence of the last message passed, control
// messages included: a new reader may begin behind it.
func (r *EventReader) Position() uint64 { return r.r.after }

// Expect makes Next fail with ErrReset unless the stream is of that
// incarnation, which a position that was kept belongs to. Call it before Next.
func (r *EventReader) Expect(incarnation int64) { r.r.incarnation = incarnation }

// Incarnation is that of the stream that is read, as in Epoch; 0 before the
// first Next.
func (r *EventReader) Incarnation() int64 { return r.r.incarnation }

// Lag is how many messages were behind the last one when it was delivered, as
// the replica knew that delivered it; 0 means that it was the newest there.
func (r *EventReader) Lag() uint64 { return r.r.lag }

// Restarts counts how often the reader had to start over.
func (r *EventReader) Restarts() int { return r.r.remade }

// Close leaves the consumer.
func (r *EventReader) Close() { r.r.stop() }
