package normalizer

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

type call struct {
	msg    *message // in which it was made
	soFar  strings.Builder
	result *turn // of its result; nil without one
	final  bool  // its result is no preliminary one
	home   *message
}

// ToolStart opens a tool call in a message. A second one of the same id is refused.
func (e *Engine) ToolStart(messageID string, b *agjson.ToolStart) {
	e.Emit(agjson.Event{MessageID: messageID, Body: b})
}

// ToolArgsDelta appends raw partial JSON to a call's arguments.
func (e *Engine) ToolArgsDelta(toolCallID, delta string) {
	e.Emit(agjson.Event{Body: &agjson.ToolArgsDelta{ToolCallID: toolCallID, Delta: delta}})
}

// ToolArgsSoFar is TextSoFar for a call's arguments.
func (e *Engine) ToolArgsSoFar(toolCallID, total string) bool {
	c := e.calls[toolCallID]
	if c == nil || c.msg == nil {
		e.ToolArgsDelta(toolCallID, total)
		return true
	}
	delta, ok := strings.CutPrefix(total, c.soFar.String())
	if ok {
		c.soFar.WriteString(delta)
		e.ToolArgsDelta(toolCallID, delta)
	}
	return ok
}

// ToolArgs says a call's whole arguments (SPEC §8 item 1).
func (e *Engine) ToolArgs(b *agjson.ToolArgsAssembled) { e.Emit(agjson.Event{Body: b}) }

// ToolDone lands a call's result. With a messageID that no message has, the result is adopted by a message of that id; without one it
// joins the open message of its turn, or, when none is open, is adopted as `<toolCallId>:result`, qualified. The turn is the one
// named, else the message's, else the call's, else the last opened.
func (e *Engine) ToolDone(turnKey, messageID string, b *agjson.ToolDone) {
	e.Emit(agjson.Event{TurnID: turnKey, MessageID: messageID, Body: b})
}

// HasCall says whether this invoke opened the call.
func (e *Engine) HasCall(toolCallID string) bool {
	c := e.calls[toolCallID]
	return c != nil && c.msg != nil
}

// CallDone says whether the call has a result in this invoke.
func (e *Engine) CallDone(toolCallID string) bool {
	c := e.calls[toolCallID]
	return c != nil && c.result != nil
}

func (e *Engine) toolStart(ev agjson.Event, b *agjson.ToolStart) {
	if c := e.calls[b.ToolCallID]; c != nil && c.msg != nil {
		e.refuse("repeated-tool-call", ev)
		return
	}
	m := e.home(&ev, b.CandidateIndex)
	if c := e.calls[b.ToolCallID]; c != nil { // its result came before it, or stands from before a removal
		c.msg = m
		c.soFar.Reset()
	} else {
		e.calls[strings.Clone(b.ToolCallID)] = &call{msg: m}
	}
	ev.TurnID = m.turn.id
	e.put(ev)
}

func (e *Engine) toolArgs(ev agjson.Event, id string) {
	c := e.calls[id]
	switch {
	case c == nil || c.msg == nil:
		e.refuse("no-such-tool-call", ev)
	case !c.msg.open:
		e.refuse("sealed-message", ev)
	default:
		ev.TurnID = c.msg.turn.id
		e.put(ev)
	}
}

func (e *Engine) toolDone(ev agjson.Event, b *agjson.ToolDone) {
	c := e.calls[b.ToolCallID]
	if c == nil {
		c = &call{}
		e.calls[strings.Clone(b.ToolCallID)] = c
	}
	if c.result != nil && (!c.result.open || c.home.adopted == "" && !c.home.open) {
		e.refuse("sealed-result", ev)
		return
	}
	if c.final {
		e.refuse("final-result", ev)
		return
	}
	c.final = b.More == nil || !*b.More
	if c.result != nil { // what comes again goes where the first went
		ev.TurnID, ev.MessageID = c.result.id, c.home.id
		e.put(ev)
		return
	}
	if ev.TurnID == "" && e.messages[ev.MessageID] == nil && c.msg != nil {
		ev.TurnID = c.msg.turn.id
	}
	t := e.place(&ev)
	ev.TurnID = t.id
	c.result = t
	if m := e.messages[ev.MessageID]; m != nil && ev.MessageID != "" {
		if m = m.latest(); m.open && m.turn == t {
			ev.MessageID, c.home = m.id, m
			e.put(ev)
			return
		}
	}
	if ev.MessageID == "" {
		if c.home = e.openIn(t, b.CandidateIndex); c.home != nil {
			e.put(ev)
			return
		}
		ev.MessageID = e.Qualify(b.ToolCallID + ":result")
	}
	id := strings.Clone(ev.MessageID)
	if e.messages[id] != nil {
		id = e.Qualify(b.ToolCallID + ":result")
	}
	if e.messages[id] != nil {
		id = again(id, func(id string) bool { return e.messages[id] != nil })
	}
	c.home = &message{id: id, turn: t, adopted: b.ToolCallID, start: agjson.MessageStart{Role: agjson.RoleTool}}
	e.messages[id] = c.home
	ev.MessageID = id
	e.put(ev)
}
