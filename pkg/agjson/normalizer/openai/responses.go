package openai

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// responses maps an event of the Responses API.
func (f *facet) responses(kind string, ev agjson.Value) {
	switch kind {
	case "response.created":
		f.created(ev.Get("response"))
	case "response.completed":
		f.completed(ev.Get("response"))
	case "response.failed", "response.incomplete", "response.cancelled":
		f.unsuccessful(strings.TrimPrefix(kind, "response."), ev.Get("response"))
	case "error", "response.error":
		f.streamError(ev)
	case "response.output_item.added":
		f.itemAdded(ev)
	case "response.output_item.done":
		f.itemDone(ev)
	case "response.output_text.delta":
		f.textDelta(ev, false)
	case "response.output_text.done":
		f.textDone(ev, false, ev.Get("text"))
	case "response.refusal.delta":
		f.textDelta(ev, true)
	case "response.refusal.done":
		f.textDone(ev, true, ev.Get("refusal"))
	case "response.output_text.annotation.added":
		f.annotation(ev)
	case "response.reasoning_summary_text.delta":
		f.thoughtDelta(ev, "summary_index", false)
	case "response.reasoning_summary_text.done":
		f.thoughtDone(ev, "summary_index", false)
	case "response.reasoning_text.delta":
		f.thoughtDelta(ev, "content_index", true)
	case "response.reasoning_text.done":
		f.thoughtDone(ev, "content_index", true)
	case "response.function_call_arguments.delta", "response.mcp_call_arguments.delta":
		f.argsDelta(kind, ev)
	case "response.function_call_arguments.done":
		f.argsDone(kind, ev)
	case "response.code_interpreter_call_code.delta":
		f.codeDelta(kind, ev)
	case "response.custom_tool_call_input.delta":
		f.inputDelta(kind, ev)
	case "response.image_generation_call.partial_image":
		f.partialImage(ev)
	default:
		if !repeats(kind) {
			f.Carry(kind, ev)
		}
	}
}

// repeats says that all an event of that kind says is also said by others: where a hosted tool is, where a part begins and ends.
func repeats(kind string) bool {
	switch kind {
	case "response.queued", "response.in_progress",
		"response.content_part.added", "response.content_part.done",
		"response.reasoning_summary_part.added", "response.reasoning_summary_part.done",
		"response.web_search_call.in_progress", "response.web_search_call.searching", "response.web_search_call.completed",
		"response.file_search_call.in_progress", "response.file_search_call.searching", "response.file_search_call.completed",
		"response.code_interpreter_call.in_progress", "response.code_interpreter_call.interpreting", "response.code_interpreter_call.completed",
		"response.code_interpreter_call_code.done", "response.custom_tool_call_input.done",
		"response.image_generation_call.in_progress", "response.image_generation_call.generating", "response.image_generation_call.completed",
		"response.mcp_call.in_progress", "response.mcp_call.completed", "response.mcp_call.failed", "response.mcp_call_arguments.done",
		"response.mcp_list_tools.in_progress", "response.mcp_list_tools.completed", "response.mcp_list_tools.failed",
		"response.shell_call_command.added", "response.shell_call_command.delta", "response.shell_call_command.done",
		"response.shell_call_output_content.done":
		return true
	}
	return false
}

// responseStarted is the SDK's own word that a response begins. pd is the provider's event: the Responses API's, or a chunk.
func (f *facet) responseStarted(pd agjson.Value) {
	resp := pd.Get("response")
	if !resp.Exists() {
		resp = pd
	}
	id := resp.Get("id").Str()
	switch r := f.round; {
	case id == "": // what begins says its id next, or has none
		if r != nil && r.ended {
			f.settle()
		}
	case f.ended[id] || r != nil && !r.closed && r.id == id:
	default:
		f.begin(id, resp.Get("model").StrPtr()).note(resp)
	}
}

// created is the Responses API's word that a response begins. One that was complete before is a repetition.
func (f *facet) created(resp agjson.Value) {
	id := resp.Get("id").Str()
	r := f.round
	switch {
	case id != "" && f.ended[id]:
		return
	case r == nil || r.ended || id != r.id || id == "" && len(r.items) > 0:
		r = f.begin(id, resp.Get("model").StrPtr())
	}
	r.raw = true
	r.note(resp)
}

// note keeps what a response says of itself and its end depends on.
func (r *round) note(resp agjson.Value) {
	switch resp.Path("text", "format", "type").Str() {
	case "json_schema", "json_object":
		r.json = true
	}
}

// completed is the end of a response that the Responses API streamed; it may come twice, and the SDK has said it too.
func (f *facet) completed(resp agjson.Value) {
	id := resp.Get("id").Str()
	r := f.round
	if r != nil && r.ended && (id == r.id || id == "") {
		if used := usage(resp.Get("usage")); used != nil && !r.closed {
			r.done.Usage = used
		}
		return
	}
	if id != "" && f.ended[id] {
		return
	}
	if r == nil || r.ended {
		r = f.begin(id, resp.Get("model").StrPtr())
	}
	r.raw = true
	r.note(resp)
	switch status := resp.Get("status").Str(); status {
	case "failed", "incomplete", "cancelled":
		f.unsuccessful(status, resp)
	default:
		f.complete(r, resp)
	}
}

// responseDone is the SDK's own word that a response is complete. It is the only one where the provider's events are not the Responses
// API's, or are left out.
func (f *facet) responseDone(resp agjson.Value) {
	id := resp.Get("id").Str()
	r := f.round
	switch {
	case r != nil && r.ended && id == r.id:
		r.sdk = true
		return
	case r == nil || r.ended:
		if resp.Kind() != agjson.KindObject || f.ended[id] {
			return
		}
		r = f.begin(id, resp.Path("providerData", "model").StrPtr())
	}
	r.sdk = true
	r.note(resp.Get("providerData"))
	if resp.Kind() == agjson.KindObject {
		f.complete(r, resp)
	}
}

// unsuccessful ends a response that did not complete.
func (f *facet) unsuccessful(status string, resp agjson.Value) {
	id := resp.Get("id").Str()
	if f.ended[id] {
		return
	}
	r := f.round
	if r == nil || r.ended {
		r = f.begin(id, resp.Get("model").StrPtr())
	}
	if r.id != "" {
		f.ended[r.id] = true
	}
	used := usage(resp.Get("usage"))
	switch reason := resp.Path("incomplete_details", "reason").Str(); {
	case status == "cancelled": // SPEC §8 item 17
		f.fail(r.turn, &agjson.TurnAbort{Reason: new("cancelled")})
	case status == "incomplete" && reason == "content_filter":
		done := &agjson.TurnDone{Usage: used}
		blocked(done)
		f.fail(r.turn, done)
	case status == "incomplete":
		reason = orElse(reason, status)
		f.fail(r.turn, &agjson.TurnError{Message: reason, Code: new(reason), Usage: used})
	default:
		err := resp.Get("error")
		f.fail(r.turn, &agjson.TurnError{Message: orElse(err.Get("message").Str(), "the response failed"), Code: err.Get("code").StrPtr(), Usage: used})
	}
}

// streamError is an error within the stream. What follows decides whether the run ends with it.
func (f *facet) streamError(ev agjson.Value) {
	e := ev
	if inner := ev.Get("error"); inner.Kind() == agjson.KindObject {
		e = inner
	}
	code := e.Get("code").StrPtr()
	if code == nil && e.Get("type").Str() != "error" {
		code = e.Get("type").StrPtr()
	}
	message := orElse(e.Get("message").Str(), "the model's stream reported an error")
	if f.RootTurn() == "" {
		f.receiving()
	}
	f.Emit(agjson.Event{TurnID: f.RootTurn(), Body: &agjson.Error{Message: message, Code: code}})
	f.failure = &agjson.TurnError{Message: message, Code: code}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
