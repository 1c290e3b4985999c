package reducer

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// streamStart creates a block that deltas will fill. Its id must be new (SPEC §5 INV-BLOCK).
func (s *Structure) streamStart(ev *agjson.Event, kind blockKind, candidate agjson.Number, dry bool) (effect, string) {
	m, reason := s.target(ev, candidate)
	switch {
	case reason != "":
		return effect{}, reason
	case s.find(ev.ID) != nil:
		return effect{}, "its block id is taken"
	case dry:
		return effect{}, ""
	}
	b := &block{kind: kind, id: strings.Clone(ev.ID), msg: m}
	s.blocks[b.id] = b
	s.enter(b)
	return effect{msg: m, block: b, fresh: true}, ""
}

// reasoningStart creates a block, or opens the summary part of a block that is still open.
func (s *Structure) reasoningStart(ev *agjson.Event, b *agjson.ReasoningStart, dry bool) (effect, string) {
	if old := s.find(ev.ID); b.PartIndex != "" && old != nil && old.kind == reasoningBlock {
		return s.delta(ev, reasoningBlock)
	}
	return s.streamStart(ev, reasoningBlock, b.CandidateIndex, dry)
}

// stream finds the block that an event names; its message must still take something.
func (s *Structure) stream(ev *agjson.Event, kind blockKind) (effect, string) {
	b := s.lastBlock
	if b == nil || b.id != ev.ID {
		b = s.find(ev.ID)
	}
	switch {
	case b == nil:
		return effect{}, noSuch
	case b.kind != kind:
		return effect{}, "its block is of another kind"
	}
	if reason := b.msg.writable(); reason != "" {
		return effect{}, reason
	}
	s.lastBlock = b
	return effect{msg: b.msg, block: b}, ""
}

// writable says why the blocks of the message cannot change; "" when they can (SPEC §5 INV-MSG).
func (m *message) writable() string {
	if m.turn != nil && m.turn.closed {
		return closedTurn
	}
	if m.seal != started {
		return sealedTarget
	}
	return ""
}

func (s *Structure) delta(ev *agjson.Event, kind blockKind) (effect, string) {
	e, reason := s.stream(ev, kind)
	if reason == "" && e.block.sealed {
		return effect{}, "its block is sealed"
	}
	return e, reason
}

func (s *Structure) streamEnd(ev *agjson.Event, kind blockKind, dry bool) (effect, string) {
	e, reason := s.delta(ev, kind)
	if reason == "" && !dry {
		e.block.sealed = true
	}
	return e, reason
}

func (s *Structure) toolStart(ev *agjson.Event, b *agjson.ToolStart, dry bool) (effect, string) {
	m, reason := s.target(ev, b.CandidateIndex)
	switch {
	case reason != "":
		return effect{}, reason
	case s.calls.newest(b.ToolCallID) != nil:
		return effect{}, "its toolCallId is taken"
	case dry:
		return effect{}, ""
	}
	n := &block{kind: callBlock, call: strings.Clone(b.ToolCallID), msg: m}
	s.enter(n)
	return effect{msg: m, block: n, fresh: true}, ""
}

func (s *Structure) toolArgs(call string) (effect, string) {
	b := s.calls.newest(call)
	if b == nil {
		return effect{}, noSuch
	}
	return effect{msg: b.msg, block: b}, b.msg.writable()
}

// toolDone lands a result: over the preliminary one of the same call, else in the message that messageId names or that it
// gives birth to, else in the open message. The call itself need not be there: a resumed invoke brings the results of calls
// that an earlier one made, perhaps in a thread that this fold has not seen.
func (s *Structure) toolDone(ev *agjson.Event, b *agjson.ToolDone, dry bool) (effect, string) {
	t, reason := s.owner(ev)
	if call := s.calls.newest(b.ToolCallID); reason == noOwner && call != nil {
		t, reason = call.msg.liveTurn()
	}
	if reason != "" {
		return effect{}, reason
	}
	more := b.More != nil && *b.More
	if old := s.results.oldest(b.ToolCallID); old != nil {
		return s.toolAgain(ev, old, more, dry)
	}
	m, fresh := s.msgs[ev.MessageID], false
	switch {
	case ev.MessageID == "":
		m, reason = s.targetIn(t, ev, b.CandidateIndex)
	case m == nil:
		fresh = true
	default:
		reason = m.takesResults(t)
	}
	if reason != "" || dry {
		return effect{}, reason
	}
	if fresh {
		m = s.addMessage(&message{id: strings.Clone(ev.MessageID), turn: t, cand: candidateKey(b.CandidateIndex), seal: adopted, tool: true, born: true}, t.group)
		p := t.partition(m.cand, true)
		p.stack = append(p.stack, m)
	}
	r := &block{kind: resultBlock, call: strings.Clone(b.ToolCallID), msg: m}
	s.enter(r)
	s.wait(r, more)
	return effect{turn: t, msg: m, block: r, fresh: fresh}, ""
}

// takesResults says why a tool.done of turn t cannot land in the message that it names; "" when it can.
func (m *message) takesResults(t *turn) string {
	switch {
	case m.turn != t:
		return "the message it names is of another turn"
	case !m.open():
		return sealedTarget
	}
	return ""
}

// open says that the message takes results that name it.
func (m *message) open() bool {
	return m.seal == started || m.seal == adopted || m.seal == restored && m.tool
}

// toolAgain replaces a preliminary result in place.
func (s *Structure) toolAgain(ev *agjson.Event, old *block, more, dry bool) (effect, string) {
	m := old.msg
	if _, reason := m.liveTurn(); reason != "" {
		return effect{}, reason
	}
	switch {
	case !old.waiting:
		return effect{}, "its call has its final result"
	case !m.open():
		return effect{}, sealedTarget
	case ev.MessageID != "" && ev.MessageID != m.id:
		return effect{}, "its preliminary result is in another message"
	case dry:
		return effect{}, ""
	}
	if old.old {
		old.old, old.waiting = false, false
	}
	s.wait(old, more)
	return effect{turn: m.turn, msg: m, block: old}, ""
}

// wait sets whether a result is preliminary and keeps count of those.
func (s *Structure) wait(r *block, more bool) {
	if r.waiting == more {
		return
	}
	r.waiting = more
	if t := r.msg.turn; t != nil && !t.closed && !r.old {
		n := -1
		if more {
			n = 1
			t.pending = append(t.pending, r)
		}
		t.waiting += n
		s.busy += n
	}
}

// contentBlock inserts a whole block, or replaces the one of the same id in place.
func (s *Structure) contentBlock(ev *agjson.Event, b *agjson.ContentBlock, dry bool) (effect, string) {
	data, _ := b.Block.(*agjson.DataBlock)
	if b.Transient != nil && *b.Transient || data != nil && data.Transient != nil && *data.Transient {
		return effect{skip: true}, ""
	}
	old := s.sameBlock(ev.ID, b.Block)
	if old != nil {
		if _, reason := s.owner(ev); reason != "" {
			return effect{}, reason
		}
		if reason := old.msg.writable(); reason != "" || dry {
			return effect{}, reason
		}
		s.wait(old, false)
		s.release(old)
		id := ev.ID
		if id == "" {
			id = old.id
		}
		s.identify(old, id, b.Block)
		return effect{msg: old.msg, block: old}, ""
	}
	m, reason := s.target(ev, b.CandidateIndex)
	if reason != "" || dry {
		return effect{}, reason
	}
	n := &block{msg: m}
	s.identify(n, ev.ID, b.Block)
	return effect{msg: m, block: n, fresh: true}, ""
}
