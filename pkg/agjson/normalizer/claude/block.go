package claude

import (
	"encoding/json"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

type blockKind uint8

const (
	otherKind blockKind = iota // a block that came whole
	textKind
	reasoningKind
	redactedKind
	toolKind
	resultKind
)

// block is one content block of a message that is streamed.
type block struct {
	index     int
	kind      blockKind
	id        string // of the block as emitted; of a tool call or its result, the call's
	said      strings.Builder
	signature strings.Builder
	citations []agjson.Citation
	uncited   agjson.Opaque   // citations of another kind
	input     json.RawMessage // of a tool call, as the whole frame or the start says it
	title     *string         // of a tool call
	meta      json.RawMessage
	confirmed bool // its whole frame has come
	finished  bool
}

func kindOf(b agjson.Value) blockKind {
	switch typ := b.Get("type").Str(); typ {
	case "text":
		if isText(b.Get("text")) {
			return textKind
		}
	case "thinking":
		if isText(b.Get("thinking")) {
			return reasoningKind
		}
	case "redacted_thinking":
		return redactedKind
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return toolKind
	default:
		if b.Kind() == agjson.KindString {
			return textKind
		}
		if strings.HasSuffix(typ, "_tool_result") && b.Get("tool_use_id").Str() != "" {
			return resultKind
		}
	}
	return otherKind
}

// isText says that a member is a string, or not there.
func isText(v agjson.Value) bool { return !v.Set() || v.Kind() == agjson.KindString }

// noAnchor says that the block has no providerMetadata for what stands beside the message.
func noAnchor(b agjson.Value) bool {
	k := kindOf(b)
	return k == otherKind || k == resultKind
}

// idOf is what tells tool blocks apart; "" for others.
func idOf(b agjson.Value, k blockKind) string {
	switch k {
	case toolKind:
		return b.Get("id").Str()
	case resultKind:
		return b.Get("tool_use_id").Str()
	}
	return ""
}

// expects says whether all blocks of a content are ones that were streamed and not yet confirmed.
func (m *message) expects(content agjson.Value) bool {
	for _, b := range blocksOf(content) {
		if m.streamedAs(b) == nil {
			return false
		}
	}
	return true
}

// streamedAs is the streamed block that a whole one confirms: the first of its kind, or the one of its id.
func (m *message) streamedAs(b agjson.Value) *block {
	k := kindOf(b)
	id := idOf(b, k)
	for _, s := range m.blocks {
		if s.kind == k && !s.confirmed && (id == "" || s.id == id) {
			return s
		}
	}
	return nil
}

// confirm takes a whole block as the word on a streamed one; false when none was. What the stream left out is added; what it
// said otherwise is carried, for it cannot be taken back.
func (f *facet) confirm(m *message, b, frame agjson.Value) bool {
	if !m.streamed {
		return false
	}
	s := m.streamedAs(b)
	if s == nil {
		return false
	}
	s.confirmed = true
	whole := ""
	switch s.kind {
	case textKind:
		whole = b.Get("text").Str()
		if s.citations == nil {
			s.citations, s.uncited = citationsOf(b.Get("citations"))
		}
	case reasoningKind:
		whole = b.Get("thinking").Str()
		if sig := b.Get("signature").Str(); s.signature.Len() == 0 && sig != "" {
			s.signature.WriteString(sig)
			if s.finished {
				f.opaque(m, s.id, agjson.OpaqueKindSignature, sig)
			}
		}
	case toolKind:
		if in := b.Get("input"); in.Exists() {
			s.input = in.Raw()
		}
		return true
	default:
		return true
	}
	rest, ok := beyond(s.said.String(), whole)
	switch {
	case ok && rest == "":
	case ok && !s.finished:
		f.say(m, s, rest)
	default:
		f.carry("assistant", frame)
	}
	return true
}

// beyond is what whole has after said. A surrogate pair that two deltas were split over counts as its character.
func beyond(said, whole string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(whole, said); ok {
		return rest, true
	}
	q := agjson.Quote(said)
	if strings.HasPrefix(string(agjson.Quote(whole)), string(q[:len(q)-1])) {
		v, err := agjson.ParseValue(append([]byte{'"'}, agjson.Quote(whole)[len(q)-1:]...))
		return v.Str(), err == nil
	}
	return "", false
}

// say adds text to a streamed block.
func (f *facet) say(m *message, b *block, delta string) {
	b.said.WriteString(delta)
	if b.kind == textKind {
		f.TextDelta(b.id, m.id, delta)
	} else {
		f.ReasoningDelta(b.id, m.id, delta)
	}
}

// finish ends a streamed block.
func (f *facet) finish(m *message, b *block) {
	if b.finished {
		return
	}
	b.finished = true
	switch b.kind {
	case textKind:
		f.TextEnd(b.id, m.id, &agjson.TextEnd{Citations: b.citations, ProviderMetadata: b.uncited})
	case reasoningKind:
		f.ReasoningEnd(b.id, m.id, nil)
		if sig := b.signature.String(); sig != "" {
			f.opaque(m, b.id, agjson.OpaqueKindSignature, sig)
		}
	case redactedKind:
		f.ReasoningEnd(b.id, m.id, nil)
		f.opaque(m, b.id, agjson.OpaqueKindRedacted, b.signature.String())
	case toolKind:
		f.ToolArgs(&agjson.ToolArgsAssembled{ToolCallID: b.id, Input: b.arguments(), Title: b.title, ToolMetadata: b.meta})
	}
}

func (f *facet) opaque(m *message, id string, kind agjson.OpaqueKind, value string) {
	f.ReasoningOpaque(id, m.id, &agjson.ReasoningOpaque{Kind: kind, Value: agjson.Secret(value), Provider: new(vendor)})
}

// arguments are the whole frame's, else the streamed ones, else the start's. Streamed ones that are no JSON are told as the CLI tells
// them.
func (b *block) arguments() json.RawMessage {
	said := b.said.String()
	switch {
	case b.confirmed && b.input != nil:
		return b.input
	case said == "" && b.input != nil:
		return b.input
	case strings.TrimSpace(said) == "":
		return json.RawMessage("{}")
	}
	if v, err := agjson.ParseValue([]byte(said)); err == nil {
		return v.Raw()
	}
	raw := append(append([]byte(`{"__unparsedToolInput":{"raw":`), agjson.Quote(said)...), `,"len":`...)
	return append(append(raw, agjson.IntNumber(int64(len(said)))...), `}}`...)
}

// whole maps a block that was not streamed. extra is what stands beside the message.
func (f *facet) whole(m *message, b agjson.Value, extra json.RawMessage, meta agjson.Value) {
	index := m.next
	m.next++
	switch kindOf(b) {
	case textKind:
		id := m.blockID("text", index)
		f.TextStart(id, m.id, &agjson.TextStart{ProviderMetadata: agjson.Opaque(extra)})
		f.TextDelta(id, m.id, textBlockText(b))
		cited, uncited := citationsOf(b.Get("citations"))
		f.TextEnd(id, m.id, &agjson.TextEnd{Citations: cited, ProviderMetadata: uncited})
	case reasoningKind:
		id := m.blockID("reasoning", index)
		f.ReasoningStart(id, m.id, &agjson.ReasoningStart{ProviderMetadata: agjson.Opaque(extra)})
		f.ReasoningDelta(id, m.id, b.Get("thinking").Str())
		f.ReasoningEnd(id, m.id, nil)
		if sig := b.Get("signature").Str(); sig != "" {
			f.opaque(m, id, agjson.OpaqueKindSignature, sig)
		}
	case redactedKind:
		id := m.blockID("reasoning", index)
		f.ReasoningStart(id, m.id, &agjson.ReasoningStart{ProviderMetadata: agjson.Opaque(extra)})
		f.ReasoningEnd(id, m.id, nil)
		f.opaque(m, id, agjson.OpaqueKindRedacted, b.Get("data").Str())
	case toolKind:
		f.wholeTool(m, b, index, extra, meta)
	case resultKind:
		f.serverResult(m, b)
	default:
		f.other(m, b)
	}
}

func textBlockText(b agjson.Value) string {
	if b.Kind() == agjson.KindString {
		return b.Str()
	}
	return b.Get("text").Str()
}

// wholeTool maps a tool call that was not streamed.
func (f *facet) wholeTool(m *message, b agjson.Value, index int, extra json.RawMessage, meta agjson.Value) {
	id := b.Get("id").Str()
	if id == "" || f.HasCall(id) {
		f.carry("assistant", b)
		return
	}
	f.startTool(m, b, index, extra)
	in := b.Get("input")
	input := in.Raw()
	if input == nil {
		input = json.RawMessage("{}")
	}
	f.ToolArgsDelta(id, string(input))
	f.ToolArgs(&agjson.ToolArgsAssembled{ToolCallID: id, Input: input, Title: meta.Get("display_name").StrPtr(), ToolMetadata: objectOf(meta)})
}

func objectOf(v agjson.Value) json.RawMessage {
	if v.Kind() != agjson.KindObject {
		return nil
	}
	return v.Raw()
}

func (f *facet) startTool(m *message, b agjson.Value, index int, extra json.RawMessage) {
	id := b.Get("id").Str()
	m.lane.calls = append(m.lane.calls, strings.Clone(id))
	t := &agjson.ToolStart{
		ToolCallID: id, Name: b.Get("name").Str(), Index: agjson.IntNumber(int64(index)),
		ServerName: b.Get("server_name").StrPtr(), ProviderMetadata: agjson.Opaque(extra),
	}
	caller := b.Get("caller")
	switch {
	case b.Get("type").Str() == "server_tool_use":
		t.ProviderExecuted = new(true)
	case caller.Set():
		t.ProviderExecuted = new(false)
	}
	if caller.Set() && caller.Get("type").Str() != "direct" {
		t.ToolMetadata = objectWith("caller", caller.Raw())
	}
	f.ToolStart(m.id, t)
}

func objectWith(name string, value json.RawMessage) json.RawMessage {
	raw := append(append([]byte{'{'}, agjson.Quote(name)...), ':')
	return append(append(raw, value...), '}')
}

// other maps a block that is neither text, reasoning nor of a tool.
func (f *facet) other(m *message, b agjson.Value) {
	switch b.Get("type").Str() {
	case "compaction":
		c := &agjson.CompactionBlock{Text: b.Get("content").StrPtr(), Provider: new(vendor)}
		if enc := b.Get("encrypted_content").Str(); enc != "" {
			c.Opaque = &agjson.OpaqueBlob{Kind: agjson.OpaqueKindCiphertext, Value: agjson.Secret(enc), Provider: new(vendor)}
		}
		f.ContentBlock(m.id, c)
	default:
		f.ContentBlock(m.id, contentBlock(b))
	}
}
