package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// itemAdded opens an item of the response's output. What it holds so far is not final, and is not used.
func (f *facet) itemAdded(ev agjson.Value) {
	v := ev.Get("item")
	id := v.Get("id").Str()
	if r := f.round; r != nil && r.ended && f.saysAgain(r, v) {
		return
	}
	r := f.receiving()
	r.raw = true
	switch kind := v.Get("type").Str(); {
	case kind == "message":
		r.item(messageItem, id).phase = strings.Clone(v.Get("phase").Str())
	case kind == "reasoning":
		r.item(reasoningItem, id)
	case isCall(kind):
		f.startCall(r, v)
	}
}

// itemDone says a whole item, or what of it the stream has not said.
func (f *facet) itemDone(ev agjson.Value) {
	v := ev.Get("item")
	if r := f.round; r != nil && r.ended && f.saysAgain(r, v) {
		return
	}
	r := f.receiving()
	r.raw = true
	if !f.item(r, v) {
		f.Carry("response.output_item.done", ev)
	}
}

// saysAgain says that an item is one of a response that is complete.
func (f *facet) saysAgain(r *round, v agjson.Value) bool {
	id := v.Get("id").Str()
	for _, it := range r.items {
		if it.id == id && id != "" {
			return true
		}
	}
	call := callID(v)
	return call != "" && f.HasCall(call)
}

// item says a whole item of a response's output, of the Responses API's shape or the SDK's; of one that was said in part, the
// rest; of one that was said, nothing. It answers false for what is no item.
func (f *facet) item(r *round, v agjson.Value) bool {
	if v.Get("type").Str() == "unknown" && v.Get("providerData").Kind() == agjson.KindObject {
		v = v.Get("providerData") // how the SDK wraps what it does not know
	}
	switch kind := v.Get("type").Str(); {
	case v.Kind() != agjson.KindObject || kind == "":
		return false
	case kind == "message":
		f.message(r, v)
	case kind == "reasoning":
		f.reasoning(r, v)
	case kind == "compaction":
		f.compaction(r, v)
	case isCall(kind):
		f.wholeCall(r, v)
	case isOutput(kind):
		return f.output(v, agjson.Value{})
	default:
		f.other(r, v)
	}
	return true
}

// other keeps an item that the vocabulary has no block for: it is sent back to the provider.
func (f *facet) other(r *round, v agjson.Value) {
	if id := v.Get("id").Str(); id != "" {
		it := r.item(otherItem, id)
		if it.done {
			return
		}
		it.done = true
	}
	f.ProviderRaw(r.message, vendor, v.Raw())
}

// compaction is the provider's summary of the conversation before it.
func (f *facet) compaction(r *round, v agjson.Value) {
	it := r.item(otherItem, v.Get("id").Str())
	if it.done {
		return
	}
	it.done = true
	f.Emit(agjson.Event{TurnID: r.turn, Body: &agjson.ContentBlock{Block: &agjson.CompactionBlock{
		Opaque:   &agjson.OpaqueBlob{Kind: agjson.OpaqueKindCiphertext, Value: agjson.Secret(v.Get("encrypted_content").Str()), Provider: new(vendor)},
		Provider: new(vendor),
		Meta: normalizer.Object(
			agjson.Member{Name: "openai/itemId", Value: text(v.Get("id"))},
			agjson.Member{Name: "openai/createdBy", Value: text(v.Get("created_by"))},
		),
	}}})
}

// member is a member of an item: the SDK moves those of the provider's that it does not know to providerData.
func member(v agjson.Value, name string) agjson.Value {
	if m := v.Get(name); m.Exists() {
		return m
	}
	return v.Path("providerData", name)
}

// text is the JSON of a string that is not empty; nil for anything else.
func text(v agjson.Value) json.RawMessage {
	if v.Str() == "" {
		return nil
	}
	return v.Raw()
}

// healed is a text in which the halves of a surrogate pair that lay in two deltas are the character that they make.
func healed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	v, err := agjson.ParseValue(agjson.Quote(s))
	if err != nil {
		return s
	}
	return v.Str()
}

// parseJSON is the JSON that a text is, on one line; false when it is none.
func parseJSON(s string) (json.RawMessage, bool) {
	v, err := agjson.ParseValue([]byte(healed(s)))
	if err != nil {
		return nil, false
	}
	return oneLine(v.Raw()), true
}

// oneLine is JSON without line breaks between its tokens.
func oneLine(raw json.RawMessage) json.RawMessage {
	var line bytes.Buffer
	if !bytes.ContainsAny(raw, "\r\n") || json.Compact(&line, raw) != nil {
		return raw
	}
	return line.Bytes()
}

// beyond is what whole has after said. A surrogate pair that two deltas were split over counts as its character.
func beyond(said, whole string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(whole, said); ok {
		return rest, true
	}
	q, w := agjson.Quote(said), agjson.Quote(whole)
	if !bytes.HasPrefix(w, q[:len(q)-1]) {
		return "", false
	}
	v, err := agjson.ParseValue(append([]byte{'"'}, w[len(q)-1:]...))
	return v.Str(), err == nil
}
