package adk_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer/adk"
)

// pick draws one of the words, or nothing, in which case the member is left out.
func pick(t *rapid.T, o agtest.Object, name string, words ...any) {
	if i := rapid.IntRange(0, 2*len(words)).Draw(t, name); i < len(words) {
		o[name] = words[i]
	}
}

func anyPart(t *rapid.T) agtest.Object {
	p := agtest.Object{}
	switch rapid.IntRange(0, 7).Draw(t, "part") {
	case 0, 1, 2:
		p["text"] = rapid.SampledFrom([]string{"a", "ab", "b", "", "\U0001f600"}).Draw(t, "text")
		pick(t, p, "thought", true, false)
	case 3, 4:
		c := agtest.Object{}
		pick(t, c, "id", "c1", "c2", "c3", "c1", "c2")
		pick(t, c, "name", "f", "g", "f", "adk_request_input", "adk_request_confirmation", "adk_request_credential")
		pick(t, c, "args", agtest.Object{}, agtest.Object{"x": 1}, agtest.Object{"originalFunctionCall": agtest.Object{"id": "c1"}, "toolConfirmation": agtest.Object{"hint": "h"}},
			agtest.Object{"function_call_id": "c2", "auth_config": agtest.Object{"authScheme": agtest.Object{"type": "oauth2"}}})
		pick(t, c, "willContinue", true)
		pick(t, c, "partialArgs", []any{agtest.Object{"jsonPath": "$.x"}})
		p["functionCall"] = c
	case 5:
		r := agtest.Object{}
		pick(t, r, "id", "c1", "c2", "c3", "c4")
		pick(t, r, "name", "f", "g", "adk_request_confirmation")
		pick(t, r, "response", agtest.Object{"result": "r"}, agtest.Object{"error": "This tool call is rejected."}, agtest.Object{"content": []any{agtest.Object{"type": "text", "text": "t"}}})
		pick(t, r, "willContinue", true)
		p["functionResponse"] = r
	case 6:
		p["inlineData"] = agtest.Object{"mimeType": "image/png", "data": "AAAA"}
	default:
		p["codeExecutionResult"] = agtest.Object{"outcome": "OUTCOME_OK", "output": "1"}
	}
	pick(t, p, "thoughtSignature", "S")
	pick(t, p, "partMetadata", agtest.Object{"k": "v"})
	return p
}

func anyEvent(t *rapid.T) agtest.Object {
	e := agtest.Object{"invocationId": rapid.SampledFrom([]string{"i", "i", "i", "i", "j"}).Draw(t, "invocation")}
	pick(t, e, "author", "a", "a", "b", "user")
	pick(t, e, "branch", "p.x", "p.y", "p.x.z")
	pick(t, e, "partial", true, true, true, false, false)
	pick(t, e, "finishReason", "STOP", "STOP", "MAX_TOKENS", "NEW")
	if rapid.IntRange(0, 4).Draw(t, "content") > 0 {
		e["content"] = agtest.Object{"parts": rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return anyPart(t) }), 0, 3).Draw(t, "parts")}
	}
	if rapid.IntRange(0, 3).Draw(t, "rare") == 0 {
		pick(t, e, "turnComplete", true)
		pick(t, e, "interrupted", true)
		pick(t, e, "errorCode", "500", "SAFETY", "MAX_TOKENS")
		pick(t, e, "longRunningToolIds", []any{"c1"}, []any{"c2", "c3"})
		pick(t, e, "inputTranscription", agtest.Object{"text": "h"}, agtest.Object{"text": "hi", "finished": true})
		pick(t, e, "outputTranscription", agtest.Object{"text": "o"}, agtest.Object{"text": "ok", "finished": true})
		pick(t, e, "usageMetadata", agtest.Object{"promptTokenCount": 1}, agtest.Object{"promptTokenCount": 2})
		pick(t, e, "groundingMetadata", agtest.Object{"groundingChunks": []any{agtest.Object{"web": agtest.Object{"uri": "u"}}},
			"groundingSupports": []any{agtest.Object{"segment": agtest.Object{"endIndex": 1}, "groundingChunkIndices": []any{0}}}})
		a := agtest.Object{}
		pick(t, a, "stateDelta", agtest.Object{}, agtest.Object{"k": 1})
		pick(t, a, "transferToAgent", "b")
		pick(t, a, "requestedAuthConfigs", agtest.Object{"c1": agtest.Object{"authScheme": agtest.Object{"type": "http"}}})
		pick(t, a, "requestedToolConfirmations", agtest.Object{"c2": agtest.Object{"hint": "h"}})
		e["actions"] = a
		pick(t, e, "modelVersion", "m")
		pick(t, e, "goAway", agtest.Object{"timeLeft": "1s"})
	}
	return e
}

// TestScripted: events that the SDK could say, in any order, keep the invariants and fold, and no event is refused for what
// the mapper itself made of it.
func TestScripted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var frames []json.RawMessage
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			raw, err := json.Marshal(anyEvent(t))
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, raw)
		}
		n := adk.New(host)
		events := agtest.Run(n, frames)
		agtest.CheckStream(t, events)
		agtest.CheckFold(t, events)
		if st := n.Stats(); st.Panics+st.Refused > 0 {
			t.Errorf("%+v\n%s", st, agtest.NDJSON(events))
		}
	})
}
