// Package adk maps the events of Google's Agent Development Kit: what runAsync of a Runner yields in its streaming modes (none,
// SSE, progressive SSE), what runLive yields, and what the API server's /run_sse sends.
//
//	n := adk.New(normalizer.Host{ThreadID: "t1", TurnID: "turn-7"})
//	for _, frame := range frames {
//		send(n.Push(frame))
//	}
//	send(n.Flush())
//
// # What maps to what
//
// An invocation is a turn; in a live session, so is what lies between two turnComplete. A branch, in which a parallel agent runs, is a
// nested turn, and ends when the run goes on without it. An agent's words are one message until another agent speaks.
//
//   - Partial events stream. A whole event that follows says the same once more, in another order, joined or cut otherwise, under
//     other call ids, without the signatures, and holds parts that were never partial; so each of its parts is held against
//     what was streamed, and only what is new is said (SPEC §8 item 3).
//   - A call that partial and whole events make under several ids is one call. Its id is the first, the others are found in its
//     providerMetadata. The SDK runs it once for each; the result of the first run is preliminary.
//   - A call without an id is named `<turnId>:call:<n>`, and results without one go to the calls of their name in turn (SPEC
//     §8 item 2).
//   - thoughtSignature goes byte for byte to the tool call's signature, to reasoning.opaque, or to the providerMetadata of text and
//     media (SPEC §8 item 8).
//   - requestedAuthConfigs, requestedToolConfirmations and the SDK's own calls adk_request_confirmation and adk_request_credential
//     are asks (SPEC §8 items 12 and 18). The answer goes back by the id in the ask's metadata, `adk/functionCallId`. What the tool
//     answers meanwhile only says that it waits, and is carried. An AuthConfig is shown as the SDK shows it, client secret included.
//   - A long-running call waits for a result from outside: an ask of kind form or text, and a preliminary result.
//   - Grounding is sources, citations at text.end and display.required. stateDelta is state.delta, transferToAgent and escalate are handoff.
//   - Transcriptions are texts marked `agjson/transcription`, those of the user in messages of the user.
//   - What has no word of its own is kept in the message as provider-raw, where it is new (SPEC §8 item 23).
//   - usageMetadata is cumulative within a model call and said again by events after it; the turn's usage is the sum of the calls.
//
// # How a turn ends
//
// There is no terminal: the iterator just ends. What was said last decides. A final response ends in success, or as an error where
// the model stopped at its token limit, for safety, or on a malformed call; an error event that nothing follows is turn.error;
// interrupted is turn.abort; asks without an answer make it paused. Anything else was cut, and is turn.abort stream-truncated.
// Until the end every event may be followed by another, so only turnComplete and interrupted end a turn at once.
//
// # What it refuses to do
//
// It does not put arguments together that came in fragments (partialArgs): the aggregate has them whole, and cut ones must not run.
// Left out, for they say nothing that the events do not: id and timestamp of an event, and the author where there is only one.
package adk
