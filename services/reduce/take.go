package reduce

import (
	"errors"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/threads"
)

// errGap is why a thread is given up whose messages do not follow one another in the log.
var errGap = errors.New("a message does not follow what the log holds before it")

// take gives one message to the fold of a thread that is not loading.
func (o *shardWork) take(t *thread, m *bus.EventMessage) {
	if t.phase != live {
		if !m.Starts() {
			o.s.m.messages.WithLabelValues(fatePassed).Inc()
			if !t.voiding {
				o.settle(t)
			}
			return
		}
		o.begunAnew(t)
		t.refolded = false
		o.setParked(t, false)
		o.setFold(t, live, threads.NewFold(t.id))
	}
	var got threads.Taken
	err := bus.Guard(func() (err error) {
		got, err = t.fold.Take(m)
		return err
	})
	if err != nil {
		o.fault(t, m, err)
		return
	}
	switch got.Fate {
	case threads.Skipped:
		o.s.m.messages.WithLabelValues(fateSkipped).Inc()
		return
	case threads.Gap:
		o.s.m.messages.WithLabelValues(fateGap).Inc()
		if t.gapped {
			o.giveUp(t, faultLog, errGap)
			return
		}
		t.gapped = true
		o.log.Warn("a message does not follow what is folded, folding the thread from the log", zap.String("thread", t.id), zap.Uint64("seq", m.StreamSeq))
		o.reload(t, fromLog)
		t.queue = append(t.queue, *m)
		return
	}
	t.gapped = false
	if got.Began {
		t.refolded = false
		o.setParked(t, false)
	}
	o.s.m.events.Add(float64(got.Events))
	o.weigh(t)
	t.urgent = t.urgent || got.Ended
	o.judge(t, m)
}

// judge looks whether the fold is parked, which it must not be: what is written to the log is checked first. It is folded
// again once; if that does not help, its snapshot stays where it was.
func (o *shardWork) judge(t *thread, m *bus.EventMessage) {
	why := t.fold.Parked()
	if why == "" {
		o.setParked(t, false)
		o.s.m.messages.WithLabelValues(fateFolded).Inc()
		return
	}
	o.s.m.messages.WithLabelValues(fateParked).Inc()
	if t.parked {
		return
	}
	if t.refolded {
		o.stayParked(t)
		return
	}
	o.log.Error("a fold is parked, folding the thread again", zap.String("thread", t.id), zap.Uint64("seq", m.StreamSeq), zap.String("err", why))
	t.refolded = true
	o.reload(t, fromLog)
}

func (o *shardWork) stayParked(t *thread) {
	if t.parked {
		return
	}
	t.refolded = true
	o.setParked(t, true)
	o.s.m.faults.WithLabelValues(faultParked).Inc()
	o.log.Error("a fold is parked though folded again, its snapshot stays behind", zap.String("thread", t.id), zap.String("err", t.fold.Parked()))
}

// reload drops the fold and has it come by again; the thread must not be in the line.
func (o *shardWork) reload(t *thread, from origin) {
	o.setFold(t, loading, nil)
	t.origin = from
	o.hasten(t)
}

// fault gives a thread up because of one message.
func (o *shardWork) fault(t *thread, m *bus.EventMessage, err error) {
	why := faultLog
	if errors.Is(err, bus.ErrPanic) {
		why = faultPanic
	}
	o.s.m.messages.WithLabelValues(fatePoison).Inc()
	o.log.Error("a message cannot be folded", zap.String("thread", t.id), zap.Uint64("seq", m.StreamSeq), zap.Error(err))
	o.giveUp(t, why, err)
}

// giveUp passes a thread over until its next epoch. What is stored of it stays: where the log cannot be folded, it is all there is.
func (o *shardWork) giveUp(t *thread, why string, err error) {
	say := o.log.Error
	if errors.Is(err, bus.ErrTrimmed) {
		say = o.log.Warn // as old as the log is kept
	}
	fields := []zap.Field{zap.String("thread", t.id), zap.Error(err)}
	if p := (*bus.PanicError)(nil); errors.As(err, &p) {
		fields = append(fields, zap.ByteString("stack", p.Stack))
	}
	say("a thread is given up until its next epoch", fields...)
	o.s.m.faults.WithLabelValues(why).Inc()
	o.settle(t)
	o.setParked(t, false)
	o.setFold(t, broken, nil)
}
