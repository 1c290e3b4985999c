package normalizer_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// facet says with its Engine whatever a test tells it to at each frame.
type facet struct {
	*normalizer.Engine
	onFrame func(e *normalizer.Engine, v agjson.Value)
}

func (f *facet) Frame(v agjson.Value) { f.onFrame(f.Engine, v) }
func (f *facet) End()                 {}

func newFacet(f func(e *normalizer.Engine, v agjson.Value)) *normalizer.Runner {
	return normalizer.Run(&facet{Engine: normalizer.NewEngine("acme", normalizer.Host{ThreadID: "th", TurnID: "t"}), onFrame: f})
}

func lines(t testing.TB, events []agjson.Event) string {
	t.Helper()
	var b bytes.Buffer
	for i := range events {
		raw := agjson.AppendEvent(nil, &events[i])
		if err := agjson.Check("AgEvent", agjson.Producer, raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.String()
}

func want(t testing.TB, got string, wanted ...string) {
	t.Helper()
	if w := strings.Join(wanted, "\n") + "\n"; got != w {
		t.Errorf("got\n%swant\n%s", got, w)
	}
}

// A delta that comes with nothing open gets all it needs, and what is open is closed at the end (SPEC §5 INV-TURN, INV-FLUSH).
func TestDeltaAloneOpensAllItNeeds(t *testing.T) {
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) { e.TextDelta("b", "m", v.Get("text").Str()) })
	got := lines(t, append(append(r.Push([]byte(`{"text":"a"}`)), r.Push([]byte(" \n"))...), r.Flush()...))
	want(t, got,
		`{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}`,
		`{"type":"message.start","seq":1,"id":"m","turnId":"t","role":"assistant","threadId":"th"}`,
		`{"type":"text.start","seq":2,"id":"b","turnId":"t","messageId":"m"}`,
		`{"type":"text.delta","seq":3,"id":"b","turnId":"t","messageId":"m","delta":"a"}`,
		`{"type":"message.end","seq":4,"id":"m","turnId":"t"}`,
		`{"type":"turn.abort","seq":5,"turnId":"t","reason":"stream-truncated"}`)
	if more := r.Flush(); more != nil {
		t.Errorf("a second flush yields %s", lines(t, more))
	}
}

// A facet's panic costs its frame and shows (SPEC §8.0 graceful degradation).
func TestPanicShows(t *testing.T) {
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) { panic("mine") })
	want(t, lines(t, r.Push([]byte("{\n \"type\": \"x\"\n}"))), `{"type":"ext.acme.unparsed","seq":0,"native":{"type":"x"},"reason":"panic"}`)
	if s := r.Stats(); s.Panics != 1 || s.Unparsed != 1 || s.Events != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestWhatIsNoFrame(t *testing.T) {
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) { t.Error("the facet was asked") })
	var got []agjson.Event
	for _, in := range []string{"", "42", "{", "\xff", strings.Repeat("[", 990) + strings.Repeat("]", 990)} {
		got = append(got, r.Push([]byte(in))...)
	}
	got = append(got, r.Flush()...)
	got = append(got, r.Push([]byte(`{}`))...)
	want(t, lines(t, got),
		`{"type":"ext.acme.unparsed","seq":0,"native":42}`,
		`{"type":"ext.acme.unparsed","seq":1,"native":"{","reason":"not-json"}`,
		`{"type":"ext.acme.unparsed","seq":2,"native":{"base64":"/w=="},"reason":"not-json"}`,
		`{"type":"ext.acme.unparsed","seq":3,"native":"`+strings.Repeat("[", 990)+strings.Repeat("]", 990)+`","reason":"not-json"}`,
		`{"type":"ext.acme.unparsed","seq":4,"native":{},"reason":"after-flush"}`)
}

// The input may change after Push: nothing emitted aliases it.
func TestPushRetainsNothing(t *testing.T) {
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) { e.Carry("k", v) })
	in := []byte(`{"type":"x","big":9007199254740993}`)
	events := r.Push(in)
	for i := range in {
		in[i] = 'z'
	}
	want(t, lines(t, events), `{"type":"ext.acme.frame","seq":0,"kind":"k","frame":{"type":"x","big":9007199254740993}}`)
}

// What the host reports ends the turn once; after the framework's own end it is carried (SPEC §8.0 host obligation 1).
func TestHostError(t *testing.T) {
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) {
		e.SubagentStart("sub", &agjson.SubagentStart{ParentTurnID: e.OpenTurn("", nil)})
	})
	host := []byte(`{"type":"__host_error__","code":"max_turns","message":"too many","usage":{"inputTokens":3,"cumulative":true}}`)
	got := append(r.Push([]byte(`{}`)), r.Push(host)...)
	got = append(append(got, r.Push(host)...), r.Flush()...)
	want(t, lines(t, got),
		`{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}`,
		`{"type":"subagent.start","seq":1,"turnId":"sub","parentTurnId":"t"}`,
		`{"type":"turn.abort","seq":2,"turnId":"sub","reason":"parent-ended"}`,
		`{"type":"subagent.done","seq":3,"turnId":"sub","parentTurnId":"t"}`,
		`{"type":"turn.error","seq":4,"turnId":"t","message":"too many","code":"max_turns","usage":{"inputTokens":3,"cumulative":true}}`,
		`{"type":"ext.acme.host-error","seq":5,"turnId":"t","code":"max_turns","message":"too many","usage":{"inputTokens":3,"cumulative":true}}`)
}

// After a turn's end content opens a follow-on turn, a second terminal and a record are refused, visibly.
func TestAfterTheEnd(t *testing.T) {
	step := 0
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) {
		switch step++; step {
		case 1:
			e.TextDelta("b", "m", "a")
			e.CloseTurn("", &agjson.TurnAbort{})
			e.CloseTurn("", &agjson.TurnAbort{})
			e.Emit(agjson.Event{Body: &agjson.Handoff{}})
			e.TextDelta("b", "m", "late")
			e.ToolStart("", &agjson.ToolStart{ToolCallID: "c", Name: "n"})
			e.ToolStart("", &agjson.ToolStart{ToolCallID: "c", Name: "n"})
			e.ToolArgsDelta("d", "{")
			e.TextEnd("none", "", nil)
		}
	})
	got := append(r.Push([]byte(`{}`)), r.Flush()...)
	want(t, lines(t, got),
		`{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}`,
		`{"type":"message.start","seq":1,"id":"m","turnId":"t","role":"assistant","threadId":"th"}`,
		`{"type":"text.start","seq":2,"id":"b","turnId":"t","messageId":"m"}`,
		`{"type":"text.delta","seq":3,"id":"b","turnId":"t","messageId":"m","delta":"a"}`,
		`{"type":"message.end","seq":4,"id":"m","turnId":"t"}`,
		`{"type":"turn.abort","seq":5,"turnId":"t"}`,
		`{"type":"ext.acme.refused","seq":6,"turnId":"t","reason":"closed-turn","event":{"type":"turn.abort","seq":0}}`,
		`{"type":"ext.acme.refused","seq":7,"turnId":"t","reason":"closed-turn","event":{"type":"handoff","seq":0}}`,
		`{"type":"turn.start","seq":8,"turnId":"t:turn:2","threadId":"th"}`,
		`{"type":"message.start","seq":9,"id":"m~2","turnId":"t:turn:2","role":"assistant","threadId":"th"}`,
		`{"type":"text.start","seq":10,"id":"b~2","turnId":"t:turn:2","messageId":"m~2"}`,
		`{"type":"text.delta","seq":11,"id":"b~2","turnId":"t:turn:2","messageId":"m~2","delta":"late"}`,
		`{"type":"tool.start","seq":12,"turnId":"t:turn:2","toolCallId":"c","name":"n"}`,
		`{"type":"ext.acme.refused","seq":13,"turnId":"t:turn:2","reason":"repeated-tool-call","event":{"type":"tool.start","seq":0,"toolCallId":"c","name":"n"}}`,
		`{"type":"ext.acme.refused","seq":14,"turnId":"t:turn:2","reason":"no-such-tool-call","event":{"type":"tool.args.delta","seq":0,"toolCallId":"d","delta":"{"}}`,
		`{"type":"ext.acme.refused","seq":15,"turnId":"t:turn:2","reason":"no-open-block","event":{"type":"text.end","seq":0,"id":"none"}}`,
		`{"type":"message.end","seq":16,"id":"m~2","turnId":"t:turn:2"}`,
		`{"type":"turn.abort","seq":17,"turnId":"t:turn:2","reason":"stream-truncated"}`)
}

// Equal totals add nothing, longer ones their rest; a total that takes text back is not told (SPEC §5 INV-DELTA).
func TestSoFar(t *testing.T) {
	var oks []bool
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) { oks = append(oks, e.TextSoFar("b", "m", v.Get("t").Str())) })
	var text strings.Builder
	for _, in := range []string{`{"t":"Hel"}`, `{"t":"Hello"}`, `{"t":"Help"}`, `{"t":"Hello!"}`} {
		for _, ev := range r.Push([]byte(in)) {
			if d, ok := ev.Body.(*agjson.TextDelta); ok {
				text.WriteString(d.Delta)
			}
		}
	}
	if text.String() != "Hello!" || len(oks) != 4 || oks[2] || !oks[3] {
		t.Errorf("%q %v", text.String(), oks)
	}
}

// What is transient folds to nothing and needs no message (SPEC §5 content.block).
func TestTransientBlockOpensNothing(t *testing.T) {
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) {
		e.OpenTurn("", nil)
		e.Emit(agjson.Event{Body: &agjson.ContentBlock{Transient: new(true), Block: &agjson.DataBlock{Name: "p", Data: []byte("1")}}})
		e.CloseTurn("", &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: "stop"})
	})
	want(t, lines(t, append(r.Push([]byte(`{}`)), r.Flush()...)),
		`{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}`,
		`{"type":"content.block","seq":1,"turnId":"t","block":{"type":"data","name":"p","data":1},"transient":true}`,
		`{"type":"turn.done","seq":2,"turnId":"t","outcome":{"type":"success"},"finishReason":"stop"}`)
}

// A result is final once; a call of a removed message may be made again (SPEC §5 tool.done, message.remove).
func TestFinalResultAndRemovedCall(t *testing.T) {
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) {
		m := e.OpenMessage("", "m", &agjson.MessageStart{Role: "assistant"})
		e.ToolStart(m, &agjson.ToolStart{ToolCallID: "c", Name: "f"})
		for range 2 {
			e.ToolDone("", "", &agjson.ToolDone{ToolCallID: "c", Content: []agjson.Block{}})
		}
		e.RemoveMessage(m)
		e.ToolStart(e.OpenMessage("", "m2", &agjson.MessageStart{Role: "assistant"}), &agjson.ToolStart{ToolCallID: "c", Name: "f"})
	})
	got := lines(t, append(r.Push([]byte(`{}`)), r.Flush()...))
	if strings.Count(got, `"type":"tool.start"`) != 2 || strings.Count(got, `{"type":"tool.done","seq":3`) != 1 || !strings.Contains(got, `"reason":"final-result"`) {
		t.Errorf("got\n%s", got)
	}
}

// New blocks go to the message that was opened last (SPEC §5 message partitioning): one for an older message continues it, and both
// are sealed. A data part replaces in place, wherever it stands.
func TestBlocksGoToTheMessageOpenedLast(t *testing.T) {
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) {
		a := e.OpenMessage("", "a", &agjson.MessageStart{Role: "assistant"})
		e.ContentBlock(a, &agjson.DataBlock{Name: "d", ID: new("x"), Data: []byte("1")})
		e.OpenMessage("", "b", &agjson.MessageStart{Role: "assistant"})
		e.ContentBlock(a, &agjson.DataBlock{Name: "d", ID: new("x"), Data: []byte("2")})
		e.TextDelta("t", a, "more")
		e.CloseMessage(a, nil)
	})
	want(t, lines(t, append(r.Push([]byte(`{}`)), r.Flush()...)),
		`{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}`,
		`{"type":"message.start","seq":1,"id":"a","turnId":"t","role":"assistant","threadId":"th"}`,
		`{"type":"content.block","seq":2,"turnId":"t","messageId":"a","block":{"type":"data","name":"d","id":"x","data":1}}`,
		`{"type":"message.start","seq":3,"id":"b","turnId":"t","role":"assistant","threadId":"th"}`,
		`{"type":"content.block","seq":4,"turnId":"t","messageId":"a","block":{"type":"data","name":"d","id":"x","data":2}}`,
		`{"type":"message.start","seq":5,"id":"a~2","turnId":"t","role":"assistant","threadId":"th"}`,
		`{"type":"text.start","seq":6,"id":"t","turnId":"t","messageId":"a~2"}`,
		`{"type":"text.delta","seq":7,"id":"t","turnId":"t","messageId":"a~2","delta":"more"}`,
		`{"type":"message.end","seq":8,"id":"a","turnId":"t"}`,
		`{"type":"message.end","seq":9,"id":"a~2","turnId":"t"}`,
		`{"type":"message.end","seq":10,"id":"b","turnId":"t"}`,
		`{"type":"turn.abort","seq":11,"turnId":"t","reason":"stream-truncated"}`)
}

// A nested turn ends with the one around it, unless it was detached; then only the end of the stream ends it.
func TestNestedTurnsAtTheEnd(t *testing.T) {
	r := newFacet(func(e *normalizer.Engine, v agjson.Value) {
		root := e.OpenTurn("", nil)
		e.SubagentStart("in", &agjson.SubagentStart{ParentTurnID: root})
		e.SubagentStart("apart", &agjson.SubagentStart{ParentTurnID: root})
		e.Detach("apart")
		e.CloseTurn(root, &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: "stop"})
	})
	want(t, lines(t, append(r.Push([]byte(`{}`)), r.Flush()...)),
		`{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}`,
		`{"type":"subagent.start","seq":1,"turnId":"in","parentTurnId":"t"}`,
		`{"type":"subagent.start","seq":2,"turnId":"apart","parentTurnId":"t"}`,
		`{"type":"turn.done","seq":3,"turnId":"in","outcome":{"type":"success"},"finishReason":"stop"}`,
		`{"type":"subagent.done","seq":4,"turnId":"in","parentTurnId":"t"}`,
		`{"type":"turn.done","seq":5,"turnId":"t","outcome":{"type":"success"},"finishReason":"stop"}`,
		`{"type":"turn.abort","seq":6,"turnId":"apart","reason":"stream-truncated"}`)
}
