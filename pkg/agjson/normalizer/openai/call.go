package openai

import (
	"encoding/json"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// isCall says that an item is a tool call. The SDK wraps hosted ones as hosted_tool_call.
func isCall(kind string) bool {
	switch kind {
	case "function_call", "custom_tool_call", "shell_call", "local_shell_call", "apply_patch_call", "computer_call", "program",
		"tool_search_call":
		return true
	}
	return isHosted(kind)
}

// callID is the tool-call id of a call, or that its output names: its own, or, for hosted tools, that of the item.
func callID(v agjson.Value) string {
	kind := v.Get("type").Str()
	if kind == "tool_search_call" {
		return searchID(v)
	}
	if isHosted(kind) {
		return v.Get("id").Str()
	}
	return orElse(either(v, "callId", "call_id").Str(), v.Get("id").Str())
}

// searchID is the id that pairs a tool search and its output, by the SDK's own chain (SPEC §8 item 20).
func searchID(v agjson.Value) string {
	for _, m := range []agjson.Value{v.Path("providerData", "call_id"), v.Path("providerData", "callId"), v.Get("call_id"), v.Get("callId")} {
		if s := m.Str(); s != "" {
			return s
		}
	}
	return v.Get("id").Str()
}

// callName is a tool's name; the built-in ones have none on the wire (SPEC §8 item 20).
func callName(v agjson.Value) string {
	switch kind := v.Get("type").Str(); kind {
	case "shell_call", "local_shell_call", "apply_patch_call", "computer_call", "tool_search_call":
		return "builtin:" + strings.TrimSuffix(kind, "_call")
	case "program":
		return "builtin:program"
	case "function_call", "custom_tool_call", "hosted_tool_call":
		return v.Get("name").Str()
	default:
		return kind // the name that the SDK gives it
	}
}

// startCall opens a tool call; nil when it cannot be told from others, or an earlier response made it.
func (f *facet) startCall(r *round, v agjson.Value) *item {
	call := callID(v)
	if it := r.callOf(call); it != nil {
		return it
	}
	if it := r.known(callItem, v.Get("id").Str()); it != nil && !r.chat.on {
		return it
	}
	if call == "" || f.HasCall(call) {
		return nil
	}
	id, kind := v.Get("id").Str(), v.Get("type").Str()
	it := &item{kind: callItem, key: strings.Clone(id), id: strings.Clone(id), call: strings.Clone(call)}
	r.items = append(r.items, it)
	if f.executes(v) {
		r.calls = append(r.calls, it.call)
	}
	start := &agjson.ToolStart{ToolCallID: call, Name: callName(v), ProviderMetadata: callBag(v)}
	if id != "" && !r.chat.on {
		start.ItemID = new(id)
	}
	if isHosted(kind) {
		start.ProviderExecuted = new(true)
		start.ServerName = member(v, "server_label").StrPtr()
		switch callName(v) {
		case "mcp_call", "mcp_approval_request":
			start.Title = v.Path("providerData", "name").StrPtr()
			if start.Title == nil && kind != "hosted_tool_call" {
				start.Title = v.Get("name").StrPtr()
			}
		}
	}
	if kind == "tool_search_call" && !f.CallDone(call) {
		f.searches = append(f.searches, it.call)
	}
	f.ToolStart(r.message, start)
	return it
}

// executes says that the SDK's runner executes a call, so that its result comes after the response.
func (f *facet) executes(v agjson.Value) bool {
	switch v.Get("type").Str() {
	case "function_call", "apply_patch_call", "computer_call":
		return true
	case "shell_call":
		return !v.Get("environment").Set() // else the provider runs it, in a container
	case "tool_search_call":
		return member(v, "execution").Str() == "client"
	}
	return false
}

// callBag is what a call has beside its name and input, and is sent back to the provider with it.
func callBag(v agjson.Value) agjson.Opaque {
	list := []agjson.Member{
		{Name: "caller", Value: caller(v.Get("caller"))},
		{Name: "namespace", Value: text(v.Get("namespace"))},
		{Name: "approvalRequestId", Value: text(member(v, "approval_request_id"))},
	}
	if checks := member(v, "pending_safety_checks"); checks.Len() > 0 {
		list = append(list, agjson.Member{Name: "pendingSafetyChecks", Value: checks.Raw()})
	}
	return agjson.Opaque(normalizer.Object(list...))
}

// caller is who called: the model itself, or a program of its.
func caller(c agjson.Value) json.RawMessage {
	if c.Kind() != agjson.KindObject {
		return nil
	}
	id := either(c, "callerId", "caller_id")
	list := []agjson.Member{{Name: "type", Value: c.Get("type").RawSet()}, {Name: "callerId", Value: text(id)}}
	return normalizer.Object(list...)
}

// wholeCall says a whole call: what of it was not said.
func (f *facet) wholeCall(r *round, v agjson.Value) {
	it := f.startCall(r, v)
	switch {
	case it == nil:
		if callID(v) == "" {
			f.Ext("unparsed", normalizer.Object(agjson.Member{Name: "item", Value: v.Raw()}))
		}
		return
	case isHosted(v.Get("type").Str()):
		f.hosted(r, it, v)
		return
	case it.hasArgs:
		return
	}
	input, ok := callInput(v)
	if !ok {
		f.unparsedArgs(it.id, v.Get("arguments"))
	}
	f.wholeArgs(it, input)
}

// wholeArgs says a call's arguments; when none were streamed, as a delta too.
func (f *facet) wholeArgs(it *item, input json.RawMessage) {
	if it.hasArgs {
		return
	}
	it.hasArgs = true
	if rest, ok := strings.CutPrefix(string(input), it.args.String()); ok && rest != "" {
		f.ToolArgsDelta(it.call, rest)
	}
	f.ToolArgs(&agjson.ToolArgsAssembled{ToolCallID: it.call, Input: input})
}

var noInput = json.RawMessage("{}")

// callInput is the input of a call. Of the built-in tools it is what they act on, as the SDK spells it. It answers false where the
// arguments are no JSON.
func callInput(v agjson.Value) (json.RawMessage, bool) {
	switch v.Get("type").Str() {
	case "shell_call", "local_shell_call":
		return camel(v.Get("action")), true
	case "apply_patch_call":
		return camel(v.Get("operation")), true
	case "computer_call":
		if list := v.Get("actions"); list.Len() > 0 { // SPEC §8 item 20
			return list.Raw(), true
		}
		return orEmpty(v.Get("action")), true
	case "program":
		return orNone(normalizer.Object(
			agjson.Member{Name: "code", Value: v.Get("code").RawSet()},
			agjson.Member{Name: "fingerprint", Value: v.Get("fingerprint").RawSet()})), true
	case "tool_search_call":
		return orEmpty(v.Get("arguments")), true
	case "custom_tool_call":
		return orEmpty(v.Get("input")), true
	}
	return arguments(v.Get("arguments"))
}

// arguments is the JSON in a text; {} and false when it is none.
func arguments(v agjson.Value) (json.RawMessage, bool) {
	if raw, ok := parseJSON(v.Str()); ok {
		return raw, true
	}
	return noInput, false
}

func orEmpty(v agjson.Value) json.RawMessage { return orNone(v.RawSet()) }

func orNone(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return noInput
	}
	return raw
}

// camel is an object of the Responses API with the names that the SDK gives its members.
func camel(v agjson.Value) json.RawMessage {
	if v.Kind() != agjson.KindObject {
		return orEmpty(v)
	}
	var list []agjson.Member
	for name, m := range v.Members {
		switch name {
		case "timeout_ms":
			name = "timeoutMs"
		case "max_output_length":
			name = "maxOutputLength"
		case "move_to":
			name = "moveTo"
		}
		list = append(list, agjson.Member{Name: name, Value: m.Raw()})
	}
	return orNone(normalizer.Object(list...))
}

// unparsedArgs carries arguments that are no JSON.
func (f *facet) unparsedArgs(id string, args agjson.Value) {
	raw := args.Raw()
	if raw == nil {
		raw = json.RawMessage("null")
	}
	f.Ext("unparsed", normalizer.Object(
		agjson.Member{Name: "itemId", Value: agjson.Quote(id)}, agjson.Member{Name: "arguments", Value: raw}))
}

// argsDelta maps a delta of a call's arguments.
func (f *facet) argsDelta(kind string, ev agjson.Value) {
	delta := ev.Get("delta")
	it := f.streamedCall(kind, ev)
	if it == nil {
		return
	}
	if delta.Kind() != agjson.KindString {
		f.Carry(kind, ev)
		return
	}
	if s := delta.Str(); s != "" {
		it.args.WriteString(s)
		f.ToolArgsDelta(it.call, s)
	}
}

// streamedCall is the call of a stream's event whose arguments are still to be said; nil when there is none: then the event is carried,
// unless it repeats what was said.
func (f *facet) streamedCall(kind string, ev agjson.Value) *item {
	r := f.round
	var it *item
	if r != nil {
		it = r.known(callItem, ev.Get("item_id").Str())
	}
	if it == nil || r.closed || it.hasArgs || r.ended {
		f.Carry(kind, ev)
		return nil
	}
	return it
}

// argsDone says a call's arguments (SPEC §8 item 1).
func (f *facet) argsDone(kind string, ev agjson.Value) {
	it := f.streamedCall(kind, ev)
	if it == nil {
		return
	}
	input, ok := arguments(ev.Get("arguments"))
	if !ok {
		f.unparsedArgs(it.id, ev.Get("arguments"))
	}
	it.hasArgs = true
	f.ToolArgs(&agjson.ToolArgsAssembled{ToolCallID: it.call, Input: input})
}

// codeDelta maps the code of the code interpreter, which is the first member of its input.
func (f *facet) codeDelta(kind string, ev agjson.Value) {
	if it := f.streamedCall(kind, ev); it != nil {
		f.textArgs(it, `{"code":"`, ev.Get("delta").Str())
	}
}

// inputDelta maps the input of a custom tool, which is a text.
func (f *facet) inputDelta(kind string, ev agjson.Value) {
	if it := f.streamedCall(kind, ev); it != nil {
		f.textArgs(it, `"`, ev.Get("delta").Str())
	}
}

// textArgs says a delta of a text as a delta of the JSON that holds it.
func (f *facet) textArgs(it *item, before, delta string) {
	q := agjson.Quote(delta)
	s := string(q[1 : len(q)-1])
	if it.args.Len() == 0 {
		s = before + s
	}
	it.args.WriteString(s)
	f.ToolArgsDelta(it.call, s)
}
