package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// FencedWriter is the one writer of a shard's events stream. It knows the
// sequence that each of its messages will get, and publishes them pipelined,
// each under the expectation of exactly that: if one does not land, none
// after it lands, and none of a former owner lands at all (DESIGN §3).
//
// A call of Publish or Checkpoint queues a message; its done function is
// called once the message and all before it are stored. Messages are stored
// in the order of the calls, each exactly once, whatever happens to the broker
// in between, until the writer ends: fenced, or by its context.
//
// Its methods are safe for concurrent use.
type FencedWriter struct {
	b           *Bus
	shard       int
	incarnation int64
	inbox       string
	sub         *nats.Subscription
	listener    *listener
	window      int
	trouble     chan struct{} // capacity 1: Run must claim again
	dead        chan struct{} // closed when the writer has ended

	mu         sync.Mutex
	held       claim
	gen        uint64 // of the claim; answers of earlier ones do not count
	checkpoint checkpointData
	queue      []*entry
	sent       int    // entries of queue that were sent under this claim
	n          uint64 // messages sent under this claim: the last one expects held.seq+n-1
	acked      uint64 // messages acknowledged in order under this claim
	sentMsgs   int    // sends that get an answer, under this claim
	answered   int
	lastAnswer time.Time
	stuck      bool  // an error stands; nothing is sent until claimed again
	doom       error // what claiming again cannot mend
	err        error
	again      int // claims after the first
	changed    chan struct{}
}

// Stored says where a message was stored.
type Stored struct {
	Seq   uint64 // sequence of its last chunk in the events stream
	Epoch Epoch  // of an event message: the one given, or the one that it began
}

func (b *Bus) newWriter(shard int, incarnation int64, c claim, cp checkpointData) (*FencedWriter, error) {
	w := &FencedWriter{
		b: b, shard: shard, incarnation: incarnation, inbox: b.nc.NewInbox(), window: c.window,
		trouble: make(chan struct{}, 1), dead: make(chan struct{}),
		held: c, gen: 1, checkpoint: cp, lastAnswer: time.Now(), changed: make(chan struct{}),
	}
	sub, err := b.nc.Subscribe(w.inbox+".*.*", w.onAnswer)
	if err != nil {
		return nil, fmt.Errorf("claim shard %d: %w", shard, err)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return nil, errors.Join(err, sub.Unsubscribe())
	}
	w.sub = sub
	w.listener = &listener{sub: sub, reconnected: w.onReconnect}
	b.listen(w.listener)
	return w, nil
}

// Shard is the shard written to.
func (w *FencedWriter) Shard() int { return w.shard }

// Term is the number of the claim that stands: each claim of the shard has one
// more than the claim before it.
func (w *FencedWriter) Term() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held.term
}

// Incarnation is that of the events stream, as in Epoch.
func (w *FencedWriter) Incarnation() int64 { return w.incarnation }

// Publish queues an event message and returns before it is stored; it waits
// while the window is full. A message of any size up to Options.MaxMessage
// keeps one place in the order. The body must not be changed before done is
// called.
//
// done may be nil. It is called in the order of the messages, by a goroutine
// of the writer's, and must neither block nor call the writer: send to a
// channel that has room for a window. It is not called for what the writer has
// not seen stored when it ends: the successor finds out.
//
// h.Epoch is zero exactly when h holds ordinal 0, which begins an epoch; done
// tells it. h.Term is stamped. The error is ctx's, an ErrPoison or ErrTooLarge
// for a message that cannot be written, or Err's.
func (w *FencedWriter) Publish(ctx context.Context, h EventHeader, body []byte, done func(Stored)) error {
	if err := h.validate(); err != nil {
		return err
	}
	if w.b.Shard(h.Thread) != w.shard {
		return fmt.Errorf("%w: thread of another shard", ErrPoison)
	}
	return w.put(ctx, &entry{subject: w.b.names.Events(h.Thread), event: h, body: body, done: done})
}

// Checkpoint queues a checkpoint: opaque bytes from which a successor goes on
// together with the headers of the event messages behind it. It speaks for
// all that was published before it. It is not republished to live subscribers.
func (w *FencedWriter) Checkpoint(ctx context.Context, body []byte, done func(Stored)) error {
	return w.put(ctx, &entry{subject: w.b.names.Checkpoint(w.shard), body: body, done: done})
}

// LastCheckpoint returns the newest checkpoint that is stored, nil if there is
// none, and the stream sequence up to which it speaks. Right after Claim it is
// the predecessor's.
func (w *FencedWriter) LastCheckpoint() (body []byte, covers uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.checkpoint.body, w.checkpoint.covers
}

// Headers returns a reader of the headers, without bodies, of the event
// messages that lie behind the last checkpoint and before the first claim of
// this writer. Its Next fails with ErrEndOfLog behind the last one. Call it
// before the first Checkpoint.
func (w *FencedWriter) Headers() *EventReader {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.b.ReadEvents(w.shard, w.checkpoint.covers)
	r.r.headersOnly = true
	r.until = w.held.seq
	return r
}

func (w *FencedWriter) put(ctx context.Context, e *entry) error {
	if err := w.b.checkSize(len(e.body)); err != nil {
		return err
	}
	e.parts = w.b.parts(len(e.body))
	for {
		w.mu.Lock()
		if w.err != nil {
			defer w.mu.Unlock()
			return w.err
		}
		if len(w.queue) < w.window {
			w.queue = append(w.queue, e)
			w.pump()
			w.mu.Unlock()
			return nil
		}
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Run keeps the writer going until ctx ends, which is nil, or it is fenced,
// which is ErrFenced. On any error, or an oldest ack older than
// Options.AckWait, it claims again and sends what did not land. The writer has
// ended when Run returns: let ctx outlive the work by the time that Flush may
// take. WriteShard does all that.
func (w *FencedWriter) Run(ctx context.Context) error {
	tick := time.NewTicker(max(w.b.opts.AckWait/8, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			w.end(ErrClosed)
			return nil
		case <-w.b.gone:
			w.end(ErrClosed)
			return fmt.Errorf("write events: %w", ErrClosed)
		case <-tick.C:
			w.checkAge()
		case <-w.trouble:
			err := w.doomed()
			if err == nil {
				err = w.reclaim(ctx)
			}
			if ctx.Err() != nil {
				w.end(ErrClosed)
				return nil
			}
			if err != nil {
				err = fmt.Errorf("write events of shard %d: %w", w.shard, err)
				w.end(err)
				return err
			}
			w.resume()
		}
	}
}

func (w *FencedWriter) doomed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.doom
}

func (w *FencedWriter) checkAge() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent == 0 {
		return
	}
	// A batch takes the broker longer, by its size.
	if e := w.queue[0]; time.Since(e.sentAt) > w.b.opts.AckWait+time.Duration(e.parts-1)*batchWait {
		w.fail(errors.New("no answer"))
	}
}

// resume sends again under the claim that now stands.
func (w *FencedWriter) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.trouble:
	default:
	}
	w.stuck = false
	w.lastAnswer = time.Now()
	w.pump()
}

// Flush waits until all that was queued is stored. The error is ctx's or Err's.
func (w *FencedWriter) Flush(ctx context.Context) error {
	for {
		w.mu.Lock()
		n, err, changed := len(w.queue), w.err, w.changed
		w.mu.Unlock()
		if n == 0 || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// InFlight is how many messages are queued and not yet known to be stored.
func (w *FencedWriter) InFlight() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue)
}

// Reclaims is how often the writer had to claim again.
func (w *FencedWriter) Reclaims() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.again
}

// Err is nil while the writer works, else why it ended: ErrFenced or ErrClosed.
func (w *FencedWriter) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Done is closed when the writer has ended; Err then says why.
func (w *FencedWriter) Done() <-chan struct{} { return w.dead }

// Close ends a writer that is not run. After Run it does nothing.
func (w *FencedWriter) Close() { w.end(ErrClosed) }

func (w *FencedWriter) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err = err
	w.b.unlisten(w.listener)
	_ = w.sub.Unsubscribe()
	close(w.dead)
	w.notify()
}
