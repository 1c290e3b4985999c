package vercel

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// run is what one turn has open. The zero run is a turn that nothing was said of.
type run struct {
	messages int    // opened so far
	message  string // the one that takes content; "" when none does
	last     string // the assistant's last one
	steps    int
	step     string // id of the open step; "" between steps

	parts   []part // open ones, in opening order
	tools   map[string]*tool
	held    []held
	steered []steered  // messages of the user that wait for the step to end
	waiting []metadata // waits for a message
	worn    []metadata // is on the last message

	failure   *failure // the last error
	cut       bool     // a step ended with parts left open
	asks      []agjson.PausedAsk
	approvals map[string]string // tool-call id by approval id
	places    map[string]string // message by the id of a data block
	whole     whole             // of frames that are whole UIMessages
}

// held is a message that stays open until the turn ends, and what its end will say.
type held struct {
	id    string
	usage *agjson.Usage
	ended bool // its step is over
}

// metadata is an object for a message, and the frame that had it.
type metadata struct {
	object json.RawMessage
	kind   string
	frame  json.RawMessage
}

// failure is what an `error` said.
type failure struct {
	message   string
	code      *string
	retriable *bool
}

func (f *facet) start(v agjson.Value) {
	f.OpenTurn("", nil)
	if id := v.Get("messageId"); id.Str() != "" {
		f.addMetadata("start", v, normalizer.Object(agjson.Member{Name: "messageId", Value: id.Raw()}))
	}
	if meta := v.Get("messageMetadata"); meta.Set() {
		f.addMetadata("start", v, asObject("messageMetadata", meta))
	}
}

func (f *facet) startStep(v agjson.Value) {
	f.endStep(nil)
	turn := f.OpenTurn("", nil)
	f.steps++
	f.step = turn + ":s" + strconv.Itoa(f.steps)
	f.Emit(agjson.Event{ID: f.step, Body: &agjson.StepStart{}})
	f.openMessage()
	if v.Get("warnings").Len() > 0 || v.Get("request").Len() > 0 {
		f.Carry("start-step", v)
	}
}

func (f *facet) finishStep(v agjson.Value) {
	response := v.Get("response")
	meta := normalizer.Object(
		agjson.Member{Name: "responseId", Value: text(response.Get("id"))},
		agjson.Member{Name: "model", Value: text(response.Get("modelId"))},
		agjson.Member{Name: "rawFinishReason", Value: text(v.Get("rawFinishReason"))},
		agjson.Member{Name: "providerMetadata", Value: json.RawMessage(bag(v.Get("providerMetadata")))},
	)
	used := usage(v.Get("usage"))
	if meta != nil || used != nil {
		f.ensureMessage()
	}
	if meta != nil {
		f.addMetadata("finish-step", v, meta)
	}
	f.cut = len(f.parts) > 0
	f.endStep(used)
}

// endStep ends what is open of the step: its parts, its message and the step itself.
func (f *facet) endStep(used *agjson.Usage) {
	f.endParts()
	f.endMessage(used)
	if f.step != "" {
		f.Emit(agjson.Event{ID: f.step, Body: &agjson.StepDone{}})
		f.step = ""
	}
	for _, s := range f.steered {
		f.say(s)
	}
	f.steered = nil
}

// openMessage opens the next message of the turn.
func (f *facet) openMessage() {
	turn := f.OpenTurn("", nil)
	f.messages++
	start := &agjson.MessageStart{Role: agjson.RoleAssistant}
	if f.step != "" {
		start.StepID = new(f.step)
	}
	f.message = f.OpenMessage(turn, turn+":m"+strconv.Itoa(f.messages), start)
	f.last = f.message
	waiting := f.waiting
	f.waiting, f.worn = nil, nil
	for _, m := range waiting {
		f.wear(m)
	}
}

// wear puts metadata onto the last message.
func (f *facet) wear(m metadata) {
	f.worn = append(f.worn, m)
	f.Emit(agjson.Event{MessageID: f.last, Body: &agjson.MessageMetadata{Metadata: m.object}})
}

// ensureMessage is the message that takes content, opened when none does.
func (f *facet) ensureMessage() string {
	if f.message == "" {
		f.openMessage()
	}
	return f.message
}

// endMessage seals the message that takes content, or leaves that to the end of the turn.
func (f *facet) endMessage(used *agjson.Usage) {
	id := f.message
	f.message = ""
	if id == "" {
		return
	}
	for i := range f.held {
		if f.held[i].id == id {
			f.held[i].usage, f.held[i].ended = used, true
			return
		}
	}
	f.CloseMessage(id, used)
}

// addMetadata puts an object onto the assistant's last message of the turn, or onto the one that will be opened.
func (f *facet) addMetadata(kind string, frame agjson.Value, object json.RawMessage) {
	m := metadata{object, kind, frame.Raw()}
	if f.last == "" {
		f.waiting = append(f.waiting, m)
		return
	}
	f.wear(m)
}

// orphans carries the frames whose metadata has found no message.
func (f *facet) orphans() {
	for i, m := range f.waiting {
		if i == 0 || string(f.waiting[i-1].frame) != string(m.frame) {
			f.Ext("frame", normalizer.Object(agjson.Member{Name: "kind", Value: agjson.Quote(m.kind)}, agjson.Member{Name: "frame", Value: m.frame}))
		}
	}
	f.waiting = nil
}

// resetStep takes back what the step has said, and begins its message anew. Metadata is of the whole UIMessage, and stays.
func (f *facet) resetStep(v agjson.Value) {
	if f.message == "" {
		f.Carry("reset-step", v)
		return
	}
	old := f.message
	f.parts = nil
	for i := range f.held {
		if f.held[i].id == old {
			f.held = append(f.held[:i], f.held[i+1:]...)
			break
		}
	}
	for id, t := range f.tools {
		if t.message == old {
			delete(f.tools, id)
			f.answer(id)
			if f.gone == nil {
				f.gone = map[string]bool{}
			}
			f.gone[id] = true
		}
	}
	f.RemoveMessage(old)
	f.waiting = append(f.waiting, f.worn...)
	f.openMessage()
}

// failed is an error of the stream. It is no terminal: a finish may follow, and need not.
func (f *facet) failed(v agjson.Value) {
	turn := f.Turn()
	if turn == "" && !f.Opened() {
		turn = f.OpenTurn("", nil)
	}
	e := v.Get("error")
	if !e.Exists() {
		e = v.Get("errorText")
	}
	fail, raw := errorOf(e)
	f.failure = &fail
	f.Emit(agjson.Event{TurnID: turn, Meta: raw, Body: &agjson.Error{Message: fail.message, Code: fail.code, Retriable: fail.retriable}})
}

// maskedError is what the SDK itself says in place of an error that it hides.
const maskedError = "An error occurred."

// errorOf reads an error of any shape: a text, an Error that JSON may have emptied, or an object of the provider's. raw is what
// the failure does not say, as `_meta`.
func errorOf(e agjson.Value) (fail failure, raw json.RawMessage) {
	switch e.Kind() {
	case agjson.KindString:
		fail.message = e.Str()
	case agjson.KindObject:
		fail.message = e.Get("message").Str()
		fail.code = e.Get("code").StrPtr()
		if fail.code == nil {
			fail.code = e.Get("name").StrPtr()
		}
		fail.retriable = e.Get("isRetryable").BoolPtr()
		switch {
		case e.Len() == 0:
		case fail.message == "":
			fail.message = compact(e.Raw())
		default:
			raw = note("error", e.Raw())
		}
	case agjson.KindAbsent, agjson.KindNull:
	default:
		fail.message = compact(e.Raw())
	}
	if fail.message == "" {
		fail.message = maskedError
	}
	return fail, raw
}

// note is `_meta` with one member of ours.
func note(key string, value json.RawMessage) json.RawMessage {
	return normalizer.Object(agjson.Member{Name: "vercel/" + key, Value: value})
}

// asObject is v when it is an object, and an object with v as its only member when it is not.
func asObject(name string, v agjson.Value) json.RawMessage {
	if v.Kind() == agjson.KindObject {
		return v.Raw()
	}
	return normalizer.Object(agjson.Member{Name: name, Value: v.Raw()})
}

// text is the JSON of a string; nil for anything else.
func text(v agjson.Value) json.RawMessage {
	if v.Kind() == agjson.KindString {
		return v.Raw()
	}
	return nil
}

// compact is JSON text without white space, its numbers and escapes as they came.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// idOf is an id, which some providers number; "" when there is none.
func idOf(v agjson.Value) string {
	if v.Kind() == agjson.KindNumber {
		return string(v.Number())
	}
	return v.Str()
}
