package vercel

import (
	"encoding/json"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// tool is a call that this turn made.
type tool struct {
	message   string
	assembled bool
	done      bool          // has a result that is final
	failed    string        // text of the error that ended it
	meta      agjson.Opaque // providerMetadata of its tool-input-end
	denied    *string       // why its approval was refused
}

// callID is the id of a call in any tool part; "" when there is none.
func callID(v agjson.Value) string {
	if s := idOf(v.Get("toolCallId")); s != "" {
		return s
	}
	return idOf(v.Get("id"))
}

// toolStart opens a call, from its input-start or from the first part that names it.
func (f *facet) toolStart(v agjson.Value) {
	id, name := callID(v), v.Get("toolName").StrPtr()
	if id == "" || name == nil {
		f.Unparsed(v)
		return
	}
	f.openCall(id, *name, v, v.Get("providerMetadata"))
}

func (f *facet) openCall(id, name string, v, meta agjson.Value) {
	message := f.ensureMessage()
	if f.tools == nil {
		f.tools = map[string]*tool{}
	}
	ev := agjson.Event{MessageID: message, Body: &agjson.ToolStart{
		ToolCallID: id, Name: name,
		Dynamic: v.Get("dynamic").BoolPtr(), ProviderExecuted: v.Get("providerExecuted").BoolPtr(), Title: v.Get("title").StrPtr(),
		ToolMetadata: json.RawMessage(bag(v.Get("toolMetadata"))), ProviderMetadata: bag(meta), ItemID: member(meta, "itemId"),
	}}
	if enc := v.Get("inputEncoding"); enc.Set() {
		ev.Meta = note("inputEncoding", enc.Raw())
	}
	if f.tools[id] == nil {
		f.tools[strings.Clone(id)] = &tool{message: message}
	}
	delete(f.gone, id)
	f.Emit(ev)
}

func (f *facet) toolDelta(v agjson.Value) {
	delta := firstString(v.Get("inputTextDelta"), v, "delta")
	id := callID(v)
	if id == "" || delta.Kind() != agjson.KindString {
		f.Unparsed(v)
		return
	}
	ev := agjson.Event{Body: &agjson.ToolArgsDelta{ToolCallID: id, Delta: delta.Str()}}
	if meta := bag(v.Get("providerMetadata")); meta != nil {
		ev.Meta = note("providerMetadata", json.RawMessage(meta))
	}
	f.Emit(ev)
}

// toolInputEnd says nothing of its own: the whole call follows.
func (f *facet) toolInputEnd(v agjson.Value) {
	if t := f.tools[callID(v)]; t != nil {
		t.meta = bag(v.Get("providerMetadata"))
	}
}

// toolCall is the whole call: its arguments, and all of it when nothing was streamed.
func (f *facet) toolCall(v agjson.Value) {
	f.assemble(v)
}

// assemble says the arguments of the call that v names, and reports whether it names one.
func (f *facet) assemble(v agjson.Value) bool {
	id := callID(v)
	if id == "" || !v.Get("input").Exists() && f.tools[id] == nil {
		f.Unparsed(v)
		return false
	}
	meta := v.Get("providerMetadata")
	if f.tools[id] == nil {
		f.openCall(id, v.Get("toolName").Str(), v, agjson.Value{})
	}
	t := f.tools[id]
	args := &agjson.ToolArgsAssembled{
		ToolCallID: id, Input: v.Get("input").Raw(), Title: v.Get("title").StrPtr(),
		ToolMetadata: json.RawMessage(bag(v.Get("toolMetadata"))), ProviderMetadata: bag(meta),
	}
	if args.Input == nil {
		args.Input = json.RawMessage("null")
	}
	if args.ProviderMetadata == nil {
		args.ProviderMetadata = t.meta
	}
	if sig := member(meta, "thoughtSignature"); sig != nil {
		args.Signature = new(agjson.Secret(*sig))
	}
	ev := agjson.Event{Body: args}
	if v.Get("invalid").Bool() {
		ev.Meta = normalizer.Object(
			agjson.Member{Name: "vercel/invalid", Value: json.RawMessage("true")},
			agjson.Member{Name: "vercel/error", Value: v.Get("error").Raw()},
		)
	}
	t.assembled = true
	f.Emit(ev)
	return true
}

// toolInputError is a call that the SDK could not take. Version 6 says its error again as the call's output.
func (f *facet) toolInputError(v agjson.Value) {
	if f.assemble(v) {
		f.toolError(v)
	}
}

func (f *facet) toolResult(v agjson.Value) {
	id := callID(v)
	if id == "" {
		f.Unparsed(v)
		return
	}
	out := v.Get("output")
	done := f.outcome(v, agjson.ToolOutcomeOk)
	done.ToolCallID = id
	switch {
	case out.Kind() == agjson.KindString:
		done.Content = []agjson.Block{&agjson.TextBlock{Text: out.Str()}}
	case out.Exists():
		done.StructuredContent = out.Raw()
		done.Content = []agjson.Block{&agjson.TextBlock{Text: compact(out.Raw())}}
	}
	if v.Get("preliminary").Bool() {
		done.More, done.Preliminary = new(true), new(true)
	}
	f.land(done, v, nil)
}

func (f *facet) toolError(v agjson.Value) {
	id := callID(v)
	if id == "" {
		f.Unparsed(v)
		return
	}
	e := v.Get("errorText")
	if !e.Exists() {
		e = v.Get("error")
	}
	fail, raw := errorOf(e)
	if t := f.tools[id]; t != nil && t.done && t.failed == fail.message {
		return // what tool-input-error has said
	}
	done := f.outcome(v, agjson.ToolOutcomeError)
	done.ToolCallID, done.ErrorText, done.ErrorCode, done.IsError = id, new(fail.message), fail.code, new(true)
	done.Content = []agjson.Block{&agjson.TextBlock{Text: fail.message}}
	f.land(done, v, raw)
	if t := f.tools[id]; t != nil {
		t.failed = fail.message
	}
}

func (f *facet) toolDenied(v agjson.Value) {
	id := callID(v)
	if id == "" {
		f.Unparsed(v)
		return
	}
	done := f.outcome(v, agjson.ToolOutcomeDenied)
	done.ToolCallID = id
	if t := f.tools[id]; t != nil && t.denied != nil {
		done.Content = []agjson.Block{&agjson.TextBlock{Text: *t.denied}}
	}
	f.land(done, v, nil)
}

func (f *facet) outcome(v agjson.Value, o agjson.ToolOutcome) *agjson.ToolDone {
	return &agjson.ToolDone{
		Content: []agjson.Block{}, Outcome: o,
		Dynamic: v.Get("dynamic").BoolPtr(), ToolMetadata: json.RawMessage(bag(v.Get("toolMetadata"))),
		ProviderMetadata: bag(v.Get("providerMetadata")),
	}
}

// land says a result. It joins the message that takes content; where none does, as when a resumed stream begins, it is adopted by
// a message of its own. A result is final once, and one of a call that was taken back has no place (SPEC §5 tool.done).
func (f *facet) land(done *agjson.ToolDone, v agjson.Value, meta json.RawMessage) {
	id := done.ToolCallID
	t := f.tools[id]
	if t != nil && t.done || f.gone[id] {
		f.Carry(v.Get("type").Str(), v)
		return
	}
	if t != nil {
		t.done = done.More == nil
	}
	f.answer(id)
	ev := agjson.Event{Meta: meta, Body: done}
	if f.message == "" {
		ev.MessageID = id + ":result"
	}
	f.aside(func() {
		ev.TurnID = f.OpenTurn("", nil)
		f.Emit(ev)
	})
}
