// Package openai maps the events of the OpenAI Agents SDK's streamed run, one JSON object each: what the model's stream says
// (raw_model_stream_event), what the runner makes of it (run_item_stream_event), and who speaks (agent_updated_stream_event).
//
//	n := openai.New(normalizer.Host{ThreadID: "t1", TurnID: "turn-7"})
//	for _, frame := range frames {
//		send(n.Push(frame))
//	}
//	send(n.Flush())
//
// Nearly everything comes twice or more often: in the SDK's own events and in the provider's, then whole at the end of the response, then
// as run items. It is said once, when it is first known: by the stream of the Responses API or the chunks of Chat Completions; where a
// host leaves those out, by the SDK's own events; where there are none, by run items. What comes again adds what was left out.
// The Python SDK's raw_response_event and raw_item are understood too.
//
// # What becomes of what
//
//   - A response of the model is a turn, and one message in it, `<turn>:msg_<response>` (SPEC §8 item 14). The first turn has the
//     host's name. Each has the usage of its response; nothing is a running total.
//   - Text and refusals are text blocks `<turn>:<item>:<part>`, a refusal marked by providerMetadata; their phase and log
//     probabilities are on text.end, with citations. Files that a text cites are sources of the turn.
//   - Reasoning is a block per summary and one per thoughts; the encrypted content of the whole item is its opaque part.
//   - A function call is a tool call by its call id. Built-in tools have the names and inputs of SPEC §8 item 20. Hosted tools are
//     providerExecuted, by the SDK's names, with input and result taken from the item; an MCP call says server and title.
//   - A handoff is a call with its result, and a handoff; the agent's next message names it. It nests no turn: SPEC §1.1 has those
//     for subagents. An agent used as a tool is a tool: its inner run is in no frame.
//   - An approval request is a hitl.ask `approval_<call>`. What a person or a guardrail has refused is `denied`, as far as the SDK
//     lets it be told: by its standing words, by a mark that executed calls have and this one lacks.
//   - A compaction is a block; items that the vocabulary does not know are provider-raw, since they are sent back.
//   - What an item of a message adds after its text has ended is ext.openai.late-citations or .late-phase; a message that the SDK
//     made up itself, and no model, is ext.openai.late-message. Unknown events of the provider's are ext.openai.frame.
//
// # How a run ends
//
// The SDK says it in no frame. A turn whose response is complete stays open for the results of its calls and for the host's word, and
// closes when the next response begins or the stream ends. At the end of the stream it is
//
//   - the error that the host reports as `__host_error__`: whatever the SDK threw, the turn is never said to be a success before.
//     A guardrail's tripwire is a guardrail.result as well. After a response that has failed by itself it is the same end;
//   - paused, with its asks, when an approval is wanted. One that an inner agent wants is in no frame; a host that hands on
//     result.interruptions as the run items they are, named tool_approval_requested, has that turn paused too;
//   - aborted when a response is not complete, or a call that the runner was to execute has no result;
//   - a success otherwise, with the structured output as its result where the response was to give one.
//
// # What it refuses to do
//
// It executes nothing, asks nobody, repairs no arguments (what is no JSON leaves as ext.openai.unparsed), and counts nothing together.
package openai
