package normalizer

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/agwire/agwire/pkg/agjson"
)

// Ext says ext.<vendor>.<key> of this engine's vendor; see EmitExt.
func (e *Engine) Ext(key string, payload json.RawMessage) { e.EmitExt(e.vendor, key, payload) }

// EmitExt says ext.<vendor>.<key>. The payload, any JSON value, is embedded as SPEC §12 says: an object's members become
// the event's, anything else rides under `value`, and members that the envelope owns move to `shadowed`.
func (e *Engine) EmitExt(vendor, key string, payload json.RawMessage) {
	e.Emit(agjson.Event{Body: &agjson.Ext{Name: "ext." + vendor + "." + key, Members: embed(payload)}})
}

// Carry carries a whole native frame for which the vocabulary has no home (SPEC §8 item 22).
func (e *Engine) Carry(kind string, frame agjson.Value) {
	e.Emit(agjson.Event{Body: &agjson.Ext{Name: "ext." + e.vendor + ".frame", Members: []agjson.Member{
		{Name: "kind", Value: agjson.Quote(kind)}, {Name: "frame", Value: frame.Raw()},
	}}})
}

// Unparsed carries a native value that could not be mapped (SPEC §8.0).
func (e *Engine) Unparsed(native agjson.Value) { e.unparsed("", native.Raw()) }

func (e *Engine) unparsed(reason string, native json.RawMessage) {
	e.stats.Unparsed++
	list := []agjson.Member{{Name: "native", Value: native}}
	if reason != "" {
		list = append(list, agjson.Member{Name: "reason", Value: agjson.Quote(reason)})
	}
	e.Emit(agjson.Event{Body: &agjson.Ext{Name: "ext." + e.vendor + ".unparsed", Members: list}})
}

// unparsedText carries what is no JSON: as text, or, when it is no text either, as base64.
func (e *Engine) unparsedText(reason string, native []byte) {
	if utf8.Valid(native) {
		e.unparsed(reason, agjson.Quote(string(native)))
		return
	}
	b64, _ := json.Marshal(native) // a []byte always marshals
	e.unparsed(reason, append(append([]byte(`{"base64":`), b64...), '}'))
}

// refuse carries an event that would park the fold (SPEC §5), with what is wrong about it.
func (e *Engine) refuse(reason string, ev agjson.Event) {
	e.stats.Refused++
	raw := agjson.AppendEvent(nil, &ev)
	e.Emit(agjson.Event{Body: &agjson.Ext{Name: "ext." + e.vendor + ".refused", Members: []agjson.Member{
		{Name: "reason", Value: agjson.Quote(reason)}, {Name: "event", Value: raw},
	}}})
}

// reserved are the members of an ext event that belong to the envelope (SPEC §12).
func reserved(name string) bool {
	switch name {
	case "seq", "type", "id", "turnId", "messageId", "parentId", "_meta":
		return true
	}
	return false
}

func embed(payload json.RawMessage) []agjson.Member {
	v, err := agjson.ParseValue(payload)
	if err != nil { // no JSON; a facet builds payloads from what was parsed
		return []agjson.Member{{Name: "value", Value: agjson.Quote(strings.ToValidUTF8(string(payload), "\uFFFD"))}}
	}
	if v.Kind() != agjson.KindObject || repeats(v) {
		return []agjson.Member{{Name: "value", Value: bytes.Clone(v.Raw())}}
	}
	var out, shadowed []agjson.Member
	for name, m := range v.Members {
		if reserved(name) {
			shadowed = append(shadowed, agjson.Member{Name: name, Value: m.Raw()})
		} else {
			out = append(out, agjson.Member{Name: name, Value: m.Raw()})
		}
	}
	if shadowed == nil {
		return out
	}
	kept := out[:0]
	for _, m := range out {
		if m.Name == "shadowed" {
			shadowed = append(shadowed, m)
		} else {
			kept = append(kept, m)
		}
	}
	return append(kept, agjson.Member{Name: "shadowed", Value: appendObject(nil, shadowed)})
}

// repeats says whether an object has two members of one name, which an event cannot hold.
func repeats(v agjson.Value) bool {
	seen := make(map[string]bool, v.Len())
	for name := range v.Members {
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

func appendObject(dst []byte, list []agjson.Member) []byte {
	dst = append(dst, '{')
	for i, m := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(agjson.AppendString(dst, m.Name), ':'), m.Value...)
	}
	return append(dst, '}')
}

// Object is a JSON object of the members, those without a value left out; nil when none is left.
func Object(list ...agjson.Member) json.RawMessage {
	kept := list[:0]
	for _, m := range list {
		if m.Value != nil {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return appendObject(nil, kept)
}
