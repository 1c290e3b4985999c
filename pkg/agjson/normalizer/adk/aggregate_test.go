package adk_test

import (
	"encoding/json"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// SPEC §10.9: what a partial:false aggregate says again folds to one block, and one call; an aggregate without partial
// events before it says all there is.
func TestAggregateIsNotSaidTwice(t *testing.T) {
	const (
		thought = `{"invocationId":"i","author":"a","content":{"role":"model","parts":[{"text":"h","thought":true}]},"partial":true}`
		one     = `{"invocationId":"i","author":"a","content":{"role":"model","parts":[{"text":"Hel"}]},"partial":true}`
		two     = `{"invocationId":"i","author":"a","content":{"role":"model","parts":[{"text":"lo"}]},"partial":true}`
		call    = `{"invocationId":"i","author":"a","content":{"role":"model","parts":[{"functionCall":{"id":"c","name":"f","args":{"n":1}}}]},"partial":true}`
		whole   = `{"invocationId":"i","author":"a","content":{"role":"model","parts":[{"text":"h","thought":true},{"text":"Hello"},{"functionCall":{"id":"c","name":"f","args":{"n":1}}}]},"partial":false,"finishReason":"STOP"}`
	)
	want := `[{"type":"reasoning","text":"h","provider":"google"},{"type":"text","text":"Hello"},{"type":"tool-call","toolCallId":"c","name":"f","input":{"n":1}}]`
	for name, frames := range map[string][]string{
		"streamed":        {thought, one, two, call, whole},
		"partly streamed": {thought, one, whole},
		"only aggregated": {whole},
	} {
		var raw []json.RawMessage
		for _, f := range frames {
			raw = append(raw, json.RawMessage(f))
		}
		r := reducer.Fold(run(raw))
		result := r.Result()
		if r.Parked() != "" || len(result.Messages) != 1 {
			t.Fatalf("%s: parks %q, %d messages", name, r.Parked(), len(result.Messages))
		}
		got := []byte{'['}
		for i, b := range result.Messages[0].Content {
			if i > 0 {
				got = append(got, ',')
			}
			got = agjson.AppendBlock(got, b)
		}
		if got = append(got, ']'); !agtest.Equal(agtest.Decode(got), agtest.Decode([]byte(want))) {
			t.Errorf("%s: folds to %s", name, got)
		}
	}
}
