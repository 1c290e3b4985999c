package bus

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/zap"
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
	stuck      bool // an error stands; nothing is sent until claimed again
	err        error
	changed    chan struct{}
}

// entry is a message that is not yet stored, or not yet known to be.
type entry struct {
	subject string
	event   EventHeader // Thread "" = a checkpoint
	body    []byte
	parts   int
	last    uint64 // its last message is the n-th of the claim; 0 = not sent
	sentAt  time.Time
	acked   bool
	done    func(Stored)
}

// batchWait is what each further chunk of a batch adds to the patience.
const batchWait = 20 * time.Millisecond

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
// of the writer's, and must neither block nor call the writer. It is not
// called for what the writer has not seen stored when it ends: the successor
// finds out.
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

// pump sends what may be sent now. A message in chunks is one atomic batch,
// sent when nothing else is under way. w.mu is held.
func (w *FencedWriter) pump() {
	for !w.stuck && w.err == nil && w.sent < len(w.queue) {
		e := w.queue[w.sent]
		if w.sent > 0 && (e.parts > 1 || w.queue[w.sent-1].parts > 1) {
			return
		}
		w.sent++
		if err := w.send(e); err != nil {
			w.fail(err)
		}
	}
}

func (w *FencedWriter) send(e *entry) error {
	first := w.n + 1
	w.n += uint64(e.parts)
	e.last, e.sentAt, e.acked = w.n, time.Now(), false
	w.sentMsgs++
	msgs := w.b.split(e.subject, w.headerOf(e, first), e.body)
	setUint(msgs[0].Header, natsExpectedLastSeq, w.held.seq+first-1)
	return w.b.send(msgs, ackSubject(w.inbox, w.gen, e.last))
}

func (w *FencedWriter) headerOf(e *entry, first uint64) nats.Header {
	if e.event.Thread == "" {
		return make(nats.Header, 4)
	}
	h := e.event
	h.Term = w.held.term
	h.Epoch = w.epochOf(e, first)
	return h.header()
}

// epochOf is the epoch of an event message whose first chunk is the n-th
// message of the claim.
func (w *FencedWriter) epochOf(e *entry, n uint64) Epoch {
	if e.event.Starts() {
		return Epoch{Incarnation: w.incarnation, Seq: w.held.seq + n}
	}
	return e.event.Epoch
}

// fail stops the pipeline and calls for a new claim. w.mu is held.
func (w *FencedWriter) fail(err error) {
	if w.stuck || w.err != nil {
		return
	}
	w.stuck = true
	w.b.log.Debug("writer stops to claim again", zap.Int("shard", w.shard), zap.Error(err))
	select {
	case w.trouble <- struct{}{}:
	default:
	}
}

func (w *FencedWriter) onReconnect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent > 0 {
		w.fail(errors.New("answers may have been lost with the connection"))
	}
}

func (w *FencedWriter) onAnswer(m *nats.Msg) {
	gen, n, ok := answerTo(m.Subject, len(w.inbox)+1)
	ack := parseAck(m)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !ok || gen != w.gen || w.err != nil {
		return
	}
	w.answered++
	w.lastAnswer = time.Now()
	i := sort.Search(w.sent, func(i int) bool { return w.queue[i].last >= n })
	switch {
	case ack.err != nil:
		w.fail(ack.err)
		return
	case i == w.sent || w.queue[i].last != n:
		return
	case ack.seq != w.held.seq+n:
		w.fail(fmt.Errorf("stored at %d, not %d", ack.seq, w.held.seq+n))
		return
	}
	w.queue[i].acked = true
	if i == 0 {
		w.pop(func(e *entry) bool { return e.acked })
		w.pump()
	}
}

// pop takes what is stored off the queue's head and reports it. w.mu is held,
// so that reports keep the order.
func (w *FencedWriter) pop(isStored func(*entry) bool) {
	k := 0
	for k < w.sent && isStored(w.queue[k]) {
		e := w.queue[k]
		w.acked = e.last
		seq := w.held.seq + e.last
		if e.event.Thread == "" {
			w.checkpoint = checkpointData{body: e.body, covers: seq - uint64(e.parts), seq: seq}
		}
		if e.done != nil {
			e.done(Stored{Seq: seq, Epoch: w.epochOf(e, e.last-uint64(e.parts)+1)})
		}
		k++
	}
	if k == 0 {
		return
	}
	clear(w.queue[:k])
	w.queue = w.queue[k:]
	w.sent -= k
	w.notify()
}

func (w *FencedWriter) notify() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// position is the claim held, the messages acknowledged and sent under it,
// and the checkpoint that the next claim carries.
func (w *FencedWriter) position() (c claim, acked, sent uint64, cp checkpointData) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held, w.acked, w.n, w.checkpoint
}

// landed takes over a new claim of one's own: what the old one stored, up to
// the sequence tail, is reported, the rest is sent again.
func (w *FencedWriter) landed(c claim, tail uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if tail < w.held.seq+w.acked || tail > w.held.seq+w.n {
		return fmt.Errorf("%w: the claim follows %d, not %d to %d", ErrFenced, tail, w.held.seq+w.acked, w.held.seq+w.n)
	}
	w.pop(func(e *entry) bool { return w.held.seq+e.last <= tail })
	w.held = c
	w.gen++
	w.sent, w.n, w.acked, w.sentMsgs, w.answered = 0, 0, 0, 0, 0
	for _, e := range w.queue {
		e.last, e.acked = 0, false
	}
	return nil
}

// Run keeps the writer going until ctx ends, which is nil, or it is fenced,
// which is ErrFenced. On any error, or an oldest ack older than
// Options.AckWait, it claims again and sends what did not land. The writer has
// ended when Run returns.
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
			err := w.reclaim(ctx)
			if ctx.Err() != nil {
				w.end(ErrClosed)
				return nil
			}
			if errors.Is(err, nats.ErrConnectionClosed) {
				err = ErrClosed
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
