package claude

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// denial is a system/permission_denied frame, kept for the result of its call (SPEC §8 item 15, item 22).
type denial struct {
	frame   json.RawMessage
	message string
	details json.RawMessage
}

// user maps a user frame: results of tools, the prompt of a subagent, a compaction's summary. Any other text is the CLI talking
// to the model, or the host's own words, and is carried.
func (f *facet) user(v agjson.Value) {
	m := v.Get("message")
	if m.Kind() != agjson.KindObject {
		f.Unparsed(v)
		return
	}
	content := m.Get("content")
	var results []agjson.Value
	rest := 0
	for _, b := range blocksOf(content) {
		if b.Get("type").Str() == "tool_result" && b.Get("tool_use_id").Str() != "" {
			results = append(results, b)
		} else {
			rest++
		}
	}
	for _, b := range results {
		f.toolResult(v, b, len(results) == 1)
	}
	switch {
	case rest == 0 && len(results) > 0:
		if twin := v.Get("tool_use_result"); len(results) > 1 && twin.Set() {
			f.carry("user", v) // whose result it is the frame does not say
		}
	case len(results) == 0 && f.summary && v.Get("isSynthetic").Bool():
		f.compacted(v, content)
	case len(results) == 0 && v.Get("parent_tool_use_id").Str() != "":
		f.prompt(v, content)
	default:
		f.carry("user", v)
	}
}

// prompt is what a subagent was asked.
func (f *facet) prompt(v, content agjson.Value) {
	l := f.lane(v)
	f.closeMessages(l)
	id := f.OpenMessage(l.turn, f.qualified(v.Get("uuid").Str()), &agjson.MessageStart{Role: agjson.RoleUser})
	f.produced(v, id)
	for _, b := range blocksOf(content) {
		if kindOf(b) == textKind {
			f.ContentBlock(id, &agjson.TextBlock{Text: textBlockText(b)})
		} else {
			f.ContentBlock(id, contentBlock(b))
		}
	}
	f.CloseMessage(id, nil)
}

// compacted is the summary that stands for the conversation before it.
func (f *facet) compacted(v, content agjson.Value) {
	f.summary = false
	id := f.OpenMessage(f.root(), f.qualified(v.Get("uuid").Str()), &agjson.MessageStart{Role: agjson.RoleUser})
	f.produced(v, id)
	f.ContentBlock(id, &agjson.CompactionBlock{Text: new(textOf(content)), Provider: new(vendor)})
	f.CloseMessage(id, nil)
}

// toolResult lands one tool_result. alone says that the frame's structured twin is of it.
func (f *facet) toolResult(v, b agjson.Value, alone bool) {
	id := b.Get("tool_use_id").Str()
	turn := f.settle(v, id)
	d := &agjson.ToolDone{ToolCallID: id, Content: contentOf(b.Get("content")), Outcome: agjson.ToolOutcomeOk, IsError: new(b.Get("is_error").Bool())}
	if b.Get("is_error").Bool() {
		d.Outcome = agjson.ToolOutcomeError
		d.ErrorText = new(textOf(b.Get("content")))
	}
	d.StructuredContent = b.Get("structuredContent").RawSet()
	ev := agjson.Event{TurnID: turn, MessageID: f.Qualify(id + ":result"), Body: d}
	if alone {
		f.twin(&ev, d, b.Get("content"), v.Get("tool_use_result"))
	}
	f.decide(d, metaOf(v.Get("tool_result_meta"), id))
	if l := f.lanes[id]; l != nil && id != "" {
		f.subagentReturned(l, d, v.Get("tool_use_result"))
	}
	f.produced(v, ev.MessageID)
	f.Emit(ev)
}

// settle prepares the call for its result and returns the turn that it goes to: the subagent's (SPEC §8 item 16), or the root.
func (f *facet) settle(v agjson.Value, id string) string {
	if l := f.callLane(id); l != nil {
		f.sealExecuted(l)
		if m := l.flow; m != nil {
			for _, s := range m.blocks {
				if s.kind == toolKind && s.id == id {
					f.finish(m, s)
				}
			}
		}
	}
	l := f.lane(v)
	if f.callLane(id) == nil {
		f.sealExecuted(l)
	}
	return l.turn
}

// twin puts the structured form of a result where it belongs: MCP's structuredContent and _meta to their members (a UI card
// makes it the surface's, SPEC §2.1), a tool's own output to sideData. What only repeats the content says nothing.
func (f *facet) twin(ev *agjson.Event, d *agjson.ToolDone, content, twin agjson.Value) {
	switch twin.Kind() {
	case agjson.KindObject:
		meta, structured := twin.Get("_meta"), twin.Get("structuredContent")
		if meta.Kind() == agjson.KindObject {
			ev.Meta = meta.Raw()
		}
		switch {
		case structured.Exists() && meta.Get("ui").Set():
			d.UIData = structured.Raw()
		case structured.Exists():
			d.StructuredContent = structured.Raw()
		}
		if mcp := meta.Exists() || structured.Exists(); !mcp || !repeats(content, twin.Get("content")) || twin.Len() > known(twin) {
			d.SideData = twin.Raw()
		}
	case agjson.KindList:
		if !repeats(content, twin) {
			d.SideData = twin.Raw()
		}
	case agjson.KindString:
		text := textOf(content)
		if s := twin.Str(); s != text && s != "Error: "+text {
			d.SideData = twin.Raw()
		}
	case agjson.KindAbsent, agjson.KindNull:
	default:
		d.SideData = twin.Raw()
	}
}

// known counts the members of an MCP result's twin that have a home.
func known(twin agjson.Value) (n int) {
	for name := range twin.Members {
		switch name {
		case "content", "structuredContent", "_meta":
			n++
		}
	}
	return n
}

// repeats says that a twin's content is the content, or is not there.
func repeats(content, twin agjson.Value) bool {
	return !twin.Exists() || bytes.Equal(content.Raw(), twin.Raw()) || twin.Kind() == agjson.KindString && twin.Str() == textOf(content)
}

// decide marks a call that was not allowed to run (outcome denied), and keeps who decided.
func (f *facet) decide(d *agjson.ToolDone, meta agjson.Value) {
	var list []agjson.Member
	for name, m := range meta.Members {
		if name != "id" {
			list = append(list, agjson.Member{Name: name, Value: m.Raw()})
		}
	}
	denied := meta.Path("permission_decision", "decision").Str() == "reject"
	if n, ok := f.denied[d.ToolCallID]; ok {
		delete(f.denied, d.ToolCallID)
		denied = true
		if x, err := agjson.ParseValue(n.details); err == nil {
			for name, m := range x.Members {
				list = append(list, agjson.Member{Name: name, Value: m.Raw()})
			}
		}
	}
	if denied && d.Outcome == agjson.ToolOutcomeError {
		d.Outcome, d.ErrorText = agjson.ToolOutcomeDenied, nil
	}
	d.ProviderMetadata = agjson.Opaque(normalizer.Object(list...))
}

// permissionDenied keeps the notice for the result, or the denial, that it explains.
func (f *facet) permissionDenied(v agjson.Value) {
	id := v.Get("tool_use_id").Str()
	if id == "" || f.CallDone(id) {
		f.carry("permission_denied", v)
		return
	}
	id = strings.Clone(id)
	f.notices = append(f.notices, id)
	f.denied[id] = denial{frame: v.Raw(), message: v.Get("message").Str(), details: normalizer.Object(
		agjson.Member{Name: "decisionReasonType", Value: v.Get("decision_reason_type").RawSet()},
		agjson.Member{Name: "decisionReason", Value: v.Get("decision_reason").RawSet()},
		agjson.Member{Name: "agentId", Value: v.Get("agent_id").RawSet()},
	)}
}

// denials says the denials that the result frame lists and no result of a tool has said, in a message of their own before the turn
// closes (SPEC §8 item 15).
func (f *facet) denials(list agjson.Value) {
	carrier := ""
	for _, p := range list.Items {
		id := p.Get("tool_use_id").Str()
		if id == "" || f.CallDone(id) {
			continue
		}
		turn := f.root()
		if carrier == "" {
			carrier = f.OpenMessage(turn, turn+":denials", &agjson.MessageStart{Role: agjson.RoleAssistant})
		}
		if !f.HasCall(id) {
			f.ToolStart("", &agjson.ToolStart{ToolCallID: id, Name: p.Get("tool_name").Str()})
			if in := p.Get("tool_input"); in.Exists() {
				f.ToolArgs(&agjson.ToolArgsAssembled{ToolCallID: id, Input: in.Raw()})
			}
		}
		d := &agjson.ToolDone{ToolCallID: id, Content: []agjson.Block{}, Outcome: agjson.ToolOutcomeDenied}
		if n, ok := f.denied[id]; ok {
			delete(f.denied, id)
			if n.message != "" {
				d.Content = []agjson.Block{&agjson.TextBlock{Text: n.message}}
			}
			d.ProviderMetadata = agjson.Opaque(n.details)
		}
		f.ToolDone(turn, "", d)
	}
	if carrier != "" {
		f.CloseMessage(carrier, nil)
	}
}

// produced notes which message a frame made, so that a retraction of the frame finds it (SPEC §8 item 19).
func (f *facet) produced(v agjson.Value, message string) {
	if uuid := v.Get("uuid").Str(); uuid != "" {
		uuid = strings.Clone(uuid)
		f.frames[uuid] = append(f.frames[uuid], message)
	}
}

// retracts says whether a list of frames' uuids names a message of ours.
func (f *facet) retracts(uuids agjson.Value) bool {
	for _, u := range uuids.Items {
		if len(f.frames[u.Str()]) > 0 {
			return true
		}
	}
	return false
}

// remove takes back the messages of the frames named. An unknown uuid names nothing (SPEC §8 item 19).
func (f *facet) remove(uuids agjson.Value) {
	said := map[string]bool{}
	for _, u := range uuids.Items {
		for _, id := range f.frames[u.Str()] {
			if said[id] {
				continue
			}
			said[id] = true
			for _, l := range f.order {
				if l.msg != nil && l.msg.id == id {
					l.msg = nil
				}
				if l.flow != nil && l.flow.id == id {
					l.flow = nil
				}
			}
			f.RemoveMessage(id)
		}
	}
}
