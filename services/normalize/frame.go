package normalize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/pkg/agjson"
)

// batch is the events of one or more consecutive frames of one invoke, on their way to one message of the log.
type batch struct {
	t      *thread
	head   bus.EventHeader
	body   []byte
	frames []time.Time // when the broker stored them
}

// frame works on one message of the frames stream.
func (o *shardWork) frame(ctx context.Context, f bus.Frame) error {
	o.dirty = true
	if f.Err != nil {
		o.log.Warn("parked what is no frame", zap.Uint64("seq", f.Seq), zap.Error(f.Err))
		o.s.m.frames.WithLabelValues("", fateParked).Inc()
		o.consumed = f.Seq
		return nil
	}
	if f.Kind == bus.KindInput {
		o.consumed = f.Seq
		return nil
	}
	t, err := o.thread(ctx, f.Thread)
	if err != nil {
		return err
	}
	t.touched = time.Now()
	inv := t.open[f.Invoke]
	fate, err := o.route(ctx, t, &f)
	if err != nil {
		return err
	}
	source := f.Start.Source
	if inv != nil {
		source = inv.source
	}
	o.s.m.frames.WithLabelValues(label(source), fate).Inc()
	o.consumed = f.Seq
	return o.sendNow(ctx, t)
}

// route gives a frame to its invoke, and says what became of it.
func (o *shardWork) route(ctx context.Context, t *thread, f *bus.Frame) (fate string, err error) {
	if f.Seq <= t.reflected {
		return fateSkipped, nil // the predecessor has written what it yields
	}
	if end, ok := t.closed[f.Invoke]; ok {
		if f.Kind == bus.KindFrame && f.Index >= end {
			o.late(t, f)
			return fateLate, nil
		}
		return fateSkipped, nil
	}
	inv := t.open[f.Invoke]
	if inv == nil {
		if f.Index != 0 {
			return fateSkipped, nil
		}
		inv = t.begin(f)
	} else if inv.mapper == nil {
		if err := o.rebuild(ctx, t, inv); err != nil {
			return "", err
		}
		if t.open[inv.id] == nil {
			return fateParked, nil // the rebuild ended it
		}
	}
	if f.Index != inv.frame+1 {
		return fateSkipped, nil
	}
	if o.s.parked(o.shard, f.Seq) {
		o.log.Warn("parked a frame", zap.String("thread", t.id), zap.String("invoke", inv.id), zap.Uint64("seq", f.Seq))
		o.fail(t, inv, f.Seq, "frame_parked", "a frame could not be worked on")
		return fateParked, nil
	}
	o.see(openInvoke{t.id, inv.id})
	inv.frame = f.Index
	o.push(t, inv, f)
	return fateMapped, nil
}

// push maps one frame and appends what it yields to what waits.
func (o *shardWork) push(t *thread, inv *invoke, f *bus.Frame) {
	var events []agjson.Event
	if f.Kind == bus.KindEnd {
		events = inv.mapper.Flush()
		abort(events, f.End.Reason)
		o.s.m.ends.WithLabelValues(string(f.End.Reason)).Inc()
	} else {
		events = inv.mapper.Push(f.Body)
	}
	closed := f.Kind == bus.KindEnd
	if len(events) > 0 || closed || f.Index == 0 {
		o.gather(t, inv, events, f.Seq, f.Time, closed)
	}
	if closed {
		o.close(t, inv, f.Index)
	}
}

// abort says why in the turns that a flush had to close (SPEC §5 INV-FLUSH).
func abort(events []agjson.Event, why bus.EndReason) {
	reason := ""
	switch why {
	case bus.EndIdle:
		reason = "idle"
	case bus.EndCancel:
		reason = "cancelled"
	default:
		return
	}
	for i := range events {
		if b, ok := events[i].Body.(*agjson.TurnAbort); ok {
			b.Reason = new(reason)
		}
	}
}

// close moves an invoke to those that have ended; end is the index of its end.
func (o *shardWork) close(t *thread, inv *invoke, end int64) {
	delete(t.open, inv.id)
	t.closed[inv.id] = end
	o.unsee(openInvoke{t.id, inv.id})
}

// gather writes events into the batch that waits last, or begins another.
func (o *shardWork) gather(t *thread, inv *invoke, events []agjson.Event, seq uint64, at time.Time, closed bool) {
	var b *batch
	if n := len(t.waiting); n > 0 && t.waiting[n-1].head.Invoke == inv.id && len(t.waiting[n-1].body) < o.s.cfg.MaxBatch {
		b = t.waiting[n-1]
	} else {
		b = &batch{t: t, head: bus.EventHeader{Thread: t.id, First: t.next}}
		t.waiting = append(t.waiting, b)
	}
	before := len(b.body)
	n, refused := 0, inv.refused
	b.body, n = t.write(b.body, inv, events)
	o.gathered += len(b.body) - before
	o.s.m.refused.Add(float64(inv.refused - refused))
	h := &b.head
	h.Count += int64(n)
	h.Invoke, h.Turn, h.Frame, h.Next, h.Opened = inv.id, inv.turn, inv.frame, inv.own, inv.opened
	h.Digest, h.Closed, h.FrameSeq = inv.digest.String(), closed, seq
	b.frames = append(b.frames, at)
	t.reflected = seq
}

// late says that a frame came after its invoke had ended; what it held stays in the frames stream.
func (o *shardWork) late(t *thread, f *bus.Frame) {
	b := &batch{t: t, head: bus.EventHeader{Thread: t.id, First: t.next, FrameSeq: f.Seq, Frame: -1}, frames: []time.Time{f.Time}}
	if t.next == 0 {
		ev := first()
		b.body = t.put(b.body, &ev, "")
		b.head.Count++
	}
	b.body = t.put(b.body, &agjson.Event{Body: &agjson.Ext{Name: "ext.agwire.late", Members: []agjson.Member{
		{Name: "invoke", Value: agjson.AppendString(nil, f.Invoke)},
		{Name: "index", Value: fmt.Appendf(nil, "%d", f.Index)},
	}}}, "")
	b.head.Count++
	o.gathered += len(b.body)
	t.waiting = append(t.waiting, b)
	t.reflected = f.Seq
}

// fail ends an invoke that cannot go on: its turn in an error, itself for good. Frames that come still are passed over.
func (o *shardWork) fail(t *thread, inv *invoke, seq uint64, code, message string) {
	inv.frame = math.MaxInt64 // so that the log says it too
	var events []agjson.Event
	for _, turn := range t.openTurns(inv) {
		events = append(events, agjson.Event{TurnID: turn, Seq: inv.own + int64(len(events)), Body: &agjson.TurnError{Message: message, Code: new(code)}})
	}
	inv.qualify = newQualifier(t.structure, inv.turn) // these are the log's own names
	o.gather(t, inv, events, seq, time.Now(), true)
	o.close(t, inv, inv.frame)
}

// sendNow sends what waits in a thread that has nothing in flight: an idle thread's first token leaves at once, a busy one's
// batches grow.
func (o *shardWork) sendNow(ctx context.Context, t *thread) error {
	if t.inFlight > 0 {
		return nil
	}
	return o.send(ctx, t)
}

// send publishes all that waits in a thread. Before the first message of an epoch is stored nothing can follow it, since the
// epoch is that message's place.
func (o *shardWork) send(ctx context.Context, t *thread) error {
	for len(t.waiting) > 0 {
		if t.epoch.IsZero() && t.inFlight > 0 {
			return nil
		}
		b := t.waiting[0]
		t.waiting = t.waiting[1:]
		b.head.Epoch = t.epoch
		t.inFlight++
		o.since++
		if err := o.w.Publish(ctx, b.head, b.body, func(s bus.Stored) { o.done(b, s) }); err != nil {
			return fmt.Errorf("publish events: %w", err)
		}
	}
	return nil
}

// done runs on the writer's goroutine.
func (o *shardWork) done(b *batch, s bus.Stored) {
	o.mu.Lock()
	o.stored = append(o.stored, storedBatch{b, s.Epoch})
	o.mu.Unlock()
	select {
	case o.signal <- struct{}{}:
	default:
	}
}

// acked takes note of what the log has stored and sends what gathered meanwhile.
func (o *shardWork) acked(ctx context.Context) error {
	o.mu.Lock()
	list := o.stored
	o.stored = nil
	o.mu.Unlock()
	now := time.Now()
	for _, s := range list {
		t := s.b.t
		t.inFlight--
		if t.epoch.IsZero() {
			t.epoch = s.epoch
		}
		o.gathered -= len(s.b.body)
		o.s.m.messages.Inc()
		o.s.m.events.Add(float64(s.b.head.Count))
		for _, at := range s.b.frames {
			o.s.m.delay.Observe(now.Sub(at).Seconds())
		}
		if err := o.sendNow(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// thread is the thread of an id, read from the log when it is not in memory.
func (o *shardWork) thread(ctx context.Context, id string) (*thread, error) {
	if t := o.threads[id]; t != nil {
		return t, nil
	}
	t := newThread(id)
	head, err := o.s.deps.Bus.Head(ctx, id)
	if err == nil {
		err = o.load(ctx, t, head)
	}
	if err != nil && !errors.Is(err, bus.ErrNotFound) {
		return nil, err
	}
	o.threads[id] = t
	o.s.m.threads.Inc()
	return t, nil
}
