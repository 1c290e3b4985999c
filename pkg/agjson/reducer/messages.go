package reducer

import (
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

func (s *Structure) messageStart(ev *agjson.Event, b *agjson.MessageStart, dry bool) (effect, string) {
	t := s.turns[ev.TurnID]
	switch {
	case t == nil:
		return effect{}, noTurn
	case t.closed:
		return effect{}, closedTurn
	case s.msgs[ev.ID] != nil:
		return effect{}, "its message id is taken"
	case dry:
		return effect{}, ""
	}
	m := s.addMessage(&message{id: strings.Clone(ev.ID), turn: t, cand: candidateKey(b.CandidateIndex), tool: b.Role == agjson.RoleTool}, t.group)
	p := t.partition(m.cand, true)
	p.target = m
	p.stack = append(p.stack, m)
	t.unsealed++
	s.busy++
	return effect{turn: t, msg: m, fresh: true}, ""
}

// addMessage gives the message its place among all and in its group, which may be nil.
func (s *Structure) addMessage(m *message, g *group) *message {
	m.rank, m.order = len(s.all), s.next()
	s.all = append(s.all, m)
	s.msgs[m.id] = m
	if m.group = g; g != nil {
		m.at = len(g.msgs)
		g.msgs = append(g.msgs, m)
	}
	return m
}

func (s *Structure) messageEnd(ev *agjson.Event, dry bool) (effect, string) {
	m := s.msgs[ev.ID]
	if m == nil {
		return effect{}, noSuch
	}
	t, reason := m.liveTurn()
	switch {
	case reason != "":
		return effect{}, reason
	case m.seal != started || m.born:
		return effect{}, sealedTarget
	case dry:
		return effect{}, ""
	}
	m.seal = sealed
	t.unsealed--
	s.busy--
	return effect{msg: m}, ""
}

// messageRemove is idempotent: an id that is not there, like a turn without messages, is a no-op.
func (s *Structure) messageRemove(ev *agjson.Event, dry bool) (effect, string) {
	if ev.ID == "*" && ev.TurnID == "" {
		return effect{}, `id "*" without a turnId`
	}
	if dry {
		return effect{}, ""
	}
	clear(s.gone)
	s.gone = s.gone[:0]
	if ev.ID != "*" {
		if m := s.msgs[ev.ID]; m != nil {
			s.removeMessage(m)
			s.gone = append(s.gone, m)
		}
		return effect{gone: s.gone}, ""
	}
	if g := s.groups[ev.TurnID]; g != nil {
		list := g.msgs
		g.msgs, g.holes = nil, 0
		for _, m := range list {
			if m != nil {
				m.group = nil
				s.removeMessage(m)
				s.gone = append(s.gone, m)
			}
		}
	}
	return effect{gone: s.gone}, ""
}

func (s *Structure) removeMessage(m *message) {
	m.removed = true
	delete(s.msgs, m.id)
	s.all[m.rank] = nil
	s.holes++
	s.settle()
	for _, b := range m.nodes {
		s.release(b)
	}
	if g := m.group; g != nil {
		g.msgs[m.at] = nil
		g.holes++
		g.settle()
	}
	t := m.turn
	if t == nil {
		return
	}
	if t.closed {
		if p := t.partition(m.cand, false); p != nil && p.target == m {
			p.target = nil
		}
		return
	}
	if m.seal == started {
		t.unsealed--
		s.busy--
	}
	for _, b := range m.nodes {
		if b.waiting && !b.old {
			t.waiting--
			s.busy--
		}
	}
	s.revert(t, m)
}

// settle closes the holes once they are half of the list.
func (g *group) settle() {
	if g.holes <= 8 || g.holes <= len(g.msgs)/2 {
		return
	}
	g.msgs = slices.DeleteFunc(g.msgs, func(m *message) bool { return m == nil })
	for i, m := range g.msgs {
		m.at = i
	}
	g.holes = 0
}

// settle closes the holes among all messages once they are half of them.
func (s *Structure) settle() {
	if s.holes <= 8 || s.holes <= len(s.all)/2 {
		return
	}
	s.all = slices.DeleteFunc(s.all, func(m *message) bool { return m == nil })
	for i, m := range s.all {
		m.rank = i
	}
	s.holes = 0
}

// revert moves the pointer of the partition off a removed message, to the last one opened that is still there and not
// sealed (SPEC §5 message.remove). Each message leaves the stack once, so the work is linear in all of them.
func (s *Structure) revert(t *turn, m *message) {
	for i := range t.parts {
		p := &t.parts[i]
		if p.target != m {
			continue
		}
		p.target = nil
		for n := len(p.stack); n > 0; n-- {
			top := p.stack[n-1]
			if !top.removed && top.open() {
				p.target = top
				s.reopen(top)
				break
			}
			p.stack[n-1] = nil
			p.stack = p.stack[:n-1]
		}
	}
}

// reopen makes a message that has taken only results take blocks as well.
func (s *Structure) reopen(m *message) {
	if m.seal != started {
		m.seal = started
		m.turn.unsealed++
		s.busy++
	}
}

func (s *Structure) messageMetadata(ev *agjson.Event) (effect, string) {
	if ev.MessageID != "" {
		m := s.msgs[ev.MessageID]
		if m == nil {
			return effect{}, noSuch
		}
		return effect{msg: m}, ""
	}
	t, reason := s.owner(ev)
	if reason != "" {
		return effect{}, reason
	}
	m := t.openMessage()
	if m == nil {
		return effect{}, noMessage
	}
	return effect{msg: m}, ""
}

// messagesSnapshot replaces the messages and, where it carries them, the other containers; all that was open in a message
// is gone.
func (s *Structure) messagesSnapshot(b *agjson.MessagesSnapshot, dry bool) (effect, string) {
	if dry {
		return effect{}, ""
	}
	s.parked = ""
	s.clearMessages()
	s.busy = 0
	if b.Turns != nil {
		s.turns, s.order, s.open = map[string]*turn{}, nil, nil
		for i := range b.Turns {
			s.restoreTurn(&b.Turns[i])
		}
	}
	for _, t := range s.order {
		t.unsealed, t.waiting, t.parts, t.pending = 0, 0, nil, nil
		s.join(t)
	}
	for i := range b.Messages {
		s.restoreMessage(&b.Messages[i])
	}
	if b.Artifacts != nil {
		s.arts, s.artSeq = nil, nil
		for i := range b.Artifacts {
			s.restoreArtifact(&b.Artifacts[i])
		}
	}
	if b.Memory != nil {
		s.restoreMemory(b.Memory)
	}
	return effect{}, ""
}

func (s *Structure) restoreTurn(rec *agjson.TurnRecord) {
	if s.turns[rec.TurnID] != nil {
		return // the first of two records of one turn counts
	}
	t, _ := s.openTurn(rec.TurnID)
	if rec.ParentTurnID != nil {
		t.nested, t.parent = true, strings.Clone(*rec.ParentTurnID)
	}
	if rec.Outcome != nil {
		s.close(t)
		_, t.paused = rec.Outcome.(*agjson.PausedOutcome)
	}
}

func (s *Structure) restoreMessage(v *agjson.Message) {
	if s.msgs[v.ID] != nil {
		return // the first of two messages of one id counts
	}
	m := &message{id: strings.Clone(v.ID), cand: candidateKey(v.CandidateIndex), seal: restored, tool: v.Role == agjson.RoleTool, born: true}
	var g *group
	if v.TurnID != nil {
		m.turn = s.turns[*v.TurnID]
		g = s.group(*v.TurnID)
	}
	s.addMessage(m, g)
	if m.turn != nil {
		m.attach(m.turn)
	}
	for i := range v.Content {
		s.identify(&block{msg: m, at: i}, "", v.Content[i])
	}
}

// attach gives a restored message its place in its partition. What was opened last was no tool's message, since those are
// born by tool.done; it is sealed, but its removal reverts from it.
func (m *message) attach(t *turn) {
	m.turn = t
	if p := t.partition(m.cand, true); m.tool {
		p.stack = append(p.stack, m)
	} else {
		p.target = m
	}
}
