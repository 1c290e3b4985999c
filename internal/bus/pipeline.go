package bus

import (
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/zap"
)

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
	if errors.Is(err, nats.ErrMaxPayload) {
		w.doom = fmt.Errorf("%w: the server's max_payload was lowered", ErrFatal)
	}
	w.b.log.Debug("writer stops to claim again", zap.Int("shard", w.shard), zap.NamedError("err", err))
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
	w.again++
	w.sent, w.n, w.acked, w.sentMsgs, w.answered = 0, 0, 0, 0, 0
	for _, e := range w.queue {
		e.last, e.acked = 0, false
	}
	return nil
}
