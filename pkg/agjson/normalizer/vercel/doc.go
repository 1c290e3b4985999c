// Package vercel maps the Vercel AI SDK, versions 5 to 7: the UI message stream (toUIMessageStream, createUIMessageStream and
// their SSE), the parts of fullStream, and the whole UIMessages of readUIMessageStream. Which of them a frame belongs to shows
// in the frame, so one normalizer takes all three, mixed if need be:
//
//	n := vercel.New(normalizer.Host{ThreadID: "t1", TurnID: "turn-7"})
//	for _, frame := range frames {
//		send(n.Push(frame))
//	}
//	send(n.Flush())
//
// # What maps to what
//
// An invoke is a turn, a step is a step and a message of its own, `<turnId>:m<n>`. The ids of text and reasoning parts are unique
// only within a step (providers say "0" in each), so a block's id is `<message id>:<part id>`; tool-call ids stay. What stands
// outside of any step opens a message of its own.
//
//   - A data part with an id becomes the block `<turnId>:<name>:<id>`, its own id in `_meta`. Its message stays open until the
//     turn ends, since a later part of the same name and id replaces it there, as it does in the SDK.
//   - A tool's output is content in text and, when it is no string, structuredContent. Outputs of calls that an earlier
//     invoke made, with which a resumed stream begins, are adopted as `<toolCallId>:result`.
//   - An approval request is a hitl.ask; a turn that ends with one unanswered is paused. Automatic ones are settled by the SDK
//     itself and are carried.
//   - reset-step takes the step's message back (message.remove) and begins it anew. A retried stream retracts nothing in the
//     SDK, and so nothing here.
//   - A step's usage goes to its message, the total to the turn. The UI stream has usage only where the application puts it
//     into messageMetadata, which is kept as it is.
//   - Signatures, redacted and encrypted reasoning become reasoning.opaque; all other providerMetadata stays what it is.
//   - What the vocabulary has no word for is carried as ext.vercel.frame: raw chunks, automatic approvals, warnings, unknown
//     types. `custom` parts are kept in the message as provider-raw, since they are sent back to the provider.
//
// # How a turn ends
//
// `finish` ends it; its reason is honest: an error is turn.error, an interruption turn.abort, a run that its stop condition ended
// on tool calls is aborted, one that the token limit cut is an error. The SDK reports a model stream that just stopped as
// "other", with parts left open: that is turn.abort stream-truncated. An `error` is followed by a `finish` or by nothing; either
// way there is one terminal, with the error's message. What an application writes after the `finish` is a follow-on turn, one
// part by itself or another run.
//
// # What it refuses to do
//
// It executes nothing, asks nobody, and keeps nothing once the invoke has ended.
package vercel
