package claude

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// streamEvent maps one event of the Messages API's stream.
func (f *facet) streamEvent(v agjson.Value) {
	ev := v.Get("event")
	typ := ev.Get("type").Str()
	if typ == "message_start" {
		f.messageStart(v, ev.Get("message"))
		return
	}
	if typ == "ping" {
		return
	}
	l := f.lanes[v.Get("parent_tool_use_id").Str()]
	if typ == "error" {
		e := ev.Get("error")
		f.Emit(agjson.Event{TurnID: f.RootTurn(), Body: &agjson.Error{Code: e.Get("type").StrPtr(), Message: orElse(e.Get("message").Str(), "the stream reported an error")}})
		return
	}
	if l != nil && l.flow == nil && l.done != nil && (typ == "content_block_stop" || typ == "message_stop" && !v.Get("abandoned_blocks").Set()) {
		return // of a message that its call's result has sealed before
	}
	if l == nil || l.flow == nil {
		f.carry("stream_event", v)
		return
	}
	m := l.flow
	f.firstByte(v, m)
	known := true
	switch typ {
	case "content_block_start":
		known = f.blockStart(m, ev)
	case "content_block_delta":
		known = f.blockDelta(m, ev)
	case "content_block_stop":
		b := m.at(ev.Get("index"))
		if known = b != nil; known {
			f.finish(m, b)
		} else {
			known = m.had(ev.Get("index"))
		}
	case "message_delta":
		f.messageDelta(m, ev)
	case "message_stop":
		if !f.abandon(l, v.Get("abandoned_blocks")) {
			f.closeFlow(l)
		}
	default:
		known = false
	}
	if !known {
		f.carry("stream_event", v)
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (f *facet) messageStart(v, m agjson.Value) {
	if m.Kind() != agjson.KindObject {
		f.Unparsed(v)
		return
	}
	l := f.lane(v)
	native := m.Get("id").Str()
	if native == "" {
		native = v.Get("uuid").Str()
	}
	f.closeMessages(l)
	msg := f.openMessage(l, native, v, m)
	l.flow, msg.streamed = msg, true
	msg.usage = usageOf(m.Get("usage"))
	f.firstByte(v, msg)
}

// firstByte says a message's ttft_ms once; the SDK repeats it.
func (f *facet) firstByte(v agjson.Value, m *message) {
	if t := v.Get("ttft_ms"); t.Set() && !m.timed {
		m.timed = true
		f.Emit(agjson.Event{MessageID: m.id, Body: &agjson.MessageMetadata{Metadata: objectWith("ttft_ms", t.Raw())}})
	}
}

// at is the block of an index that is still streamed; nil when there is none.
func (m *message) at(index agjson.Value) *block {
	i, ok := index.Int()
	if !ok {
		return nil
	}
	for k := len(m.blocks) - 1; k >= 0; k-- {
		if b := m.blocks[k]; b.index == i && !b.finished {
			return b
		}
	}
	return nil
}

// had says whether a block of that index was finished before its stop came.
func (m *message) had(index agjson.Value) bool {
	i, ok := index.Int()
	for _, b := range m.blocks {
		if ok && b.index == i {
			return true
		}
	}
	return false
}

func (f *facet) blockStart(m *message, ev agjson.Value) bool {
	index, ok := ev.Get("index").Int()
	c := ev.Get("content_block")
	if !ok || c.Kind() != agjson.KindObject || m.at(ev.Get("index")) != nil {
		return false
	}
	b := &block{index: index, kind: kindOf(c)}
	switch b.kind {
	case textKind:
		b.id = m.blockID("text", index)
		f.TextStart(b.id, m.id, nil)
		if t := c.Get("text").Str(); t != "" {
			f.say(m, b, t)
		}
		b.citations, b.uncited = citationsOf(c.Get("citations"))
	case reasoningKind:
		b.id = m.blockID("reasoning", index)
		f.ReasoningStart(b.id, m.id, nil)
		if t := c.Get("thinking").Str(); t != "" {
			f.say(m, b, t)
		}
		b.signature.WriteString(c.Get("signature").Str())
	case redactedKind:
		b.id = m.blockID("reasoning", index)
		f.ReasoningStart(b.id, m.id, nil)
		b.signature.WriteString(c.Get("data").Str())
	case toolKind:
		b.id = strings.Clone(c.Get("id").Str())
		if b.id == "" || f.HasCall(b.id) {
			return false
		}
		f.startTool(m, c, index, nil)
		if in := c.Get("input"); in.Len() > 0 {
			b.input = in.Raw()
		}
	case resultKind:
		b.id = strings.Clone(c.Get("tool_use_id").Str())
		f.serverResult(m, c)
	default:
		f.other(m, c)
	}
	m.blocks = append(m.blocks, b)
	m.next = max(m.next, index+1)
	return true
}

func (f *facet) blockDelta(m *message, ev agjson.Value) bool {
	b := m.at(ev.Get("index"))
	if b == nil {
		return false
	}
	d := ev.Get("delta")
	switch typ := d.Get("type").Str(); {
	case typ == "text_delta" && b.kind == textKind:
		f.say(m, b, d.Get("text").Str())
	case typ == "thinking_delta" && b.kind == reasoningKind:
		f.say(m, b, d.Get("thinking").Str())
	case typ == "signature_delta" && b.kind == reasoningKind:
		b.signature.WriteString(d.Get("signature").Str())
	case typ == "input_json_delta" && b.kind == toolKind:
		b.said.WriteString(d.Get("partial_json").Str())
		f.ToolArgsDelta(b.id, d.Get("partial_json").Str())
	case typ == "citations_delta" && b.kind == textKind:
		c, ok := citationOf(d.Get("citation"))
		if ok {
			b.citations = append(b.citations, c)
		}
		return ok
	default:
		return false
	}
	return true
}

// messageDelta takes the stop reason and the usage, whose numbers are running totals of the message: the last word counts.
func (f *facet) messageDelta(m *message, ev agjson.Value) {
	m.stopped = m.stopped || ev.Path("delta", "stop_reason").Set()
	if details := ev.Path("delta", "stop_details"); details.Set() {
		f.refusedFor(details.Get("category"))
		f.Emit(agjson.Event{MessageID: m.id, Body: &agjson.MessageMetadata{Metadata: normalizer.Object(
			agjson.Member{Name: "stop_reason", Value: ev.Path("delta", "stop_reason").Raw()},
			agjson.Member{Name: "stop_details", Value: details.Raw()},
		)}})
	}
	u := usageOf(ev.Get("usage"))
	if u == nil {
		return
	}
	if old := m.usage; old != nil {
		for _, p := range [][2]*agjson.Number{
			{&u.InputTokens, &old.InputTokens}, {&u.OutputTokens, &old.OutputTokens}, {&u.CacheReadTokens, &old.CacheReadTokens},
			{&u.CacheWriteTokens, &old.CacheWriteTokens}, {&u.ReasoningTokens, &old.ReasoningTokens},
		} {
			if *p[0] == "" {
				*p[0] = *p[1]
			}
		}
	}
	m.usage = u
}

// abandon retracts the streamed blocks that the SDK gives up, from an index on; no whole frame will come for them. The fold can
// only forget a message whole, so what is kept is said again in its continuation. false when nothing was to be taken back.
func (f *facet) abandon(l *lane, a agjson.Value) bool {
	from, ok := a.Get("from_block_index").Int()
	m := l.flow
	if id := a.Get("api_message_id").Str(); !ok || id != "" && id != m.native {
		return false
	}
	var kept []*block
	gone, fixed := false, false
	for _, b := range m.blocks {
		if b.index >= from {
			gone = true
		} else {
			kept = append(kept, b)
			fixed = fixed || b.kind != textKind && b.kind != reasoningKind && b.kind != redactedKind
		}
	}
	if !gone {
		return false
	}
	if fixed { // a tool call has been made: the message stays, and says what of it does not hold
		f.closeFlow(l)
		f.Emit(agjson.Event{MessageID: m.id, Body: &agjson.MessageMetadata{Metadata: objectWith("abandoned_blocks", a.Raw())}})
		return true
	}
	l.flow = nil
	f.RemoveMessage(m.id)
	if len(kept) > 0 {
		f.sayAgain(l, m, kept)
	}
	return true
}

// sayAgain says blocks of a removed message in a new one.
func (f *facet) sayAgain(l *lane, m *message, kept []*block) {
	id := f.OpenMessage(l.turn, m.id, &agjson.MessageStart{Role: agjson.RoleAssistant, Model: m.model})
	n := &message{native: m.native, model: m.model, id: id, lane: l, usage: m.usage}
	for _, b := range kept {
		again := &block{index: b.index, kind: b.kind, citations: b.citations, uncited: b.uncited}
		again.signature.WriteString(b.signature.String())
		kind := "text"
		if b.kind == textKind {
			again.id = n.blockID(kind, b.index)
			f.TextStart(again.id, n.id, nil)
		} else {
			kind = "reasoning"
			again.id = n.blockID(kind, b.index)
			f.ReasoningStart(again.id, n.id, nil)
		}
		if s := b.said.String(); s != "" {
			f.say(n, again, s)
		}
		f.finish(n, again)
	}
	f.CloseMessage(n.id, n.usage)
}
