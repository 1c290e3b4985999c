package reducer_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// blockStream is how a block of one kind comes: the first of its events creates it.
type blockStream struct {
	kind   string
	events []string // without seq
	want   string
}

// blockStreams has every block kind: streamed where the protocol streams it, else whole.
func blockStreams() []blockStream {
	out := []blockStream{
		{"text", []string{
			`"type":"text.start","id":"x","turnId":"t","providerMetadata":{"a":1}`, `"type":"text.delta","id":"x","delta":"he"`,
			`"type":"text.delta","id":"x","delta":"llo","providerMetadata":{"a":2,"b":1.0}`, `"type":"text.end","id":"x","citations":[{"kind":"url","citedText":"c","url":"u"}]`,
		}, `{"type":"text","text":"hello","citations":[{"kind":"url","citedText":"c","url":"u"}],"providerMetadata":{"a":2,"b":1.0}}`},
		{"reasoning", []string{
			`"type":"reasoning.start","id":"r","turnId":"t","itemId":"rs_1"`, `"type":"reasoning.delta","id":"r","delta":"h"`, `"type":"reasoning.delta","id":"r","delta":"m"`,
			`"type":"reasoning.opaque.delta","id":"r","delta":"si"`, `"type":"reasoning.opaque","id":"r","kind":"signature","value":"sig"`, `"type":"reasoning.end","id":"r"`,
		}, `{"type":"reasoning","text":"hm","opaque":{"kind":"signature","value":"sig"},"itemId":"rs_1"}`},
		{"tool-call", []string{
			`"type":"tool.start","toolCallId":"c","turnId":"t","name":"f"`, `"type":"tool.args.delta","toolCallId":"c","delta":"{\"n\":"`,
			`"type":"tool.args.delta","toolCallId":"c","delta":"1}"`, `"type":"tool.args.assembled","toolCallId":"c","input":{"n":1}`,
		}, `{"type":"tool-call","toolCallId":"c","name":"f","input":{"n":1}}`},
		{"tool-result", []string{
			`"type":"tool.done","toolCallId":"of-another","turnId":"t","content":[],"more":true`,
			`"type":"tool.done","toolCallId":"of-another","turnId":"t","content":[{"type":"text","text":"42"}],"outcome":"ok"`,
		}, `{"type":"tool-result","toolCallId":"of-another","content":[{"type":"text","text":"42"}],"outcome":"ok"}`},
		{"data", []string{
			`"type":"content.block","turnId":"t","block":{"type":"data","name":"n","id":"d","data":1}`,
			`"type":"content.block","turnId":"t","block":{"type":"data","name":"n","id":"d","data":1e400}`,
		}, `{"type":"data","name":"n","id":"d","data":1e400}`},
	}
	for _, block := range []string{
		`{"type":"image","source":{"type":"base64","mediaType":"image/png","data":"aGk="}}`,
		`{"type":"audio","source":{"type":"url","url":"https://example.org/a.mp3"}}`,
		`{"type":"file","source":{"type":"file","fileId":"f","mediaType":"video/mp4"},"filename":"a.mp4"}`,
		`{"type":"document","source":{"type":"file","fileId":"f"},"title":"t"}`,
		`{"type":"resource","resource":{"uri":"ui://w/1","text":"<p>"}}`,
		`{"type":"resource-link","uri":"file:///a"}`,
		`{"type":"code","language":"python","code":"6*7"}`,
		`{"type":"code-result","outcome":"ok","output":"42\n"}`,
		`{"type":"compaction","text":"so far","opaque":{"kind":"encrypted","value":"e=="}}`,
		`{"type":"search-result","url":"u","opaque":{"kind":"ciphertext","value":"e=="}}`,
		`{"type":"provider-raw","vendor":"acme","raw":{"b":1,"a":-0.0,"a":2}}`,
	} {
		b, err := agjson.DecodeBlock([]byte(block))
		if err != nil {
			panic(err)
		}
		out = append(out, blockStream{b.Type(), []string{`"type":"content.block","turnId":"t","block":` + block}, block})
	}
	return out
}

// SPEC §10.1, §5 block insertion order: blocks of every kind, their events interleaved however they may be, fold to what
// each says, in the order in which they were created.
func TestEveryBlockKind(t *testing.T) {
	all := blockStreams()
	for _, kind := range agjson.BlockTypes() {
		if !slices.ContainsFunc(all, func(b blockStream) bool { return b.kind == kind }) {
			t.Errorf("block kind %s is not tested", kind)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{`"type":"turn.start","turnId":"t","threadId":"th"`, `"type":"message.start","id":"m","turnId":"t","role":"assistant","threadId":"th"`}
		left, want := blockStreams(), ""
		for len(left) > 0 {
			i := rapid.IntRange(0, len(left)-1).Draw(t, "block")
			b := &left[i]
			lines = append(lines, b.events[0])
			if b.want != "" {
				want += "," + b.want
				b.want = ""
			}
			if b.events = b.events[1:]; len(b.events) == 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
		r := reducer.New()
		var events []agjson.Event
		for i, line := range lines {
			data := fmt.Appendf(nil, `{%s,"seq":%d}`, line, i)
			ev, err := agjson.Decode(data)
			if err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			events = append(events, ev)
			if err := r.PushLine(data); err != nil {
				t.Fatal(err)
			}
		}
		if r.Parked() != "" {
			t.Fatalf("parks: %s\n%s", r.Parked(), describe(events))
		}
		result := fmt.Appendf(nil, `{"messages":[{"id":"m","role":"assistant","content":[%s],"turnId":"t","threadId":"th"}],"artifacts":[],"memory":[],"turns":[{"turnId":"t","threadId":"th"}]}`, want[1:])
		equal(t, "from bytes", resultText(r.Result(), false), result, events)
		equal(t, "the batch", resultText(reducer.Fold(events).Result(), false), result, events)
		equal(t, "the plain reducer", resultText(naiveFold(events).fold(), false), result, events)
	})
}

// SPEC §10.2: a reader that missed events parks at the gap; the snapshot and what follows give it the fold of the whole,
// whatever the gap spans and wherever in a message it lies.
func TestGapIsHealedByASnapshot(t *testing.T) {
	gaps := 0
	for _, s := range streams(t) {
		whole := reducer.Fold(s.events)
		if whole.Parked() != "" {
			continue
		}
		want := resultText(whole.Result(), true)
		for at := 0; at < len(s.events)-1; at++ {
			next := at + 1 + at*7919%11 // from a gap of one event to one of eleven
			if next >= len(s.events) || s.events[next].Seq <= s.events[at].Seq+1 {
				continue
			}
			r := reducer.Fold(s.events[:at+1])
			before := resultText(r.Result(), false)
			r.Push(s.events[next])
			switch s.events[next].Body.(type) {
			case *agjson.MessagesSnapshot, *agjson.StateSnapshot:
			default:
				if r.Parked() == "" {
					t.Fatalf("%s: a gap after %d does not park", s.name, at)
				}
				same(t, "while parked", resultText(r.Result(), false), before)
			}
			gaps++
			snap := reducer.Fold(s.events[:next+1]).Snapshot()
			for _, ev := range append(snap.Pair(), s.events[next+1:]...) {
				r.Push(ev)
			}
			if r.Parked() != "" {
				t.Fatalf("%s, healed from %d to %d: parks %s", s.name, at, next, r.Parked())
			}
			same(t, fmt.Sprintf("%s, healed from %d to %d", s.name, at, next), resultText(r.Result(), true), want)
			if t.Failed() {
				return
			}
		}
	}
	if gaps < 50 {
		t.Errorf("only %d gaps were tried", gaps)
	}
	t.Logf("%d gaps", gaps)
}
