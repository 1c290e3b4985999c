package claude

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// message is one API message of a lane. It comes as one frame a block, or streamed, or both.
type message struct {
	native   string // the API's id
	model    *string
	id       string // as emitted
	lane     *lane
	streamed bool // message_start has come
	stopped  bool // its stop reason has come
	blocks   []*block
	next     int // index of the next whole block
	usage    *agjson.Usage
	timed    bool // its ttft_ms was said
}

// assistant maps a whole assistant frame: new blocks of a message, or a confirmation of streamed ones.
func (f *facet) assistant(v agjson.Value) {
	m := v.Get("message")
	if m.Kind() != agjson.KindObject {
		f.Unparsed(v)
		return
	}
	l := f.lane(v)
	if f.retracts(v.Get("supersedes")) {
		f.closeMessages(l)
		f.remove(v.Get("supersedes"))
	}
	msg := f.messageOf(l, v, m)
	f.produced(v, msg.id)
	extra := wrapper(v)
	meta := v.Get("tool_use_meta")
	for _, b := range blocksOf(m.Get("content")) {
		if f.confirm(msg, b, v) {
			continue
		}
		start := extra
		if noAnchor(b) {
			start = nil
		} else {
			extra = nil
		}
		f.whole(msg, b, start, metaOf(meta, b.Get("id").Str()))
	}
	if extra != nil {
		f.Emit(agjson.Event{MessageID: msg.id, Body: &agjson.MessageMetadata{Metadata: extra}})
	}
	for _, b := range msg.blocks {
		if x := metaOf(meta, b.id); b.kind == toolKind && x.Exists() {
			b.title, b.meta = x.Get("display_name").StrPtr(), x.Raw()
		}
	}
	if u := usageOf(m.Get("usage")); u != nil && f.MessageOpen(msg.id) {
		msg.usage = u
	}
	if e := v.Get("error").Str(); e != "" {
		f.failure = &failure{code: strings.Clone(e), message: strings.Clone(textOf(m.Get("content"))), turn: l.turn}
	}
}

// messageOf is the message that a whole frame is of, opened if need be. One that is being streamed stays open beside a frame of
// another: its stop reason and usage may be still to come.
func (f *facet) messageOf(l *lane, v, m agjson.Value) *message {
	native := m.Get("id").Str()
	if native == "" {
		native = v.Get("uuid").Str()
	}
	switch {
	case l.msg != nil && l.msg.native == native:
		return l.msg
	case l.flow != nil && l.flow.native == native:
		return l.flow
	case l.done != nil && l.done.native == native && l.done.expects(m.Get("content")):
		return l.done
	}
	f.closeWhole(l)
	if l.flow != nil && l.flow.stopped {
		f.closeFlow(l)
	}
	l.msg = f.openMessage(l, native, v, m)
	return l.msg
}

func (f *facet) openMessage(l *lane, native string, v, m agjson.Value) *message {
	id := f.OpenMessage(l.turn, f.qualified(native), &agjson.MessageStart{
		Role: agjson.RoleAssistant, Model: m.Get("model").StrPtr(),
		AgentID: v.Get("agent_id").StrPtr(), AgentName: v.Get("subagent_type").StrPtr(),
	})
	return &message{native: strings.Clone(native), model: m.Get("model").StrPtr(), id: id, lane: l}
}

// qualified is the id of what the framework calls native; "" stays so, and the engine derives one.
func (f *facet) qualified(native string) string {
	if native == "" {
		return ""
	}
	return f.Qualify(native)
}

// closeWhole ends the message of whole frames.
func (f *facet) closeWhole(l *lane) {
	if m := l.msg; m != nil {
		l.msg = nil
		f.CloseMessage(m.id, m.usage)
	}
}

// closeFlow ends the streamed message, with what is open in it.
func (f *facet) closeFlow(l *lane) {
	m := l.flow
	if m == nil {
		return
	}
	l.flow, l.done = nil, m
	for _, b := range m.blocks {
		f.finish(m, b)
	}
	f.CloseMessage(m.id, m.usage)
}

// closeMessages ends what a lane has open.
func (f *facet) closeMessages(l *lane) {
	f.closeFlow(l)
	f.closeWhole(l)
}

// flushMessages seals what a lane has open at the end of the stream; no block is ended (SPEC §5 INV-FLUSH).
func (f *facet) flushMessages(l *lane) {
	for _, m := range []*message{l.flow, l.msg} {
		if m != nil {
			f.CloseMessage(m.id, m.usage)
		}
	}
	l.flow, l.msg = nil, nil
}

// sealExecuted seals the message of a lane one of whose calls is being run: without partial messages, and once the stop reason
// has come, no block follows.
func (f *facet) sealExecuted(l *lane) {
	if l.flow != nil && l.flow.stopped {
		f.closeFlow(l)
	}
	f.closeWhole(l)
}

// wrapper is what stands beside the message in its frame and has no other home; nil when nothing does.
func wrapper(v agjson.Value) json.RawMessage {
	var list []agjson.Member
	for _, name := range []string{
		"supersedes", "resumed_from_incomplete_thinking", "aborted", "context_usage", "usage_report", "thinking_duration_ms",
		"local_command_source", "local_command_run", "is_api_error_message", "api_error_status", "api_error_type",
		"refused_message_id", "user_message_uuid", "user_message_uuids", "resume_reason",
	} {
		if raw := v.Get(name).RawSet(); raw != nil {
			list = append(list, agjson.Member{Name: name, Value: raw})
		}
	}
	if v.Get("is_api_error_message").Bool() {
		list = append(list, agjson.Member{Name: "error", Value: v.Get("error").Raw()})
	}
	if d := v.Path("message", "stop_details").RawSet(); d != nil {
		list = append(list, agjson.Member{Name: "stop_details", Value: d})
	}
	return normalizer.Object(list...)
}

// blocksOf are the blocks of a content: a list of them, or one text.
func blocksOf(content agjson.Value) []agjson.Value {
	var out []agjson.Value
	switch content.Kind() {
	case agjson.KindList:
		for _, b := range content.Items {
			out = append(out, b)
		}
	case agjson.KindString:
		out = append(out, content)
	}
	return out
}

// textOf joins the texts of a content.
func textOf(content agjson.Value) string {
	if content.Kind() == agjson.KindString {
		return content.Str()
	}
	var b strings.Builder
	for _, c := range content.Items {
		if c.Get("type").Str() == "text" {
			b.WriteString(c.Get("text").Str())
		}
	}
	return b.String()
}

// metaOf is the entry for an id in a list such as tool_use_meta.
func metaOf(list agjson.Value, id string) agjson.Value {
	for _, m := range list.Items {
		if m.Get("id").Str() == id && id != "" {
			return m
		}
	}
	return agjson.Value{}
}

func (m *message) blockID(kind string, index int) string {
	return m.id + ":" + kind + ":" + strconv.Itoa(index)
}
