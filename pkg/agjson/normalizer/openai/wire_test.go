package openai_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer/openai"
	"pgregory.net/rapid"
)

// streamEvents are the events of the Responses API that the declarations of openai 7.59.0, which @openai/agents 0.20.0 uses, have.
var streamEvents = []string{
	"error", "response.audio.delta", "response.audio.done", "response.audio.transcript.delta", "response.audio.transcript.done",
	"response.code_interpreter_call.completed", "response.code_interpreter_call.in_progress", "response.code_interpreter_call.interpreting",
	"response.code_interpreter_call_code.delta", "response.code_interpreter_call_code.done", "response.compaction.compacting",
	"response.completed", "response.content_part.added", "response.content_part.done", "response.created",
	"response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", "response.failed",
	"response.file_search_call.completed", "response.file_search_call.in_progress", "response.file_search_call.searching",
	"response.function_call_arguments.delta", "response.function_call_arguments.done", "response.image_generation_call.completed",
	"response.image_generation_call.generating", "response.image_generation_call.in_progress", "response.image_generation_call.partial_image",
	"response.in_progress", "response.incomplete", "response.mcp_call.completed", "response.mcp_call.failed", "response.mcp_call.in_progress",
	"response.mcp_call_arguments.delta", "response.mcp_call_arguments.done", "response.mcp_list_tools.completed", "response.mcp_list_tools.failed",
	"response.mcp_list_tools.in_progress", "response.output_item.added", "response.output_item.done", "response.output_text.annotation.added",
	"response.output_text.delta", "response.output_text.done", "response.queued", "response.reasoning_summary_part.added",
	"response.reasoning_summary_part.done", "response.reasoning_summary_text.delta", "response.reasoning_summary_text.done",
	"response.reasoning_text.delta", "response.reasoning_text.done", "response.refusal.delta", "response.refusal.done",
	"response.shell_call_command.added", "response.shell_call_command.delta", "response.shell_call_command.done",
	"response.shell_call_output_content.delta", "response.shell_call_output_content.done", "response.web_search_call.completed",
	"response.web_search_call.in_progress", "response.web_search_call.searching",
}

// outputItems are the items of a response's output: the Responses API's, and then those that only the SDK has.
var outputItems = []string{
	"message", "file_search_call", "function_call", "function_call_output", "web_search_call", "computer_call", "computer_call_output",
	"reasoning", "program", "program_output", "tool_search_call", "tool_search_output", "additional_tools", "compaction",
	"image_generation_call", "code_interpreter_call", "local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output",
	"apply_patch_call", "apply_patch_call_output", "mcp_call", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
	"custom_tool_call", "custom_tool_call_output",
	"hosted_tool_call", "function_call_result", "computer_call_result", "unknown",
}

// runItems are the names of run items.
var runItems = []string{
	"message_output_created", "handoff_requested", "handoff_occurred", "tool_search_called", "tool_search_output_created", "tool_called",
	"tool_output", "reasoning_item_created", "compaction_item_created", "tool_approval_requested",
}

func modelEvent(kind, members string) []byte {
	return fmt.Appendf(nil, `{"type":"raw_model_stream_event","data":{"type":"model","event":{"type":%q%s}}}`, kind, members)
}

// TestWholeWire: every event and item that the declarations have is known, within a response: none is unparsed, every item says
// something, and what is carried is what the package says it carries.
func TestWholeWire(t *testing.T) {
	carried := []string{
		"response.audio.delta", "response.audio.done", "response.audio.transcript.delta", "response.audio.transcript.done",
		"response.compaction.compacting", "response.shell_call_output_content.delta",
	}
	for _, kind := range streamEvents {
		n := openai.New(host)
		n.Push(modelEvent("response.created", `,"response":{"id":"r0"}`))
		for _, item := range []string{"function_call", "mcp_call", "code_interpreter_call", "custom_tool_call"} {
			n.Push(modelEvent("response.output_item.added", fmt.Sprintf(`,"item":{"type":%q,"id":%q,"call_id":%q}`, item, item, item)))
		}
		id := "m1"
		switch kind {
		case "response.function_call_arguments.delta", "response.function_call_arguments.done":
			id = "function_call"
		case "response.mcp_call_arguments.delta":
			id = "mcp_call"
		case "response.code_interpreter_call_code.delta":
			id = "code_interpreter_call"
		case "response.custom_tool_call_input.delta":
			id = "custom_tool_call"
		}
		events := n.Push(modelEvent(kind, fmt.Sprintf(`,"item_id":%q,"delta":"{}","text":"x","refusal":"x","arguments":"{}","partial_image_b64":"AA","annotation":{},
			"item":{"type":"message","id":"m9","content":[{"type":"output_text","text":"x"}]},"response":{"id":"r1"},"message":"m"`, id)))
		isCarried := false
		for _, ev := range events {
			if x, ok := ev.Body.(*agjson.Ext); ok {
				isCarried = true
				if x.Name != "ext.openai.frame" {
					t.Errorf("%s becomes %s", kind, x.Name)
				}
			}
		}
		if isCarried != slices.Contains(carried, kind) {
			t.Errorf("%s: carried is %v", kind, isCarried)
		}
	}
	for _, kind := range outputItems {
		n := openai.New(host)
		n.Push(modelEvent("response.created", `,"response":{"id":"r0"}`))
		if kind == "tool_search_output" || kind == "local_shell_call_output" {
			n.Push(modelEvent("response.output_item.done", `,"item":{"type":"tool_search_call","id":"i1"}`))
		}
		events := n.Push(modelEvent("response.output_item.done", fmt.Sprintf(`,"item":{"type":%q,"id":"i1","call_id":"c1","name":"n","encrypted_content":"E",
			"content":[{"type":"output_text","text":"x"}],"output":"x","providerData":{"type":"alien"}}`, kind)))
		if len(events) == 0 || n.Stats().Unparsed > 0 {
			t.Errorf("item %s becomes %d events", kind, len(events))
		}
		for _, ev := range events {
			if x, ok := ev.Body.(*agjson.Ext); ok && x.Name == "ext.openai.frame" {
				t.Errorf("item %s is only carried", kind)
			}
		}
	}
}

// value is any JSON value, with the words and ids that the frames use.
func value(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](json.Number("1e400")), rapid.Just[any](json.Number("1")), rapid.Just[any](json.Number("-3")),
		rapid.SampledFrom([]any{"", "r1", "r2", "m1", "fc1", "c1", "c2", "{}", "{\"a\":1}", "x", "completed", "incomplete", "failed", "cancelled", "content_filter",
			"refusal", "output_text", "reasoning_text", "json_schema", "data:image/png;base64,AA", "\xed\xa0\xbd", "é😀"}),
		rapid.Map(rapid.SampledFrom(outputItems), func(s string) any { return s }),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(member(), value(depth-1), 0, 5), func(m map[string]any) any { return m }))
}

func member() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"type", "id", "call_id", "callId", "item_id", "itemId", "name", "arguments", "delta", "text", "refusal", "content", "summary",
		"rawContent", "encrypted_content", "providerData", "output", "outputs", "result", "results", "action", "actions", "operation", "status", "error", "phase",
		"annotations", "annotation", "url", "file_id", "start_index", "end_index", "index", "content_index", "summary_index", "logprobs", "usage", "input_tokens",
		"incomplete_details", "reason", "choices", "finish_reason", "reasoning", "tool_calls", "function", "agent", "targetAgent", "customData",
		"structuredContent", "executionStatus", "tools", "execution", "caller", "environment", "image", "file", "data", "stdout", "outcome", "exitCode", "response"})
}

// wild is a frame of a known kind with anything in it.
func wild(t *rapid.T) map[string]any {
	obj := func(depth int) map[string]any { return rapid.MapOfN(member(), value(depth), 0, 6).Draw(t, "object") }
	with := func(m map[string]any, pairs ...any) map[string]any {
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	item := func() map[string]any {
		return with(obj(2), "type", rapid.SampledFrom(outputItems).Draw(t, "item"), "id", rapid.SampledFrom([]string{"", "m1", "fc1", "x1"}).Draw(t, "id"),
			"call_id", rapid.SampledFrom([]string{"", "c1", "c2"}).Draw(t, "call"))
	}
	items := func() (list []any) {
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, item())
		}
		return list
	}
	data := func(m map[string]any) map[string]any {
		return map[string]any{"type": "raw_model_stream_event", "data": m}
	}
	id := rapid.SampledFrom([]string{"r1", "r2", "", "r1"}).Draw(t, "response")
	switch rapid.IntRange(0, 8).Draw(t, "frame") {
	case 0:
		return data(map[string]any{"type": "response_started", "providerData": with(obj(1), "id", id)})
	case 1:
		return data(with(obj(1), "type", "output_text_delta", "delta", "d", "itemId", "m1"))
	case 2:
		return data(map[string]any{"type": "response_done", "response": with(obj(1), "id", id, "output", items())})
	case 3:
		return map[string]any{"type": "run_item_stream_event", "name": rapid.SampledFrom(runItems).Draw(t, "name"), "item": with(obj(2), "rawItem", item())}
	case 4:
		return map[string]any{"type": "agent_updated_stream_event", "agent": map[string]any{"name": "A"}}
	case 5:
		return data(map[string]any{"type": "model", "event": map[string]any{"object": "chat.completion.chunk", "id": id, "choices": []any{map[string]any{"index": json.Number("0"), "delta": obj(3)}}}})
	default:
		return data(map[string]any{"type": "model", "event": with(obj(2), "type", rapid.SampledFrom(streamEvents).Draw(t, "event"), "item", item(),
			"item_id", rapid.SampledFrom([]string{"m1", "fc1", ""}).Draw(t, "item_id"), "response", with(obj(1), "id", id, "output", items()))})
	}
}

// TestWild: frames of known kinds in any order, with anything in them: the events are valid, keep the invariants of SPEC §5.0 and fold,
// nothing throws, and a second run says the same.
func TestWild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var frames []json.RawMessage
		for range rapid.IntRange(1, 14).Draw(t, "frames") {
			raw, err := json.Marshal(wild(t))
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, raw)
		}
		n := openai.New(host)
		events := agtest.Run(n, frames)
		if n.Stats().Panics > 0 {
			t.Fatal("a panic")
		}
		agtest.CheckStream(t, events)
		agtest.CheckFold(t, agtest.WithoutOrphans(events))
		if again := agtest.Run(openai.New(host), frames); string(agtest.NDJSON(again)) != string(agtest.NDJSON(events)) {
			t.Fatal("a second run differs")
		}
	})
}
