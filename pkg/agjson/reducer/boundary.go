package reducer

import (
	"cmp"
	"slices"

	"github.com/agwire/agwire/pkg/agjson"
)

// tracker keeps what the last boundary looked like, and what has changed since Changes was last called. Both cost what the
// events change, not what the thread holds: while an open part is under way, a message or a record is copied before its
// first change.
type tracker struct {
	gen      uint64 // which open part; content that was copied in it is marked with it
	quiet    bool   // the event in hand ends at a boundary
	messages map[string]*Ranked[agjson.Message]
	turns    map[string]*turnBefore
	odd      map[string]*turn // turns of which the record does not show whether they are open, as of the boundary

	dirtyMessages, dirtyTurns, dirtyArtifacts map[string]struct{}
	memory, state, live, open                 bool
}

// turnBefore is a turn at the boundary.
type turnBefore struct {
	Ranked[agjson.TurnRecord]
	odd bool
}

// Ranked is a value and its place among those of its kind: ascending, never used twice, not dense.
type Ranked[T any] struct {
	Order uint64
	Value T
}

func newTracker() tracker {
	return tracker{
		gen:      1,
		messages: map[string]*Ranked[agjson.Message]{}, turns: map[string]*turnBefore{}, odd: map[string]*turn{},
		dirtyMessages: map[string]struct{}{}, dirtyTurns: map[string]struct{}{}, dirtyArtifacts: map[string]struct{}{},
	}
}

// touch is called before the message changes; fresh says that it is new.
func (r *Reducer) touch(m *message, fresh bool) {
	k := &r.track
	switch {
	case k.quiet:
		k.dirtyMessages[m.id] = struct{}{}
	case fresh || m.c.touched != k.gen:
		if _, ok := k.messages[m.id]; !ok {
			k.messages[m.id] = nil
			if !fresh {
				k.messages[m.id] = &Ranked[agjson.Message]{m.order, *m.value()}
			}
		}
		if !fresh {
			m.c.touched = k.gen
		}
	}
	if !fresh {
		m.c.built = nil
	}
}

// touchTurn is called before the record changes; fresh says that it is new.
func (r *Reducer) touchTurn(t *turn, fresh bool) {
	k := &r.track
	if k.quiet {
		k.dirtyTurns[t.id] = struct{}{}
		return
	}
	if _, ok := k.turns[t.id]; ok {
		return
	}
	k.turns[t.id] = nil
	if !fresh {
		k.turns[t.id] = &turnBefore{Ranked[agjson.TurnRecord]{t.order, t.rec.value()}, k.odd[t.id] != nil}
	}
}

// settle moves the boundary up to here.
func (r *Reducer) settle(e effect) {
	k := &r.track
	if e.turn != nil {
		r.judge(e.turn)
	}
	if len(r.open.list) > 0 {
		k.open = true
		r.open.clear()
	}
	if len(k.messages) == 0 && len(k.turns) == 0 {
		return
	}
	for id := range k.messages {
		k.dirtyMessages[id] = struct{}{}
	}
	for id := range k.turns {
		k.dirtyTurns[id] = struct{}{}
		if t := r.s.turns[id]; t != nil {
			r.judge(t)
		}
	}
	clear(k.messages)
	clear(k.turns)
	k.gen++
}

// judge notes whether the turn's record shows if it is open; it is called when the turn has changed.
func (r *Reducer) judge(t *turn) {
	if t.closed == (t.rec.rec.Outcome != nil) {
		if _, was := r.track.odd[t.id]; was {
			r.track.live = true
			delete(r.track.odd, t.id)
		}
		return
	}
	r.track.live = true
	r.track.odd[t.id] = t
}

// replace marks all that a messages.snapshot takes away; it is called before.
func (r *Reducer) replace(b *agjson.MessagesSnapshot) {
	k := &r.track
	for id := range r.s.msgs {
		k.dirtyMessages[id] = struct{}{}
	}
	for id := range k.messages {
		k.dirtyMessages[id] = struct{}{}
	}
	clear(k.messages)
	for id := range k.turns {
		k.dirtyTurns[id] = struct{}{}
	}
	clear(k.turns)
	if b.Turns != nil {
		for id := range r.s.turns {
			k.dirtyTurns[id] = struct{}{}
		}
		k.live = k.live || len(k.odd) > 0
		clear(k.odd)
	}
	if b.Artifacts != nil {
		for id := range r.s.arts {
			k.dirtyArtifacts[id] = struct{}{}
		}
	}
	k.memory = k.memory || b.Memory != nil
	k.gen++
}

// messageAt is the message as of the boundary; nil where it was not there.
func (r *Reducer) messageAt(id string) *Ranked[agjson.Message] {
	if b, ok := r.track.messages[id]; ok {
		return b
	}
	if m := r.s.msgs[id]; m != nil {
		return &Ranked[agjson.Message]{m.order, *m.value()}
	}
	return nil
}

// turnAt is the record as of the boundary; nil where it was not there.
func (r *Reducer) turnAt(id string) *Ranked[agjson.TurnRecord] {
	if b, ok := r.track.turns[id]; ok {
		if b == nil {
			return nil
		}
		return &b.Ranked
	}
	if t := r.s.turns[id]; t != nil {
		return &Ranked[agjson.TurnRecord]{t.order, t.rec.value()}
	}
	return nil
}

// messagesAt is all messages as of the boundary.
func (r *Reducer) messagesAt() []Ranked[agjson.Message] {
	out := make([]Ranked[agjson.Message], 0, len(r.s.msgs))
	for _, m := range r.s.all {
		if m == nil {
			continue
		}
		if _, ok := r.track.messages[m.id]; !ok {
			out = append(out, Ranked[agjson.Message]{m.order, *m.value()})
		}
	}
	for _, b := range r.track.messages {
		if b != nil {
			out = append(out, *b)
		}
	}
	return ranked(out)
}

// turnsAt is all records as of the boundary.
func (r *Reducer) turnsAt() []Ranked[agjson.TurnRecord] {
	out := make([]Ranked[agjson.TurnRecord], 0, len(r.s.order))
	for _, t := range r.s.order {
		if _, ok := r.track.turns[t.id]; !ok {
			out = append(out, Ranked[agjson.TurnRecord]{t.order, t.rec.value()})
		}
	}
	for _, b := range r.track.turns {
		if b != nil {
			out = append(out, b.Ranked)
		}
	}
	return ranked(out)
}

func ranked[T any](list []Ranked[T]) []Ranked[T] {
	slices.SortFunc(list, func(a, b Ranked[T]) int { return cmp.Compare(a.Order, b.Order) })
	return list
}

// oddTurns are events that say of a turn what its record does not: a nested turn that subagent.done closed without a
// terminal, a turn that was opened again. As of the boundary.
func (r *Reducer) oddTurns(dst []agjson.Event) []agjson.Event {
	list := make([]*turn, 0, len(r.track.odd))
	for _, t := range r.track.odd {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *turn) int { return cmp.Compare(a.order, b.order) })
	for _, t := range list {
		ev := agjson.Event{TurnID: t.id}
		rec := r.turnAt(t.id).Value
		switch {
		case rec.Outcome == nil:
			ev.Body = &agjson.SubagentDone{ParentTurnID: text(rec.ParentTurnID)}
		case rec.ParentTurnID != nil:
			ev.Body = &agjson.SubagentStart{ParentTurnID: *rec.ParentTurnID}
		default:
			ev.Body = &agjson.TurnStart{ThreadID: rec.ThreadID}
		}
		dst = append(dst, ev)
	}
	return dst
}
