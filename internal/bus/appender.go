package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// appendBytes bounds what one appender holds that is not stored yet.
const appendBytes = 16 << 20

// FrameAppender stores the frames of one invoke, pipelined. It acknowledges an
// index only when it and all before it are stored in ascending stream order:
// after an error it sends again everything from the first index that is not
// acknowledged, since frames are taken in index order and what is stored twice
// is skipped (DESIGN §3). While the broker has no leader it holds and tries
// again, for as long as the caller's context lets it.
//
// Its methods are safe for concurrent use, but indexes must be given in order.
type FrameAppender struct {
	b                      *Bus
	thread, invoke, stream string
	subject, inbox         string
	start                  InvokeStart
	sub                    *nats.Subscription

	mu      sync.Mutex
	queue   []*pendingFrame // from index stored on; what is not acknowledged
	bytes   int             // of queue
	stored  int64           // frames 0 to stored-1 are acknowledged
	seq     uint64          // stream sequence of frame stored-1
	next    int64           // the index that Append takes next
	ended   bool            // an end is queued or stored
	attempt uint64          // acks of earlier attempts do not count
	broken  bool            // the attempt failed; the timer starts the next
	delay   time.Duration   // before that
	timer   *time.Timer
	err     error         // final
	changed chan struct{} // closed and replaced when any of this changes
}

type pendingFrame struct {
	frame Frame
	seq   uint64 // where this attempt stored it; 0 = not answered
	sent  bool   // in this attempt
}

// OpenInvoke returns an appender that goes on where the invoke is stored up
// to, and that state. It fails with ErrEnded, and the state, if the invoke has
// ended. start travels with index 0 and is not used when that is stored
// already. Close the appender.
func (b *Bus) OpenInvoke(ctx context.Context, thread, invoke string, start InvokeStart) (*FrameAppender, InvokeState, error) {
	if err := start.validate(); err != nil {
		return nil, InvokeState{}, err
	}
	st, err := b.InvokeState(ctx, thread, invoke)
	if err != nil {
		return nil, st, err
	}
	if st.Ended {
		return nil, st, ErrEnded
	}
	a, err := b.newAppender(thread, invoke, start, st.Next, st.Seq)
	return a, st, err
}

func (b *Bus) newAppender(thread, invoke string, start InvokeStart, next int64, seq uint64) (*FrameAppender, error) {
	a := &FrameAppender{
		b: b, thread: thread, invoke: invoke, start: start,
		stream: b.names.FramesStream(b.Shard(thread)), subject: b.names.Frames(thread, invoke),
		inbox: b.nc.NewInbox(), stored: next, next: next, seq: seq,
		attempt: 1, delay: firstDelay, changed: make(chan struct{}),
	}
	sub, err := b.nc.Subscribe(a.inbox+".*.*", a.onAnswer)
	if err != nil {
		return nil, fmt.Errorf("append frames: %w", err)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return nil, errors.Join(err, sub.Unsubscribe())
	}
	a.sub = sub
	a.timer = time.AfterFunc(time.Hour, a.onTimer)
	a.timer.Stop()
	return a, nil
}

// Append queues the frame of an index and returns before it is stored; it
// waits while the window is full. An index below the next one was queued or
// stored before and is skipped, so that a retried request is idempotent; one
// beyond it is an ErrGap. body is the appender's until it is stored.
func (a *FrameAppender) Append(ctx context.Context, index int64, body []byte) error {
	return a.put(ctx, Frame{Kind: KindFrame, Index: index, Body: body})
}

// End queues the end of the invoke after the last frame. An end takes the
// next index; the invoke takes nothing after it.
func (a *FrameAppender) End(ctx context.Context, end End) error {
	if !end.Reason.valid() {
		return fmt.Errorf("%w: reason of an end", ErrPoison)
	}
	a.mu.Lock()
	next := a.next
	a.mu.Unlock()
	return a.put(ctx, Frame{Kind: KindEnd, Index: next, End: end})
}

func (a *FrameAppender) put(ctx context.Context, f Frame) error {
	if err := a.b.checkSize(len(f.Body)); err != nil {
		return err
	}
	for {
		a.mu.Lock()
		switch {
		case a.err != nil:
			defer a.mu.Unlock()
			return a.err
		case f.Index < a.next:
			a.mu.Unlock()
			return nil
		case a.ended:
			a.mu.Unlock()
			return ErrEnded
		case f.Index > a.next:
			defer a.mu.Unlock()
			return fmt.Errorf("%w: %d, the next one is %d", ErrGap, f.Index, a.next)
		case len(a.queue) == 0 || len(a.queue) < a.b.opts.Window && a.bytes+len(f.Body) <= appendBytes:
			a.enqueue(f)
			a.mu.Unlock()
			return nil
		}
		changed := a.changed
		a.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (a *FrameAppender) enqueue(f Frame) {
	f.Thread, f.Invoke, f.Start = a.thread, a.invoke, a.start
	a.next++
	a.ended = f.Kind == KindEnd
	a.queue = append(a.queue, &pendingFrame{frame: f})
	a.bytes += len(f.Body)
	if len(a.queue) == 1 {
		a.timer.Reset(a.b.opts.AckWait)
	}
	a.pump()
}

// pump sends what this attempt has not sent yet.
func (a *FrameAppender) pump() {
	first := len(a.queue)
	for first > 0 && !a.queue[first-1].sent {
		first--
	}
	for _, p := range a.queue[first:] {
		if a.broken || a.err != nil {
			return
		}
		p.sent = true
		if err := a.send(p); err != nil {
			a.fail(err)
		}
	}
}

func (a *FrameAppender) send(p *pendingFrame) error {
	p.frame.floor = floor{next: a.stored, seq: a.seq}
	reply := a.inbox + "." + strconv.FormatUint(a.attempt, 10) + "." + strconv.FormatInt(p.frame.Index, 10)
	return a.b.send(a.b.split(a.subject, p.frame.header(), p.frame.Body), reply)
}

// fail ends the attempt. A transient error starts another after a delay.
func (a *FrameAppender) fail(err error) {
	if a.broken || a.err != nil {
		return
	}
	if final := finalAppendError(err); final != nil {
		a.end(fmt.Errorf("append frames: %w", final))
		return
	}
	a.broken = true
	a.timer.Reset(a.delay)
	a.delay = min(2*a.delay, lastDelay)
}

// finalAppendError is the error that no later attempt can mend; nil if one may.
func finalAppendError(err error) error {
	var e *APIError
	switch {
	case errors.Is(err, ErrClosed), errors.Is(err, nats.ErrConnectionClosed):
		return ErrClosed
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	case !errors.As(err, &e):
		return nil
	case e.ErrCode == codeStoreFailed && strings.Contains(e.Text, "maximum"):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case e.ErrCode == codeTooLarge:
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return nil
}

// end makes err final. a.mu is held.
func (a *FrameAppender) end(err error) {
	if a.err == nil {
		a.err = err
		a.timer.Stop()
		a.notify()
	}
}

func (a *FrameAppender) notify() {
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *FrameAppender) onTimer() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil || len(a.queue) == 0 {
		return
	}
	a.attempt++
	a.broken = false
	for _, p := range a.queue {
		p.sent, p.seq = false, 0
	}
	a.timer.Reset(a.b.opts.AckWait)
	a.pump()
}

func (a *FrameAppender) onAnswer(m *nats.Msg) {
	attempt, index, ok := answerTo(m.Subject, len(a.inbox)+1)
	ack := parseAck(m)
	a.mu.Lock()
	defer a.mu.Unlock()
	i := int64(index) - a.stored
	if !ok || a.err != nil || attempt != a.attempt || i < 0 || i >= int64(len(a.queue)) {
		return
	}
	if ack.err != nil {
		a.fail(ack.err)
		return
	}
	a.queue[i].seq = ack.seq
	done := 0
	for done < len(a.queue) && a.queue[done].seq != 0 {
		p := a.queue[done]
		if p.seq <= a.seq {
			// Stored before its predecessor: it would be skipped.
			a.fail(errors.New("frames were stored out of order"))
			break
		}
		a.seq = p.seq
		a.bytes -= len(p.frame.Body)
		done++
	}
	if done == 0 {
		return
	}
	clear(a.queue[:done])
	a.queue = a.queue[done:]
	a.stored += int64(done)
	if !a.broken {
		a.delay = firstDelay
		if len(a.queue) == 0 {
			a.timer.Stop()
		} else {
			a.timer.Reset(a.b.opts.AckWait)
		}
	} else if len(a.queue) == 0 {
		a.broken = false
		a.timer.Stop()
	}
	a.notify()
}

// answerTo reads "<attempt>.<n>" at the end of a reply subject.
func answerTo(subj string, from int) (attempt, n uint64, ok bool) {
	if from > len(subj) {
		return 0, 0, false
	}
	x, y, _ := strings.Cut(subj[from:], ".")
	attempt, err1 := strconv.ParseUint(x, 10, 64)
	n, err2 := strconv.ParseUint(y, 10, 64)
	return attempt, n, err1 == nil && err2 == nil
}

// Stored is the number of frames, an end included, that are acknowledged:
// all of index 0 to Stored()-1.
func (a *FrameAppender) Stored() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stored
}

// Next is the index that Append takes next.
func (a *FrameAppender) Next() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next
}

// Flush waits until all that was queued is stored. The error is ctx's, or the
// one that stopped the appender; Stored tells how far it came.
func (a *FrameAppender) Flush(ctx context.Context) error {
	a.mu.Lock()
	want := a.next
	a.mu.Unlock()
	_, err := a.WaitStored(ctx, want)
	return err
}

// WaitStored waits until at least n frames are stored and returns how many are.
func (a *FrameAppender) WaitStored(ctx context.Context, n int64) (int64, error) {
	for {
		a.mu.Lock()
		stored, err, changed := a.stored, a.err, a.changed
		a.mu.Unlock()
		if stored >= n || err != nil {
			if stored >= n {
				err = nil
			}
			return stored, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return stored, ctx.Err()
		}
	}
}

// Close gives up what is not stored. It does not end the invoke.
func (a *FrameAppender) Close() {
	a.mu.Lock()
	a.end(ErrClosed)
	a.mu.Unlock()
	_ = a.sub.Unsubscribe()
}
