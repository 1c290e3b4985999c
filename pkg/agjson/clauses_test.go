package agjson_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// roundTrip holds a codec to its word: each line is accepted by a producer's check and leaves as it came.
func roundTrip(t *testing.T, schema, values string) {
	t.Helper()
	for _, v := range strings.Split(strings.TrimSpace(values), "\n") {
		if err := agjson.Check(schema, agjson.Producer, []byte(v)); err != nil {
			t.Errorf("%s: %v", v, err)
		}
		if out, err := agjson.Reencode(schema, []byte(v)); err != nil || string(out) != v {
			t.Errorf("%s\nbecame\n%s, %v", v, out, err)
		}
	}
}

// SPEC §10.3, SPEC §2.1: the four channels of a result stay apart, each under its own name, null told from absent.
func TestToolResultChannels(t *testing.T) {
	const all = `{"type":"tool.done","seq":0,"toolCallId":"c","content":[{"type":"text","text":"model"}],"outcome":"ok","structuredContent":{"for":"model"},"uiData":{"for":"view"},"sideData":{"for":"app"}}`
	roundTrip(t, "AgEvent", all)
	ev, err := agjson.Decode([]byte(all))
	if err != nil {
		t.Fatal(err)
	}
	b := ev.Body.(*agjson.ToolDone)
	if string(b.StructuredContent) != `{"for":"model"}` || string(b.UIData) != `{"for":"view"}` || string(b.SideData) != `{"for":"app"}` {
		t.Errorf("channels are %s, %s, %s", b.StructuredContent, b.UIData, b.SideData)
	}
	ev, err = agjson.Decode([]byte(`{"type":"tool.done","seq":0,"toolCallId":"c","content":[],"uiData":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if b := ev.Body.(*agjson.ToolDone); string(b.UIData) != "null" || b.SideData != nil || b.StructuredContent != nil {
		t.Errorf("null and absent are %q, %q, %q", b.UIData, b.SideData, b.StructuredContent)
	}
}

// SPEC §10.5, SPEC §2 AgSource: MCP's base64, and the url and file of others, are one union that loses none.
func TestSourceRoundTrips(t *testing.T) {
	roundTrip(t, "AgBlock", `
{"type":"image","source":{"type":"base64","mediaType":"image/png","data":"aGVsbG8="}}
{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}
{"type":"audio","source":{"type":"url","url":"https://example.org/a.mp3","mediaType":"audio/mpeg"}}
{"type":"file","source":{"type":"file","fileId":"file_9","mediaType":"video/mp4"},"filename":"a.mp4"}
{"type":"document","source":{"type":"file","fileId":"file_9"},"title":"a"}`)
}

// SPEC §10.14, SPEC §3 AgSurfaceInteraction: each surface arm keeps its own names, and the A2UI error is of exactly one of its
// two kinds. The arms pass as a resume carries them, the surface's data model as a message does.
func TestSurfaceInteractionsPerArm(t *testing.T) {
	roundTrip(t, "AgSurfaceInteraction", `
{"surface":"a2ui","a2uiMessage":"function-response","surfaceId":"s","functionCallId":"f","call":"sum","value":3}
{"surface":"a2ui","a2uiMessage":"action","surfaceId":"s","name":"pick","sourceComponentId":"b","timestamp":"2026-07-02T00:00:00Z","context":{"n":1e400},"wantResponse":true,"actionId":"a"}
{"surface":"a2ui","a2uiMessage":"error","surfaceId":"s","code":"E","message":"m"}
{"surface":"a2ui","a2uiMessage":"error","functionCallId":"f","code":"VALIDATION_FAILED","message":"m","path":"/x"}
{"surface":"mcp-app","method":"ui/update-model-context","surfaceId":"s","params":{"content":[{"type":"text","text":"t"}],"structuredContent":null}}
{"surface":"openai-app","method":"callTool","surfaceId":"s","name":"n","args":{},"callId":"c"}`)
	roundTrip(t, "AgEvent", `
{"type":"ui.call","seq":0,"surfaceId":"s","callId":"f","method":"sum","args":{"z":1.0,"a":1e400},"wantResponse":true,"callableFrom":"clientOnly"}
{"type":"ui.result","seq":0,"surfaceId":"s","callId":"f","method":"sum","value":3}
{"type":"ui.action-result","seq":0,"surfaceId":"s","actionId":"a","value":null}
{"type":"ui.result","seq":0,"surfaceId":"s","callId":"f","method":"sum","error":{"code":"VALIDATION_FAILED","message":"m","path":"/x"}}
{"type":"ui.action-result","seq":0,"surfaceId":"s","actionId":"a","error":{"code":"VALIDATION_FAILED","message":"m","path":"/x"}}
{"type":"ui.widget.result","seq":0,"surfaceId":"s","callId":"c","result":"{}"}`)
	roundTrip(t, "AgInput", `{"kind":"resume","protocol":"agjson","version":"1.0.0-draft.1","threadId":"th","turnId":"t","uiActions":[{"surface":"a2ui","a2uiMessage":"function-response","surfaceId":"s","functionCallId":"f","call":"sum","value":1.50},{"surface":"openai-app","method":"callTool","surfaceId":"s","name":"n","args":{},"callId":"c"}]}`)
	const model = `{"a2uiClientDataModel":{"s":{"n":9007199254740993}}}`
	roundTrip(t, "AgMessage", `{"id":"m","role":"user","content":[],"messageMetadata":`+model+`}`)
	result := folded(t, `{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}
{"type":"message.start","seq":1,"id":"m","turnId":"t","role":"user","threadId":"th"}
{"type":"ui.call","seq":2,"turnId":"t","surfaceId":"s","callId":"f","method":"sum"}
{"type":"ui.result","seq":3,"turnId":"t","surfaceId":"s","callId":"f","method":"sum","value":3}
{"type":"ui.action-result","seq":4,"turnId":"t","surfaceId":"s","actionId":"a","value":3}
{"type":"ui.widget.result","seq":5,"turnId":"t","surfaceId":"s","callId":"c","result":"{}"}
{"type":"message.metadata","seq":6,"turnId":"t","messageId":"m","metadata":`+model+`}`)
	if m := result.Messages; len(m) != 1 || len(m[0].Content) != 0 || string(m[0].Metadata) != model {
		t.Errorf("the fold holds %s", agjson.AppendReduceResult(nil, &result))
	}
	for _, bad := range []string{
		`{"surface":"a2ui","a2uiMessage":"error","surfaceId":"s","functionCallId":"f","code":"E","message":"m"}`,
		`{"surface":"a2ui","a2uiMessage":"error","code":"E","message":"m"}`,
		`{"surface":"a2ui","a2uiMessage":"action","surfaceId":"s","name":"pick","sourceComponentId":"b","timestamp":"x","context":{},"widgetState":{}}`,
	} {
		if err := agjson.Check("AgSurfaceInteraction", agjson.Producer, []byte(bad)); err == nil {
			t.Errorf("accepted: %s", bad)
		}
	}
}

// folded is the fold of events, one a line, each written and read on the way.
func folded(t *testing.T, events string) agjson.ReduceResult {
	t.Helper()
	r := reducer.New()
	for _, line := range strings.Split(strings.TrimSpace(events), "\n") {
		ev, err := agjson.Decode([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		r.Push(ev)
	}
	if why := r.Parked(); why != "" {
		t.Fatal(why)
	}
	return r.Result()
}

// reinput is the input as its receiver reads it.
func reinput(t *testing.T, in agjson.Input) agjson.Input {
	t.Helper()
	out, err := in.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := agjson.Check("AgInput", agjson.Producer, out); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	var back agjson.Input
	if err := back.UnmarshalJSON(out); err != nil {
		t.Fatal(err)
	}
	return back
}

// SPEC §10.13: blobs for replay, and flat metadata, survive events, fold and re-input byte-identical.
func TestReplayBlobsSurviveTheFold(t *testing.T) {
	blocks := []string{
		`{"type":"search-result","url":"u","opaque":{"kind":"ciphertext","value":"EqMD+/=="}}`,
		`{"type":"text","text":"t","citations":[{"kind":"url","citedText":"c","encryptedIndex":"Eo8B+/==","url":"u"}]}`,
		`{"type":"compaction","opaque":{"kind":"encrypted","value":"cGFjdA==","provider":"anthropic"}}`,
		`{"type":"reasoning","opaque":{"kind":"redacted","value":"cmVk+/=="},"providerMetadata":{"anthropic":{"n":1.50}},"itemId":"rs_1"}`,
		`{"type":"tool-call","toolCallId":"c","name":"n","input":{"b":1e2,"a":9007199254740993},"signature":"c2ln+/==","providerMetadata":{"itemId":"fc_1"},"_meta":{"timestamp":1.0,"traceparent":"00-ab"}}`,
	}
	events := `{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}
{"type":"message.start","seq":1,"id":"m","turnId":"t","role":"assistant","threadId":"th"}
{"type":"reasoning.start","seq":2,"id":"r","turnId":"t"}
{"type":"reasoning.opaque","seq":3,"id":"r","turnId":"t","kind":"signature","value":"EpYC+/==","provider":"anthropic"}
{"type":"reasoning.end","seq":4,"id":"r","turnId":"t"}
{"type":"message.metadata","seq":5,"turnId":"t","messageId":"m","metadata":{"totalTokens":12.0,"createdAt":"x"}}
`
	for i, b := range blocks {
		events += fmt.Sprintf(`{"type":"content.block","seq":%d,"turnId":"t","block":%s}`+"\n", 6+i, b)
	}
	in := reinput(t, agjson.Input{Version: agjson.Version, ThreadID: "th", TurnID: "t2", Body: &agjson.StartInput{Messages: folded(t, events).Messages}})
	m := in.Body.(*agjson.StartInput).Messages[0]
	want := append([]string{`{"type":"reasoning","opaque":{"kind":"signature","value":"EpYC+/==","provider":"anthropic"}}`}, blocks...)
	if len(m.Content) != len(want) {
		t.Fatalf("%d blocks, want %d", len(m.Content), len(want))
	}
	for i, b := range m.Content {
		got := string(agjson.AppendBlock(nil, b))
		if want := want[i]; got != want && strings.ReplaceAll(got, `"text":"",`, "") != want {
			t.Errorf("came back as\n%s, want\n%s", got, want)
		}
	}
	if string(m.Metadata) != `{"totalTokens":12.0,"createdAt":"x"}` {
		t.Errorf("metadata came back as %s", m.Metadata)
	}
}

// SPEC §10.18: an MRTR continuation survives ask, fold and answer byte-identical; the answer is a fresh input.
func TestRequestStateEchoes(t *testing.T) {
	const state = `ey\u0041+/=\u00e9 \"x\"`
	result := folded(t, `{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}
{"type":"turn.done","seq":1,"turnId":"t","outcome":{"type":"paused","asks":[{"askId":"a","kind":"form","requestState":"`+state+`"}]},"finishReason":"paused"}`)
	asked := result.Turns[0].Asks[0].RequestState
	in := reinput(t, agjson.Input{Version: agjson.Version, ThreadID: "th", TurnID: "t2", Body: &agjson.ResumeInput{
		Answers: []agjson.HitlAnswer{{AskID: "a", Status: agjson.AnswerStatusResolved, RequestState: asked}},
	}})
	if got := *in.Body.(*agjson.ResumeInput).Answers[0].RequestState; string(got) != "eyA+/=é \"x\"" {
		t.Errorf("echoed as %q", string(got))
	}
}

// SPEC §10.19, SPEC §6 Pattern 1b: an A2UI component stream passes with its payloads byte-identical, its catalog by reference. The
// fold keeps nothing of it, and a snapshot what of it is still shown, as it came.
func TestComponentStreaming(t *testing.T) {
	const events = `
{"type":"ui.surface.start","seq":0,"surfaceId":"s","catalogId":"https://a2ui.org/basic","sendDataModel":true,"components":[{"id":"root","component":{"Column":{"children":["b","b"]}}}],"dataModel":{"z":1,"a":1.0}}
{"type":"ui.surface.update","seq":1,"surfaceId":"s","components":[ {"id" : "b", "id":"b2"} ]}
{"type":"ui.data-model","seq":2,"surfaceId":"s","path":"/a","value":null}
{"type":"ui.data-model","seq":3,"surfaceId":"s","path":"/b","value":{"z":1e400,"a":"\u00e9","a":2}}
{"type":"ui.surface.end","seq":4,"surfaceId":"s"}`
	roundTrip(t, "AgEvent", events+"\n"+`{"type":"ui.data-model","seq":3,"surfaceId":"s"}`)
	r := reducer.New()
	var shown []string // before the surface ends, and after
	for line := range strings.Lines(strings.TrimSpace(events)) {
		if strings.Contains(line, "ui.surface.end") {
			shown = live(r)
		}
		if err := r.PushLine([]byte(line)); err != nil || r.Parked() != "" {
			t.Fatal(err, r.Parked())
		}
	}
	want := []string{
		`{"type":"ui.surface.start","seq":0,"surfaceId":"s","catalogId":"https://a2ui.org/basic","sendDataModel":true,"components":[{"id":"root","component":{"Column":{"children":["b","b"]}}}],"dataModel":{"z":1,"a":1.0}}`,
		`{"type":"ui.surface.update","seq":0,"surfaceId":"s","components":[{"id" : "b", "id":"b2"}]}`,
		`{"type":"ui.data-model","seq":0,"surfaceId":"s","value":{"z":1,"a":null,"b":{"z":1e400,"a":"\u00e9","a":2}}}`,
	}
	if !slices.Equal(shown, want) {
		t.Errorf("while the surface is there a snapshot holds\n%s", strings.Join(shown, "\n"))
	}
	if left := live(r); left != nil {
		t.Errorf("when it has ended a snapshot holds\n%s", strings.Join(left, "\n"))
	}
	result := r.Result()
	if got, want := string(agjson.AppendReduceResult(nil, &result)), `{"messages":[],"artifacts":[],"memory":[],"turns":[]}`; got != want {
		t.Errorf("the fold holds %s", got)
	}
}

// live is what a snapshot keeps of events that fold to nothing, its seq left out.
func live(r *reducer.Reducer) (out []string) {
	for _, ev := range r.Snapshot().Live {
		ev.Seq = 0
		out = append(out, string(agjson.AppendEvent(nil, &ev)))
	}
	return out
}

// again is the blocks of the first message, each as its bytes, after the fold and a re-input of its messages.
func again(t *testing.T, events string) []string {
	t.Helper()
	in := reinput(t, agjson.Input{Version: agjson.Version, ThreadID: "th", TurnID: "t2", Body: &agjson.StartInput{Messages: folded(t, events).Messages}})
	var out []string
	for _, b := range in.Body.(*agjson.StartInput).Messages[0].Content {
		out = append(out, string(agjson.AppendBlock(nil, b)))
	}
	return out
}

// begun are the events that a message of a turn begins with; seq 2 is next.
const begun = `{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}
{"type":"message.start","seq":1,"id":"m","turnId":"t","role":"assistant","threadId":"th"}
`

// SPEC §10.4: a signature rides the entity it was given on, and survives events, fold and re-input byte-identical.
func TestSignatureLoop(t *testing.T) {
	for _, tc := range []struct {
		name, events string
		want         []string
	}{
		{"the first of two calls", `
{"type":"tool.start","seq":2,"turnId":"t","toolCallId":"c1","name":"f"}
{"type":"tool.args.assembled","seq":3,"turnId":"t","toolCallId":"c1","input":{"n":1.0},"signature":"Q2F/+=="}
{"type":"tool.start","seq":4,"turnId":"t","toolCallId":"c2","name":"f"}
{"type":"tool.args.assembled","seq":5,"turnId":"t","toolCallId":"c2","input":{}}`, []string{
			`{"type":"tool-call","toolCallId":"c1","name":"f","input":{"n":1.0},"signature":"Q2F/+=="}`,
			`{"type":"tool-call","toolCallId":"c2","name":"f","input":{}}`}},
		{"thinking only", `
{"type":"reasoning.start","seq":2,"turnId":"t","id":"r"}
{"type":"reasoning.delta","seq":3,"id":"r","delta":"hm"}
{"type":"reasoning.opaque","seq":4,"id":"r","kind":"signature","value":"Q2F/+==","provider":"google"}
{"type":"reasoning.end","seq":5,"id":"r"}`, []string{
			`{"type":"reasoning","text":"hm","opaque":{"kind":"signature","value":"Q2F/+==","provider":"google"}}`}},
		{"grounded by a search", `
{"type":"reasoning.start","seq":2,"turnId":"t","id":"r"}
{"type":"reasoning.opaque","seq":3,"id":"r","kind":"signature","value":"Q2F/+==","provider":"google"}
{"type":"reasoning.end","seq":4,"id":"r"}
{"type":"text.start","seq":5,"turnId":"t","id":"x"}
{"type":"text.delta","seq":6,"id":"x","delta":"so it is"}
{"type":"text.end","seq":7,"id":"x","citations":[{"kind":"offset","citedText":"it","startIndex":3,"endIndex":5,"sourceIds":["s"],"unit":"char","bounds":"[start,end)"}]}
{"type":"source","seq":8,"turnId":"t","sourceId":"s","source":{"url":"https://example.org"},"chunkIndex":0}`, []string{
			`{"type":"reasoning","text":"","opaque":{"kind":"signature","value":"Q2F/+==","provider":"google"}}`,
			`{"type":"text","text":"so it is","citations":[{"kind":"offset","citedText":"it","startIndex":3,"endIndex":5,"sourceIds":["s"],"unit":"char","bounds":"[start,end)"}]}`}},
		{"OpenAI, stateless", `
{"type":"reasoning.start","seq":2,"turnId":"t","id":"r1","itemId":"rs_1"}
{"type":"reasoning.opaque","seq":3,"id":"r1","kind":"encrypted","value":"gAAAA+/==","provider":"openai","itemId":"rs_1"}
{"type":"tool.start","seq":4,"turnId":"t","toolCallId":"call_1","name":"f","itemId":"fc_1"}
{"type":"tool.args.assembled","seq":5,"turnId":"t","toolCallId":"call_1","input":{}}
{"type":"reasoning.start","seq":6,"turnId":"t","id":"r2","itemId":"rs_2"}
{"type":"reasoning.opaque","seq":7,"id":"r2","kind":"encrypted","value":"gBBBB+/==","provider":"openai"}`, []string{
			`{"type":"reasoning","text":"","opaque":{"kind":"encrypted","value":"gAAAA+/==","provider":"openai"},"itemId":"rs_1"}`,
			`{"type":"tool-call","toolCallId":"call_1","name":"f","input":{},"itemId":"fc_1"}`,
			`{"type":"reasoning","text":"","opaque":{"kind":"encrypted","value":"gBBBB+/==","provider":"openai"},"itemId":"rs_2"}`}},
	} {
		if got := again(t, begun+strings.TrimSpace(tc.events)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: came back as\n%s", tc.name, strings.Join(got, "\n"))
		}
	}
}

// SPEC §10.15: the calls of a parallel turn stay ahead of their results, each in the order it came.
func TestParallelCallsStayGrouped(t *testing.T) {
	got := again(t, begun+`{"type":"tool.start","seq":2,"turnId":"t","toolCallId":"c1","name":"f"}
{"type":"tool.args.assembled","seq":3,"turnId":"t","toolCallId":"c1","input":1,"signature":"s=="}
{"type":"tool.start","seq":4,"turnId":"t","toolCallId":"c2","name":"g"}
{"type":"tool.args.assembled","seq":5,"turnId":"t","toolCallId":"c2","input":2}
{"type":"tool.done","seq":6,"turnId":"t","toolCallId":"c1","content":[]}
{"type":"tool.done","seq":7,"turnId":"t","toolCallId":"c2","content":[]}`)
	want := []string{
		`{"type":"tool-call","toolCallId":"c1","name":"f","input":1,"signature":"s=="}`, `{"type":"tool-call","toolCallId":"c2","name":"g","input":2}`,
		`{"type":"tool-result","toolCallId":"c1","content":[]}`, `{"type":"tool-result","toolCallId":"c2","content":[]}`}
	if !slices.Equal(got, want) {
		t.Errorf("came back as\n%s", strings.Join(got, "\n"))
	}
}

// SPEC §10.17: a signature in two fragments, and a call whose arguments came in fragments, are each one, byte for byte.
func TestFragmentsAreOne(t *testing.T) {
	got := again(t, begun+`{"type":"reasoning.start","seq":2,"turnId":"t","id":"r"}
{"type":"reasoning.opaque.delta","seq":3,"id":"r","delta":"Q2F/"}
{"type":"tool.start","seq":4,"turnId":"t","toolCallId":"c","name":"f"}
{"type":"tool.args.delta","seq":5,"toolCallId":"c","delta":"{\"n\":"}
{"type":"reasoning.opaque.delta","seq":6,"id":"r","delta":"+=="}
{"type":"tool.args.delta","seq":7,"toolCallId":"c","delta":"1.0}"}
{"type":"reasoning.opaque","seq":8,"id":"r","kind":"signature","value":"Q2F/+=="}
{"type":"tool.args.assembled","seq":9,"toolCallId":"c","input":{"n":1.0}}`)
	want := []string{
		`{"type":"reasoning","text":"","opaque":{"kind":"signature","value":"Q2F/+=="}}`,
		`{"type":"tool-call","toolCallId":"c","name":"f","input":{"n":1.0}}`}
	if !slices.Equal(got, want) {
		t.Errorf("came back as\n%s", strings.Join(got, "\n"))
	}
}

// SPEC §10.7: what was blocked keeps the category it was blocked for; a bare signal without one is a producer's right.
func TestSafetyCategory(t *testing.T) {
	for _, tc := range []struct{ name, events, want string }{
		{"of the turn", `{"type":"turn.done","seq":1,"turnId":"t","outcome":{"type":"success"},"finishReason":"safety_blocked","safety":[{"category":"spii","blocked":true}]}`,
			`"finishReason":"safety_blocked","safety":[{"category":"spii","blocked":true}]`},
		{"of the prompt", `{"type":"prompt.blocked","seq":1,"turnId":"t","reason":"other","safety":[{"category":"recitation"}]}
{"type":"turn.done","seq":2,"turnId":"t","outcome":{"type":"success"},"finishReason":"safety_blocked"}`,
			`"finishReason":"safety_blocked","safety":[{"category":"recitation"}],"promptBlocked":{"reason":"other","safety":[{"category":"recitation"}]}`},
		{"bare", `{"type":"turn.done","seq":1,"turnId":"t","outcome":{"type":"success"},"finishReason":"safety_blocked","safety":[]}`,
			`"outcome":{"type":"success"},"finishReason":"safety_blocked"`},
	} {
		events := `{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}` + "\n" + tc.events
		roundTrip(t, "AgEvent", events)
		record := folded(t, events).Turns[0]
		if got := string(agjson.AppendTurnRecord(nil, &record)); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s", tc.name, got)
		}
	}
}
