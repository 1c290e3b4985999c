package agjson_test

import (
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
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

// SPEC §10.3: the four channels of a result stay apart, each under its own name, null told from absent.
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

// SPEC §10.5: MCP's base64, and the url and file of others, are one union that loses none.
func TestSourceRoundTrips(t *testing.T) {
	roundTrip(t, "AgBlock", `
{"type":"image","source":{"type":"base64","mediaType":"image/png","data":"aGVsbG8="}}
{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}
{"type":"audio","source":{"type":"url","url":"https://example.org/a.mp3","mediaType":"audio/mpeg"}}
{"type":"file","source":{"type":"file","fileId":"file_9","mediaType":"video/mp4"},"filename":"a.mp4"}
{"type":"document","source":{"type":"file","fileId":"file_9"},"title":"a"}`)
}

// SPEC §10.14: each surface arm keeps its own names, and the A2UI error is of exactly one of its two kinds.
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

// SPEC §10.18: an MRTR continuation is echoed byte-identical, from the ask to the answer in a fresh input.
func TestRequestStateEchoes(t *testing.T) {
	const state = `"ey\u0041+/=\u00e9 \"x\""`
	ask, err := agjson.Decode([]byte(`{"type":"hitl.ask","seq":0,"askId":"a","kind":"form","requestState":` + state + `}`))
	if err != nil {
		t.Fatal(err)
	}
	asked := *ask.Body.(*agjson.HitlAsk).RequestState
	in := agjson.Input{Version: agjson.Version, ThreadID: "th", TurnID: "t2", Body: &agjson.ResumeInput{
		Answers: []agjson.HitlAnswer{{AskID: "a", Status: agjson.AnswerStatusResolved, RequestState: &asked}},
	}}
	out, err := in.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var back agjson.Input
	if err := back.UnmarshalJSON(out); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	if got := *back.Body.(*agjson.ResumeInput).Answers[0].RequestState; string(got) != "eyA+/=é \"x\"" || got != asked {
		t.Errorf("echoed as %q", string(got))
	}
}

// SPEC §10.19: an A2UI component stream passes with its payloads byte-identical, its catalog by reference.
func TestComponentStreaming(t *testing.T) {
	roundTrip(t, "AgEvent", `
{"type":"ui.surface.start","seq":0,"surfaceId":"s","catalogId":"https://a2ui.org/basic","sendDataModel":true,"components":[{"id":"root","component":{"Column":{"children":["b","b"]}}}],"dataModel":{"z":1,"a":1.0}}
{"type":"ui.surface.update","seq":1,"surfaceId":"s","components":[ {"id" : "b", "id":"b2"} ]}
{"type":"ui.data-model","seq":2,"surfaceId":"s","path":"/a","value":null}
{"type":"ui.data-model","seq":3,"surfaceId":"s"}
{"type":"ui.surface.end","seq":4,"surfaceId":"s"}`)
}
