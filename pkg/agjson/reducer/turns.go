package reducer

import (
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

func (s *Structure) turnStart(ev *agjson.Event, dry bool) (effect, string) {
	if dry {
		return effect{}, ""
	}
	t, fresh := s.openTurn(ev.TurnID)
	return effect{turn: t, fresh: fresh}, ""
}

func (s *Structure) subagentStart(ev *agjson.Event, b *agjson.SubagentStart, dry bool) (effect, string) {
	if dry {
		return effect{}, ""
	}
	t, fresh := s.openTurn(ev.TurnID)
	t.nested, t.parent = true, strings.Clone(b.ParentTurnID)
	return effect{turn: t, fresh: fresh}, ""
}

// openTurn is idempotent (SPEC §5 turn-open idempotency). A turn that was closed is open again: what follows attaches
// under it, and its next terminal counts.
func (s *Structure) openTurn(id string) (t *turn, fresh bool) {
	t = s.turns[id]
	switch {
	case t == nil:
		t, fresh = &turn{id: strings.Clone(id), order: s.next()}, true
		s.join(t)
		s.turns[t.id] = t
		s.order = append(s.order, t)
		for _, m := range t.group.msgs { // a snapshot may bring messages of a turn before the turn
			if m != nil {
				m.attach(t)
			}
		}
	case !t.closed:
		return t, false
	default:
		t.closed, t.paused = false, false
	}
	t.openAt = len(s.open)
	s.open = append(s.open, t)
	return t, fresh
}

// next is the rank of what is made now, among all that was.
func (s *Structure) next() uint64 {
	s.count++
	return s.count
}

func (s *Structure) group(turnID string) *group {
	g := s.groups[turnID]
	if g == nil {
		g = &group{id: strings.Clone(turnID)}
		s.groups[g.id] = g
	}
	return g
}

// join gives the turn the group of its messages.
func (s *Structure) join(t *turn) {
	if t.group = s.groups[t.id]; t.group == nil {
		t.group = &group{id: t.id}
		s.groups[t.id] = t.group
	}
}

// close takes the turn from the open ones, and seals what it left open; what takes only results goes back to that. A
// preliminary result stays one.
func (s *Structure) close(t *turn) {
	last := len(s.open) - 1
	s.open[t.openAt] = s.open[last]
	s.open[t.openAt].openAt = t.openAt
	s.open[last] = nil
	s.open = s.open[:last]
	s.busy -= t.unsealed + t.waiting
	for i := range t.parts {
		p := &t.parts[i]
		for _, m := range p.stack {
			switch {
			case m.seal == started && m.born:
				m.seal = adopted
			case m.seal == started:
				m.seal = sealed
			}
		}
		p.stack = slices.DeleteFunc(p.stack, func(m *message) bool { return m.removed || !m.open() })
	}
	for _, r := range t.pending {
		r.old = r.waiting
	}
	t.closed, t.unsealed, t.waiting, t.pending = true, 0, 0, nil
}

func (s *Structure) turnEnd(ev *agjson.Event, dry bool) (effect, string) {
	t, reason := s.owner(ev)
	if reason != "" || dry {
		return effect{}, reason
	}
	s.close(t)
	return effect{turn: t}, ""
}

func (s *Structure) turnDone(ev *agjson.Event, b *agjson.TurnDone, dry bool) (effect, string) {
	t := s.turns[ev.TurnID]
	switch {
	case t == nil:
		return effect{}, noTurn
	case t.closed:
		return effect{}, closedTurn
	}
	e := effect{turn: t}
	if b.MessageMetadata != nil {
		if e.msg = t.openMessage(); ev.MessageID != "" {
			e.msg = s.msgs[ev.MessageID]
		}
		if e.msg == nil {
			return effect{}, "no message takes its messageMetadata"
		}
	}
	if !dry {
		s.close(t)
	}
	return e, ""
}

// subagentDone closes the nested turn; after the turn's own terminal it says nothing new.
func (s *Structure) subagentDone(ev *agjson.Event, dry bool) (effect, string) {
	t := s.turns[ev.TurnID]
	switch {
	case t == nil:
		return effect{}, noTurn
	case !t.nested:
		return effect{}, "its turn is not a nested one"
	case t.closed:
		return effect{skip: true}, ""
	}
	if !dry {
		s.close(t)
	}
	return effect{turn: t}, ""
}

// record is every event that only adds to a turn's record.
func (s *Structure) record(ev *agjson.Event) (effect, string) {
	t, reason := s.owner(ev)
	return effect{turn: t}, reason
}
