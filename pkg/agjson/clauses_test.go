package agjson_test

import (
	"fmt"
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

// SPEC §2.1: the four channels of a result stay apart, each under its own name, null told from absent.
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

// SPEC §2 AgSource: MCP's base64, and the url and file of others, are one union that loses none.
func TestSourceRoundTrips(t *testing.T) {
	roundTrip(t, "AgBlock", `
{"type":"image","source":{"type":"base64","mediaType":"image/png","data":"aGVsbG8="}}
{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}
{"type":"audio","source":{"type":"url","url":"https://example.org/a.mp3","mediaType":"audio/mpeg"}}
{"type":"file","source":{"type":"file","fileId":"file_9","mediaType":"video/mp4"},"filename":"a.mp4"}
{"type":"document","source":{"type":"file","fileId":"file_9"},"title":"a"}`)
}

// SPEC §3 AgSurfaceInteraction: each surface arm keeps its own names, and the A2UI error is of exactly one of its two kinds.
func TestSurfaceInteractionsPerArm(t *testing.T) {
	roundTrip(t, "AgSurfaceInteraction", `
{"surface":"a2ui","a2uiMessage":"function-response","surfaceId":"s","functionCallId":"f","call":"sum","value":3}
{"surface":"a2ui","a2uiMessage":"action","surfaceId":"s","name":"pick","sourceComponentId":"b","timestamp":"2026-07-02T00:00:00Z","context":{"n":1e400},"wantResponse":true,"actionId":"a"}
{"surface":"a2ui","a2uiMessage":"error","surfaceId":"s","code":"E","message":"m"}
{"surface":"a2ui","a2uiMessage":"error","functionCallId":"f","code":"VALIDATION_FAILED","message":"m","path":"/x"}
{"surface":"mcp-app","method":"ui/update-model-context","surfaceId":"s","params":{"content":[{"type":"text","text":"t"}],"structuredContent":null}}
{"surface":"openai-app","method":"callTool","surfaceId":"s","name":"n","args":{},"callId":"c"}`)
	roundTrip(t, "AgEvent", `
{"type":"ui.result","seq":0,"surfaceId":"s","callId":"f","method":"sum","error":{"code":"VALIDATION_FAILED","message":"m","path":"/x"}}
{"type":"ui.action-result","seq":0,"surfaceId":"s","actionId":"a","error":{"code":"VALIDATION_FAILED","message":"m","path":"/x"}}
{"type":"ui.widget.result","seq":0,"surfaceId":"s","callId":"c","result":"{}"}`)
	roundTrip(t, "AgMessage", `{"id":"m","role":"user","content":[],"messageMetadata":{"a2uiClientDataModel":{"s":{"n":9007199254740993}}}}`)
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

// SPEC §4, §6 Pattern 1b: an A2UI component stream passes with its payloads byte-identical, its catalog by reference.
func TestComponentStreaming(t *testing.T) {
	roundTrip(t, "AgEvent", `
{"type":"ui.surface.start","seq":0,"surfaceId":"s","catalogId":"https://a2ui.org/basic","sendDataModel":true,"components":[{"id":"root","component":{"Column":{"children":["b","b"]}}}],"dataModel":{"z":1,"a":1.0}}
{"type":"ui.surface.update","seq":1,"surfaceId":"s","components":[ {"id" : "b", "id":"b2"} ]}
{"type":"ui.data-model","seq":2,"surfaceId":"s","path":"/a","value":null}
{"type":"ui.data-model","seq":3,"surfaceId":"s"}
{"type":"ui.surface.end","seq":4,"surfaceId":"s"}`)
}
