package threads

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// Fold is the fold of one thread, and where in the log it stands. It is not safe for concurrent use.
type Fold struct {
	thread string
	red    *reducer.Reducer
	epoch  bus.Epoch         // zero before the first message
	next   int64             // ordinal that must come next
	read   uint64            // stream sequence of the last message taken
	at     snapshot.Position // of the last event folded; behind read while parked
	base   snapshot.Version  // what the store has, and Update is made against; zero = not known
	size   int64
	taken  int64          // events taken since the fold was made
	events []agjson.Event // of the message at hand
}

// Fate is what became of a message.
type Fate uint8

// The fates of a message.
const (
	Folded  Fate = iota // its events are in the fold, or have parked it
	Skipped             // it is folded already, or of an older epoch
	Gap                 // it does not follow; nothing was changed
)

// Taken says what became of a message.
type Taken struct {
	Fate   Fate
	Events int  // taken
	Ended  bool // a turn has ended
	Began  bool // an epoch began with it
}

// NewFold is the fold of a thread before its first message.
func NewFold(thread string) *Fold { return &Fold{thread: thread, red: reducer.New()} }

// Take folds the next message of the thread's log: the one whose first ordinal follows the last one folded, in the same epoch,
// or one that begins a newer epoch, with which all before it is forgotten. The message's body must not change afterwards.
//
// An error is an ErrPoison: the message cannot be folded, now or ever, and the fold is not to be used again.
func (f *Fold) Take(m *bus.EventMessage) (Taken, error) {
	if m.Err != nil {
		return Taken{}, m.Err
	}
	began := false
	switch c := m.Epoch.Compare(f.epoch); {
	case c < 0, c == 0 && m.StreamSeq <= f.read:
		return Taken{Fate: Skipped}, nil
	case c > 0 && !m.Starts(), c == 0 && m.First != f.next:
		return Taken{Fate: Gap}, nil
	case c > 0:
		began = true
	}
	kept, err := f.decode(m)
	if err != nil {
		return Taken{}, err
	}
	if began {
		*f = Fold{thread: f.thread, red: reducer.New(), epoch: m.Epoch, taken: f.taken, events: f.events}
	}
	f.size += kept
	f.taken += m.Count
	got := Taken{Events: len(f.events), Began: began}
	before := f.red.Seq()
	for i := range f.events {
		f.red.Push(f.events[i])
		switch f.events[i].Body.(type) {
		case *agjson.TurnDone, *agjson.TurnError, *agjson.TurnAbort:
			got.Ended = true
		}
	}
	f.clear()
	f.next, f.read = m.Last()+1, m.StreamSeq
	if f.red.Seq() != before {
		f.at = snapshot.Position{
			Version: VersionOf(f.epoch, m.StreamSeq), Ordinal: f.red.Seq(),
			Cursor:    bus.Cursor{Epoch: f.epoch, Ordinal: f.red.Seq()}.String(),
			UpdatedAt: activity(m.Time), OpenTurn: f.red.OpenTurn(),
		}
	}
	return got, nil
}

// activity is a time that a position can have.
func activity(t time.Time) time.Time {
	if t.UnixMicro() <= 0 {
		return time.UnixMicro(1).UTC()
	}
	return t.Truncate(time.Microsecond).UTC()
}

// decode reads the events of a message, since none of them is folded unless all can be, and says how much of them the fold keeps.
func (f *Fold) decode(m *bus.EventMessage) (size int64, err error) {
	f.clear()
	at := m.First
	err = agjson.EachLine(m.Body, func(line []byte) error {
		kept := len(line)
		if d := deltaSize(line); d >= 0 {
			kept = d // the reducer copies a delta's text
		} else if 2*len(line) < len(m.Body) {
			line = bytes.Clone(line) // what is kept of it must not keep the message
		}
		ev, err := agjson.Decode(line)
		if err != nil {
			return fmt.Errorf("%w: event %d: %w", bus.ErrPoison, at, err)
		}
		if ev.Seq != at {
			return fmt.Errorf("%w: event %d has the seq %d", bus.ErrPoison, at, ev.Seq)
		}
		size += int64(kept)
		f.events = append(f.events, ev)
		at++
		return nil
	})
	if err == nil && at != m.First+m.Count {
		err = fmt.Errorf("%w: %d events where the header says %d", bus.ErrPoison, at-m.First, m.Count)
	}
	return size, err
}

// deltaSize is about how much of an event the fold keeps if it is a delta of a stream; -1 if it is none, or not spelt as the
// encoder does.
func deltaSize(line []byte) int {
	for _, prefix := range [][]byte{[]byte(`{"type":"text.delta",`), []byte(`{"type":"reasoning.delta",`), []byte(`{"type":"tool.args.delta",`)} {
		if bytes.HasPrefix(line, prefix) {
			return len(line) / 8
		}
	}
	return -1
}

// keepEvents is how many events a fold may have room for between messages.
const keepEvents = 256

func (f *Fold) clear() {
	clear(f.events)
	f.events = f.events[:0]
	if cap(f.events) > keepEvents {
		f.events = nil
	}
}

// Parked says why the fold waits for a snapshot; "" while live (SPEC §5 INV-SEQ). What a parked fold holds, and Position, is
// what was folded before.
func (f *Fold) Parked() string { return f.red.Parked() }

// Epoch is that of what is folded; zero before the first message.
func (f *Fold) Epoch() bus.Epoch { return f.epoch }

// Position is where the fold stands; zero before the first message.
func (f *Fold) Position() snapshot.Position { return f.at }

// Size is about how many bytes of memory the fold takes.
func (f *Fold) Size() int64 { return f.size + 4096 }

// Taken is how many events this Fold has taken, those of FromLog included; what it was restored from is not counted.
func (f *Fold) Taken() int64 { return f.taken }

// Result is the fold as a copy.
func (f *Fold) Result() agjson.ReduceResult { return f.red.Result() }

// Reaches says whether the fold can take a message with this header, or has taken it.
func (f *Fold) Reaches(h bus.EventHeader) bool {
	switch c := h.Epoch.Compare(f.epoch); {
	case c < 0:
		return true
	case c > 0:
		return h.Starts()
	}
	return h.First <= f.next
}

// Dirty says whether the store does not have the fold, as far as is known.
func (f *Fold) Dirty() bool { return f.base != f.at.Version }

// Stored says that the store has this version, as an Update said it. One of another epoch is ignored.
func (f *Fold) Stored(v snapshot.Version) {
	if v.SameEpoch(f.at.Version) {
		f.base = v
	}
}

// Forget says that it is not known what the store has: the next Update is all of the fold.
func (f *Fold) Forget() { f.base = snapshot.Version{} }

// Update is what has changed since the last Update, made against what Stored said last; all of the fold where that is not
// known. It shares nothing with the fold. Every Update must be stored, or Forget be called. The fold must be Dirty.
func (f *Fold) Update() snapshot.Update {
	if f.base == (snapshot.Version{}) {
		f.red.Changes() // all of them are in the snapshot
		s := f.red.Snapshot()
		u := snapshot.Update{Position: f.at, Reset: true, Set: wholeFields(&s)}
		f.size = 0
		for _, v := range u.Set {
			f.size += int64(len(v.Data))
		}
		return u
	}
	c := f.red.Changes()
	set, gone := changedFields(&c)
	return snapshot.Update{Position: f.at, Base: f.base, Set: set, Delete: gone}
}

// Restore is the fold that goes on where a snapshot was taken. It keeps parts of s. An error says that s is not what Update makes.
func Restore(thread string, s snapshot.Snapshot) (*Fold, error) {
	var f *Fold
	err := bus.Guard(func() error {
		rs, size, err := decodeSnapshot(&s)
		if err != nil {
			return err
		}
		v := s.Position.Version
		f = &Fold{
			thread: thread, red: reducer.Import(rs), epoch: EpochOf(v), next: s.Position.Ordinal + 1, read: v.Sequence,
			at: s.Position, base: v, size: size,
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("restore a fold: %w", err)
	case f.red.Parked() != "" || f.red.Seq() != s.Position.Ordinal:
		return nil, errors.New("restore a fold: its parts do not fit together")
	case f.epoch.IsZero() || VersionOf(f.epoch, f.read) != f.base:
		return nil, errors.New("restore a fold: its version is none of the log")
	}
	return f, nil
}
