package normalize

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/pkg/agjson"
)

// load folds the structure of a thread from its log, and learns which invokes it has seen.
func (o *shardWork) load(ctx context.Context, t *thread, head bus.Head) error {
	t.epoch = head.Epoch
	for m, err := range o.s.deps.Bus.ReadThreadTo(ctx, t.id, head.Epoch.Seq, head.StreamSeq) {
		if err == nil {
			err = m.Err
		}
		if err == nil {
			err = t.replayMessage(m)
		}
		if err != nil {
			return fmt.Errorf("read the log of a thread: %w", err)
		}
	}
	if t.next != head.Last()+1 {
		return fmt.Errorf("read the log of a thread: it ends at ordinal %d, its head says %d", t.next-1, head.Last())
	}
	return nil
}

// replayMessage takes over one message of the thread's log.
func (t *thread) replayMessage(m bus.EventMessage) error {
	if m.First != t.next {
		return fmt.Errorf("ordinal %d follows %d", m.First, t.next-1)
	}
	t.reflected = max(t.reflected, m.FrameSeq)
	lost := map[string]string{}
	if before := t.open[m.Invoke]; before != nil {
		lost = before.lost
	}
	if err := agjson.EachLine(m.Body, func(line []byte) error {
		ev, err := agjson.Decode(line)
		if err != nil {
			return err
		}
		t.replay(&ev, m.Invoke)
		if x, ok := ev.Body.(*agjson.Ext); ok && x.Name == refusedName && ev.TurnID != "" {
			lost[ev.TurnID] = reasonOf(x)
		}
		return nil
	}); err != nil {
		return err
	}
	switch {
	case m.Invoke == "":
	case m.Closed:
		delete(t.open, m.Invoke)
		t.closed[m.Invoke] = m.Frame
	default:
		t.open[m.Invoke] = &invoke{id: m.Invoke, turn: m.Turn, opened: m.Opened, frame: m.Frame, own: m.Next, was: m.Digest, lost: lost}
	}
	return nil
}

// reasonOf is why the event inside was refused.
func reasonOf(x *agjson.Ext) string {
	for _, m := range x.Members {
		if m.Name == "reason" {
			if v, err := agjson.ParseValue(m.Value); err == nil {
				return v.Str()
			}
		}
	}
	return "unknown"
}

// rebuild makes the normalizer of an open invoke again, by its frames up to where the log reflects them, and checks that it
// says what it said then. Where it does not, or where frames are gone, the invoke ends in an error (DESIGN §3).
func (o *shardWork) rebuild(ctx context.Context, t *thread, inv *invoke) error {
	want, digest := inv.own, inv.was
	upTo := max(t.reflected, o.consumed)
	inv.frame, inv.own, inv.digest = -1, 0, newDigest()
	for f, err := range o.s.deps.Bus.ReadInvoke(ctx, t.id, inv.id, inv.opened, upTo) {
		if err != nil {
			return err
		}
		if f.Err != nil || f.Index != inv.frame+1 || f.Kind != bus.KindFrame {
			continue
		}
		if f.Index == 0 {
			inv.start(t, &f)
			inv.qualify.replay = true
		}
		inv.frame = f.Index
		for _, ev := range inv.mapper.Push(f.Body) {
			inv.own = ev.Seq + 1
			inv.digest.add(&ev)
			inv.qualify.event(&ev)
		}
	}
	if inv.mapper != nil && inv.own == want && inv.digest.String() == digest {
		inv.qualify.replay = false
		o.s.m.rebuilds.WithLabelValues("same").Inc()
		return nil
	}
	code, message := "mapper_changed", "the mapper changed while the invoke was open"
	if inv.mapper == nil {
		code, message = "frames_gone", "the frames of the invoke are no longer stored"
	}
	o.s.m.rebuilds.WithLabelValues(code).Inc()
	o.log.Warn("an open invoke cannot go on", zap.String("thread", t.id), zap.String("invoke", inv.id), zap.String("code", code))
	o.fail(t, inv, upTo, code, message)
	return nil
}
