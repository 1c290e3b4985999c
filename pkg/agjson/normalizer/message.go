package normalizer

import (
	"maps"
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

type message struct {
	id      string
	turn    *turn
	start   agjson.MessageStart
	open    bool
	removed bool
	adopted string   // the tool call whose result made it, "" for one that message.start opened
	next    *message // the continuation of a sealed one
}

// OpenMessage opens a message in the turn of that id or key ("" is the last opened turn, or a new one) and returns its id, which
// is derived when id is empty. An open one of that id is returned as it is; a sealed one is continued.
func (e *Engine) OpenMessage(turnKey, id string, b *agjson.MessageStart) string {
	e.Emit(agjson.Event{ID: id, TurnID: turnKey, Body: b})
	if id == "" {
		return e.unsealed[len(e.unsealed)-1].id
	}
	return e.messages[id].latest().id
}

// CloseMessage seals a message. One that is sealed or unknown is left alone; usage for it is refused.
func (e *Engine) CloseMessage(id string, usage *agjson.Usage) {
	e.Emit(agjson.Event{ID: id, Body: &agjson.MessageEnd{Usage: usage}})
}

// MessageOpen says whether the message of that id, or its continuation, is open.
func (e *Engine) MessageOpen(id string) bool {
	m := e.messages[id]
	return m != nil && m.latest().open
}

// HasMessage says whether a message of that id stands in the fold.
func (e *Engine) HasMessage(id string) bool {
	m := e.messages[id]
	return m != nil && !m.removed
}

// RemoveMessage deletes a message (SPEC §5 message.remove); an unknown one is let pass, as the fold lets it.
func (e *Engine) RemoveMessage(id string) {
	e.Emit(agjson.Event{ID: id, Body: &agjson.MessageRemove{}})
}

func (m *message) latest() *message {
	for m.next != nil {
		m = m.next
	}
	return m
}

func (e *Engine) messageStart(ev agjson.Event, b *agjson.MessageStart) {
	if b.ThreadID != "" {
		e.NameThread(b.ThreadID)
	}
	t := e.place(&ev)
	id := strings.Clone(ev.ID)
	if id == "" {
		id = e.Derive(t.id, "message")
	}
	if old := e.messages[id]; old != nil {
		if old.latest().open {
			return
		}
		e.continueMessage(old.latest(), t, b)
		return
	}
	e.openMessage(&message{id: id, turn: t, start: *b}, ev)
}

func (e *Engine) openMessage(m *message, ev agjson.Event) {
	m.open = true
	m.start.ThreadID = e.Thread()
	e.messages[m.id] = m
	e.unsealed = append(e.unsealed, m)
	m.turn.target[zero(m.start.CandidateIndex)] = m
	body := m.start
	ev.ID, ev.TurnID, ev.MessageID, ev.Body = m.id, m.turn.id, "", &body
	e.put(ev)
}

// continueMessage opens what goes on after the sealed m.
func (e *Engine) continueMessage(m *message, t *turn, b *agjson.MessageStart) *message {
	if b == nil {
		b = &m.start
	}
	first := m.id
	if i := strings.LastIndexByte(first, '~'); i > 0 && e.messages[first[:i]] != nil {
		first = first[:i]
	}
	m.next = &message{id: again(first, func(id string) bool { return e.messages[id] != nil }), turn: t, start: *b}
	if m.next.start.Role == "" {
		m.next.start.Role = agjson.RoleAssistant
	}
	e.openMessage(m.next, agjson.Event{})
	return m.next
}

// messageEnd seals the message and its continuations; the usage goes to the last.
func (e *Engine) messageEnd(ev agjson.Event, b *agjson.MessageEnd) {
	m := e.messages[ev.ID]
	for m != nil && m.next != nil {
		if m.open {
			e.seal(m, agjson.Event{Body: &agjson.MessageEnd{}})
		}
		m = m.next
	}
	if m == nil || !m.open {
		if b.Usage != nil {
			e.refuse("no-open-message", ev)
		}
		return
	}
	e.seal(m, ev)
}

func (e *Engine) seal(m *message, end agjson.Event) {
	m.open = false
	e.unsealed = slices.DeleteFunc(e.unsealed, func(x *message) bool { return x == m })
	end.ID, end.TurnID, end.MessageID = m.id, m.turn.id, ""
	e.put(end)
}

// sealAll seals what is open in a turn, in opening order.
func (e *Engine) sealAll(t *turn) {
	for _, m := range slices.Clone(e.unsealed) {
		if m.turn == t {
			e.seal(m, agjson.Event{Body: &agjson.MessageEnd{}})
		}
	}
}

func (e *Engine) messageRemove(ev agjson.Event) {
	if ev.ID == "*" {
		t := e.owner(&ev)
		if t == nil {
			e.refuse("no-turn", ev)
			return
		}
		ev.TurnID = t.id
		e.forget(func(m *message) bool { return m.turn == t })
		e.put(ev)
		return
	}
	if m := e.messages[ev.ID]; m != nil {
		ev.TurnID = m.turn.id
		e.forget(func(x *message) bool { return x == m })
	} else {
		e.mark(&ev)
	}
	e.put(ev)
}

// forget leaves removed messages out of what is open. Their ids and those of their blocks stay taken; their tool calls
// and results are gone from the fold, so that a framework may make them again.
func (e *Engine) forget(gone func(*message) bool) {
	for _, m := range e.messages {
		m.removed = m.removed || gone(m)
	}
	for _, c := range e.calls {
		if c.msg != nil && gone(c.msg) {
			c.msg = nil
		}
		if c.home != nil && gone(c.home) {
			c.home, c.result, c.final = nil, nil, false
		}
	}
	maps.DeleteFunc(e.whole, func(_ string, w whole) bool { return gone(w.msg) })
	e.unsealed = slices.DeleteFunc(e.unsealed, func(m *message) bool {
		if !gone(m) {
			return false
		}
		m.open = false
		return true
	})
	for _, t := range e.turns {
		for c, m := range t.target {
			if gone(m) {
				t.target[c] = e.reverted(t, c)
			}
		}
	}
}

// reverted is the message that takes the blocks of a turn and candidate once their target is removed: the unsealed one opened last.
func (e *Engine) reverted(t *turn, candidate agjson.Number) *message {
	for _, m := range slices.Backward(e.unsealed) {
		if m.turn == t && zero(m.start.CandidateIndex) == candidate {
			return m
		}
	}
	return nil
}

// home is the open message in which a block is made: the one named, or the one its turn opened last, or a new one.
func (e *Engine) home(ev *agjson.Event, candidate agjson.Number) *message {
	if m := e.messages[ev.MessageID]; m != nil && ev.MessageID != "" {
		m = m.latest()
		if !m.open || m.turn.target[zero(m.start.CandidateIndex)] != m {
			m = e.continueMessage(m, e.live(m.turn), nil)
		}
		ev.MessageID = m.id
		joinCandidate(ev, m)
		return m
	}
	t := e.place(ev)
	if ev.MessageID == "" {
		if m := e.openIn(t, candidate); m != nil {
			return m
		}
	}
	e.messageStart(agjson.Event{ID: ev.MessageID, TurnID: t.id}, &agjson.MessageStart{Role: agjson.RoleAssistant, CandidateIndex: candidate})
	m := e.unsealed[len(e.unsealed)-1]
	ev.MessageID = m.id
	return m
}

// joinCandidate makes a block's event of the candidate that its message is of: the fold finds the message by it.
func joinCandidate(ev *agjson.Event, m *message) {
	var p *agjson.Number
	switch b := ev.Body.(type) {
	case *agjson.TextStart:
		p = &b.CandidateIndex
	case *agjson.ReasoningStart:
		p = &b.CandidateIndex
	case *agjson.ToolStart:
		p = &b.CandidateIndex
	case *agjson.ContentBlock:
		p = &b.CandidateIndex
	default:
		return
	}
	if zero(*p) != zero(m.start.CandidateIndex) {
		*p = m.start.CandidateIndex
	}
}

// openIn is the message that takes new blocks of a turn and candidate, which is the one it opened last (SPEC §5 message
// partitioning); nil when that one is sealed or there is none.
func (e *Engine) openIn(t *turn, candidate agjson.Number) *message {
	if m := t.target[zero(candidate)]; m != nil && m.open {
		return m
	}
	return nil
}

// zero reads an absent candidate as candidate 0 (SPEC §5 partitioning).
func zero(n agjson.Number) agjson.Number {
	if n == "" {
		return "0"
	}
	return n
}

func (e *Engine) messageMetadata(ev agjson.Event) {
	var m *message
	if ev.MessageID != "" {
		m = e.messages[ev.MessageID]
	} else if t := e.owner(&ev); t != nil {
		m = e.openIn(t, "")
	}
	switch {
	case m == nil || m.latest().removed:
		e.refuse("no-such-message", ev)
	case !m.turn.open:
		e.refuse("closed-turn", ev)
	default:
		ev.TurnID = m.turn.id
		if ev.MessageID != "" {
			ev.MessageID = m.latest().id
		}
		e.put(ev)
	}
}
