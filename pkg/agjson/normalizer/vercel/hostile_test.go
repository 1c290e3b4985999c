package vercel_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer/vercel"
)

// kinds are all types that the SDK's declarations have, of both streams, and some that they do not.
var kinds = []string{
	"start", "start-step", "finish-step", "reset-step", "finish", "abort", "error", "ping", "raw",
	"text-start", "text-delta", "text-end", "reasoning-start", "reasoning-delta", "reasoning-end",
	"tool-input-start", "tool-input-delta", "tool-input-end", "tool-input-available", "tool-input-error", "tool-call",
	"tool-output-available", "tool-output-error", "tool-output-denied", "tool-result", "tool-error",
	"tool-approval-request", "tool-approval-response", "source", "source-url", "source-document", "file", "reasoning-file",
	"data-x", "data-", "custom", "steering-message", "message-metadata", "__host_error__", "", "alien",
}

// value is any JSON value, with the words and ids that the frames use.
func value(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](false), rapid.Just[any](json.Number("1e400")), rapid.Just[any](json.Number("-3")),
		rapid.SampledFrom([]any{"", "0", "t1", "c1", "c2", "T:m1", "m1", "stop", "error", "other", "tool-calls", "length", "interrupted",
			"data:image/png;base64,AAAA", "image/png", "streaming", "done", "input-available", "output-available", "assistant", "\x00", "é😀"}),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(member(), value(depth-1), 0, 4), func(m map[string]any) any { return m }))
}

func member() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"type", "id", "toolCallId", "toolName", "input", "output", "delta", "text", "inputTextDelta", "errorText", "error",
		"message", "messageId", "messageMetadata", "providerMetadata", "openai", "itemId", "signature", "reasoningEncryptedContent", "toolCall",
		"approvalId", "approved", "isAutomatic", "preliminary", "finishReason", "usage", "totalUsage", "inputTokens", "response", "data", "transient",
		"sourceId", "url", "mediaType", "file", "base64Data", "parts", "content", "role", "state", "rawInput", "approval", "citations", "source",
		"startIndex", "endIndex", "title", "toolMetadata", "dynamic", "kind", "code", "reason", "warnings", "_meta", "seq", "turnId"})
}

// hostile makes one stream: a recorded one, mutated, or one of whole cloth.
func hostile(all []stream) *rapid.Generator[[]json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) []json.RawMessage {
		var frames []any
		for _, raw := range rapid.SampledFrom(all).Draw(t, "stream").frames {
			if len(frames) == 60 {
				break
			}
			frames = append(frames, agtest.Decode(raw))
		}
		for range rapid.IntRange(0, 12).Draw(t, "mutations") {
			frames = mutate(t, frames)
		}
		out := make([]json.RawMessage, len(frames))
		for i, f := range frames {
			raw, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 60).Draw(t, "cut") == 0 {
				raw = raw[:rapid.IntRange(0, len(raw)).Draw(t, "at")]
			}
			out[i] = raw
		}
		return out
	})
}

func mutate(t *rapid.T, frames []any) []any {
	if len(frames) == 0 {
		return append(frames, value(2).Draw(t, "value"))
	}
	i := rapid.IntRange(0, len(frames)-1).Draw(t, "frame")
	j := rapid.IntRange(0, len(frames)-1).Draw(t, "other")
	o, isObject := agtest.Clone(frames[i]).(agtest.Object)
	switch rapid.IntRange(0, 9).Draw(t, "mutation") {
	case 0:
		return slices.Delete(slices.Clone(frames), i, i+1)
	case 1:
		return slices.Insert(slices.Clone(frames), j, frames[i])
	case 2:
		frames[i], frames[j] = frames[j], frames[i]
		return frames
	case 3:
		return frames[:i]
	case 4:
		return slices.Insert(slices.Clone(frames), i, value(3).Draw(t, "alien"))
	case 5, 6:
		if isObject {
			o["type"] = rapid.SampledFrom(kinds).Draw(t, "type")
			frames[i] = o
		}
	case 7:
		for k := range o {
			delete(o, k)
			frames[i] = o
			break
		}
	default:
		if isObject {
			o[member().Draw(t, "member")] = value(2).Draw(t, "value")
			frames[i] = o
		}
	}
	return frames
}

// TestHostile: whatever comes, the events are valid, keep the invariants, and close what they open (SPEC §8.0 graceful
// degradation; §5 INV-TURN, INV-MSG, INV-BLOCK, INV-SEQ, INV-OWNER, INV-FLUSH); and the mapper did not panic.
func TestHostile(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		frames := hostile(all).Draw(t, "frames")
		n := vercel.New(host)
		events := agtest.Run(n, frames)
		if st := n.Stats(); st.Panics > 0 {
			t.Fatalf("%+v", st)
		}
		agtest.CheckStream(t, events)
		if again := agtest.Run(vercel.New(host), frames); !bytes.Equal(agtest.NDJSON(events), agtest.NDJSON(again)) {
			t.Fatal("a second run differs")
		}
	})
}

func FuzzPush(f *testing.F) {
	for _, k := range kinds {
		f.Add([]byte(`{"type":"start-step"}`), []byte(`{"type":"`+k+`","id":"0","toolCallId":"c1","toolName":"f","input":{},"delta":"x"}`))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		n := vercel.New(host)
		var events []agjson.Event
		for _, frame := range [][]byte{a, b, b, a} {
			events = append(events, n.Push(frame)...)
		}
		events = append(events, n.Flush()...)
		if n.Stats().Panics > 0 {
			t.Fatal("the mapper panicked")
		}
		agtest.CheckStream(t, events)
	})
}
