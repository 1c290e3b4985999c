package agtest

import (
	"fmt"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// TB is what the checkers need of a test; *testing.T, *testing.B and *rapid.T have it.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// CheckStream checks all that one invoke's flushed events must keep by themselves: the schema as a producer, and the
// invariants below.
func CheckStream(t TB, events []agjson.Event) {
	t.Helper()
	CheckSchema(t, events)
	CheckSeq(t, events)
	CheckTurn(t, events)
	CheckMsg(t, events)
	CheckBlock(t, events)
	CheckOwner(t, events)
}

// CheckSchema checks every event against AgEvent as a producer must (SPEC §0.2), and that it decodes to itself.
func CheckSchema(t TB, events []agjson.Event) {
	t.Helper()
	for i := range events {
		raw := agjson.AppendEvent(nil, &events[i])
		if err := agjson.Check("AgEvent", agjson.Producer, raw); err != nil {
			t.Errorf("event %d: %v: %.600s", i, err, raw)
		}
	}
}

// CheckSeq checks SPEC §5 INV-SEQ: from 0, without a gap.
func CheckSeq(t TB, events []agjson.Event) {
	t.Helper()
	for i := range events {
		if events[i].Seq != int64(i) {
			t.Errorf("INV-SEQ: event %d has seq %d", i, events[i].Seq)
			return
		}
	}
}

// CheckTurn checks SPEC §5 INV-TURN: every turn opened once before anything of it, closed by exactly one terminal, with nothing
// but live-only events after it; a success is never a flush's doing.
func CheckTurn(t TB, events []agjson.Event) {
	t.Helper()
	open, closed := map[string]bool{}, map[string]bool{}
	for i := range events {
		ev := &events[i]
		switch ev.Body.(type) {
		case *agjson.TurnStart, *agjson.SubagentStart:
			if closed[ev.TurnID] {
				t.Errorf("INV-TURN: event %d opens turn %q again", i, ev.TurnID)
			}
			open[ev.TurnID] = true
		case *agjson.TurnDone, *agjson.TurnError, *agjson.TurnAbort:
			if !open[ev.TurnID] || closed[ev.TurnID] {
				t.Errorf("INV-TURN: event %d ends turn %q, which is not open", i, ev.TurnID)
			}
			closed[ev.TurnID] = true
		case *agjson.SubagentDone:
			if !closed[ev.TurnID] {
				t.Errorf("INV-TURN: event %d is the end of subagent %q, which has no terminal", i, ev.TurnID)
			}
		default:
			if folds(ev.Body) && ev.TurnID != "" && (!open[ev.TurnID] || closed[ev.TurnID]) {
				t.Errorf("INV-TURN: event %d, a %s, is of turn %q, which is not open", i, ev.Body.Type(), ev.TurnID)
			}
		}
	}
	for id := range open {
		if !closed[id] {
			t.Errorf("INV-TURN: turn %q was not closed", id)
		}
	}
}

// folds says whether an event lands in its turn's record or messages.
func folds(b agjson.Body) bool {
	switch b.(type) {
	case *agjson.Ext, *agjson.Error, *agjson.StepStart, *agjson.StepDone, *agjson.HitlAsk, *agjson.HostContext, *agjson.MessageRemove,
		*agjson.StateSnapshot, *agjson.StateDelta, *agjson.MemoryWrite, *agjson.MessagesSnapshot, *agjson.ArtifactDelta, *agjson.ArtifactEnd:
		return false
	}
	return !strings.HasPrefix(b.Type(), "ui.")
}

// CheckMsg checks SPEC §5 INV-MSG: every message.start has one message.end before its turn ends, and no block or delta
// goes to a message that is not open.
func CheckMsg(t TB, events []agjson.Event) {
	t.Helper()
	m := newTracker()
	for i := range events {
		for _, fault := range m.event(&events[i]) {
			t.Errorf("INV-MSG: event %d, a %s: %s", i, events[i].Body.Type(), fault)
		}
	}
	for id, is := range m.open {
		if is {
			t.Errorf("INV-MSG: message %q was not sealed", id)
		}
	}
}

// tracker follows which messages are open and what lies in them.
type tracker struct {
	turnOf map[string]string // of a message
	cand   map[string]agjson.Number
	order  []string // messages in opening order
	open   map[string]bool
	block  map[string]string // → its message
	call   map[string]string // → its message
}

func newTracker() *tracker {
	return &tracker{turnOf: map[string]string{}, cand: map[string]agjson.Number{}, open: map[string]bool{}, block: map[string]string{}, call: map[string]string{}}
}

// home is the message of a block that an event makes.
func (m *tracker) home(ev *agjson.Event) string {
	if ev.MessageID != "" {
		return ev.MessageID
	}
	for i := len(m.order) - 1; i >= 0; i-- {
		if id := m.order[i]; m.open[id] && m.turnOf[id] == ev.TurnID && m.cand[id] == candidate(ev.Body) {
			return id
		}
	}
	return ""
}

// candidate is the candidate that an event is of; absent is 0.
func candidate(b agjson.Body) agjson.Number {
	n := agjson.Number("")
	switch b := b.(type) {
	case *agjson.MessageStart:
		n = b.CandidateIndex
	case *agjson.TextStart:
		n = b.CandidateIndex
	case *agjson.ReasoningStart:
		n = b.CandidateIndex
	case *agjson.ToolStart:
		n = b.CandidateIndex
	case *agjson.ToolDone:
		n = b.CandidateIndex
	case *agjson.ContentBlock:
		n = b.CandidateIndex
	}
	if n == "" {
		return "0"
	}
	return n
}

func (m *tracker) event(ev *agjson.Event) (faults []string) {
	need := func(id, what string) {
		if id == "" || !m.open[id] {
			faults = append(faults, fmt.Sprintf("%s %q is in message %q, which is not open", what, ev.ID, id))
		}
	}
	switch b := ev.Body.(type) {
	case *agjson.MessageStart:
		if _, known := m.turnOf[ev.ID]; known {
			faults = append(faults, fmt.Sprintf("message %q starts again", ev.ID))
		}
		m.turnOf[ev.ID], m.open[ev.ID], m.cand[ev.ID] = ev.TurnID, true, candidate(b)
		m.order = append(m.order, ev.ID)
	case *agjson.MessageEnd:
		need(ev.ID, "the end")
		m.open[ev.ID] = false
	case *agjson.MessageRemove:
		for id, turn := range m.turnOf {
			if id == ev.ID || ev.ID == "*" && turn == ev.TurnID {
				delete(m.open, id)
			}
		}
	case *agjson.TextStart, *agjson.ReasoningStart:
		m.block[ev.ID] = m.home(ev)
		need(m.block[ev.ID], "block")
	case *agjson.ContentBlock:
		if b.Transient == nil || !*b.Transient {
			need(m.home(ev), "block")
		}
	case *agjson.TextDelta, *agjson.TextEnd, *agjson.ReasoningDelta, *agjson.ReasoningEnd, *agjson.ReasoningOpaque, *agjson.ReasoningOpaqueDelta:
		need(m.block[ev.ID], "block")
	case *agjson.ToolStart:
		m.call[b.ToolCallID] = m.home(ev)
		need(m.call[b.ToolCallID], "call "+b.ToolCallID)
	case *agjson.ToolArgsDelta:
		need(m.call[b.ToolCallID], "call "+b.ToolCallID)
	case *agjson.ToolArgsAssembled:
		need(m.call[b.ToolCallID], "call "+b.ToolCallID)
	case *agjson.ToolDone:
		if ev.MessageID == "" {
			need(m.home(ev), "result")
		}
	case *agjson.TurnDone, *agjson.TurnError, *agjson.TurnAbort:
		for id, turn := range m.turnOf {
			if turn == ev.TurnID && m.open[id] {
				faults = append(faults, fmt.Sprintf("message %q is still open", id))
			}
		}
	}
	return faults
}

// CheckBlock checks SPEC §5 INV-BLOCK: ids of streamed blocks and of tool calls come once. Calls of a removed message are gone.
func CheckBlock(t TB, events []agjson.Event) {
	t.Helper()
	seen := map[string]bool{}
	m := newTracker()
	for i := range events {
		key := ""
		switch b := events[i].Body.(type) {
		case *agjson.MessageRemove:
			for call, msg := range m.call {
				if msg == events[i].ID || events[i].ID == "*" && m.turnOf[msg] == events[i].TurnID {
					delete(seen, "call "+call)
				}
			}
		case *agjson.TextStart, *agjson.ReasoningStart:
			key = "block " + events[i].ID
		case *agjson.ToolStart:
			key = "call " + b.ToolCallID
		}
		if key != "" && seen[key] {
			t.Errorf("INV-BLOCK: event %d starts %s again", i, key)
		}
		seen[key] = true
		m.event(&events[i])
	}
}

// CheckOwner checks SPEC §5 INV-OWNER as this project keeps it: once a turn was opened, every event names its own.
func CheckOwner(t TB, events []agjson.Event) {
	t.Helper()
	opened := false
	for i := range events {
		opened = opened || events[i].TurnID != ""
		if _, snapshot := events[i].Body.(*agjson.MessagesSnapshot); opened && !snapshot && events[i].TurnID == "" {
			t.Errorf("INV-OWNER: event %d, a %s, names no turn", i, events[i].Body.Type())
		}
	}
}
