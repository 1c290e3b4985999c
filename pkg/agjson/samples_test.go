package agjson_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

type sample struct {
	Schema string          `json:"schema"`
	Value  json.RawMessage `json:"value"`
}

// samples are the lines of testdata/samples.ndjson: every type with all its members and with the required ones alone, each
// in the order in which this package writes them.
func samples(tb testing.TB) (out []sample) {
	tb.Helper()
	for n, line := range lines(tb, "testdata/samples.ndjson") {
		var s sample
		if err := json.Unmarshal(line, &s); err != nil {
			tb.Fatalf("samples.ndjson:%d: %v", n, err)
		}
		out = append(out, s)
	}
	return out
}

func TestSamplesAreAcceptedAndWrittenAsTheyCame(t *testing.T) {
	for n, s := range samples(t) {
		for _, p := range []agjson.Posture{agjson.Producer, agjson.Consumer} {
			if err := agjson.Check(s.Schema, p, s.Value); err != nil {
				t.Errorf("line %d: %v", n+1, err)
			}
		}
		out, err := agjson.Reencode(s.Schema, s.Value)
		if err != nil || !bytes.Equal(out, s.Value) {
			t.Errorf("line %d (%s): %v, re-encoded\n%s\nas\n%s", n+1, s.Schema, err, s.Value, out)
		}
	}
}

// Every type that the specification has stands among the samples, so that none can be added by half.
func TestEveryTypeHasASample(t *testing.T) {
	events, blocks, schemas := map[string]int{}, map[string]int{}, map[string]int{}
	for _, s := range samples(t) {
		schemas[s.Schema]++
		switch s.Schema {
		case "AgEvent":
			ev, err := agjson.Decode(s.Value)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := ev.Body.(*agjson.Unknown); ok {
				t.Errorf("%s decodes as unknown", ev.Body.Type())
			}
			events[ev.Body.Type()]++
		case "AgBlock":
			var v struct{ Type string }
			if err := json.Unmarshal(s.Value, &v); err != nil {
				t.Fatal(err)
			}
			blocks[v.Type]++
		}
	}
	need := func(what string, names []string, have map[string]int) {
		for _, name := range names {
			if have[name] == 0 {
				t.Errorf("%s %s has no sample", what, name)
			}
		}
	}
	need("event", agjson.Types(), events)
	need("block", agjson.BlockTypes(), blocks)
	need("schema", agjson.SchemaNames(), schemas)
	if n := len(agjson.Types()); n != 50 {
		t.Errorf("%d event types, the specification has 50", n)
	}
	if n := len(agjson.BlockTypes()); n != 16 {
		t.Errorf("%d block types, the specification has 16", n)
	}
}

// An event header that came is an event header that leaves: the members' order is the encoder's, the values are the sender's.
func TestMembersInAnyOrder(t *testing.T) {
	for n, s := range samples(t) {
		if s.Value[0] != '{' || !agjsonOrders(s) {
			continue
		}
		turned := reverseMembers(t, s.Value)
		for _, p := range []agjson.Posture{agjson.Producer, agjson.Consumer} {
			if err := agjson.Check(s.Schema, p, turned); err != nil {
				t.Errorf("line %d, members reversed: %v", n+1, err)
			}
		}
		out, err := agjson.Reencode(s.Schema, turned)
		if err != nil || !bytes.Equal(out, s.Value) {
			t.Errorf("line %d (%s), members reversed: %v, re-encoded\n%s\nas\n%s", n+1, s.Schema, err, s.Value, out)
		}
	}
}

// agjsonOrders says whether the encoder decides the order of the value's members: not where it keeps the sender's.
func agjsonOrders(s sample) bool {
	switch s.Schema {
	case "JsonValue", "AgMeta", "AgProviderMeta":
		return false
	}
	return !bytes.Contains(s.Value, []byte(`"ext.acme.`)) && !bytes.Contains(s.Value, []byte(`"id":""`))
}

// reverseMembers is the object with the order of its own members turned round.
func reverseMembers(t *testing.T, data []byte) []byte {
	v, err := agjson.ParseValue(data)
	if err != nil {
		t.Fatal(err)
	}
	var parts [][]byte
	for name, val := range v.Members {
		parts = append(parts, slices.Concat(agjson.Quote(name), []byte(" :\t"), val.Raw()))
	}
	slices.Reverse(parts)
	return slices.Concat([]byte(" {\n"), bytes.Join(parts, []byte("\r\n, ")), []byte(" }\n"))
}

// encoding/json takes and gives the same values as this package.
func TestJSONMethods(t *testing.T) {
	message := `{"id":"m","role":"user","content":[{"type":"text","text":"a<b"}],"later":[1e2]}`
	var m agjson.Message
	data := []byte(message)
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	clear(data) // what was read does not alias it
	out, err := m.MarshalJSON()
	if err != nil || string(out) != message {
		t.Errorf("%v: %s", err, out)
	}
	if out, err = json.Marshal(m.Content[0]); err != nil || !json.Valid(out) || !bytes.Contains(out, []byte("text")) {
		t.Errorf("a block: %v: %s", err, out)
	}
	if err := json.Unmarshal([]byte(`{"id":"m","role":"user"}`), &m); err == nil {
		t.Error("a message without content is accepted")
	}
	if m.ID != "m" || len(m.Content) != 1 {
		t.Error("a refused value changed the message")
	}
}

// A value made in Go is written valid, whatever it lacks.
func TestZeroValuesEncode(t *testing.T) {
	ev := agjson.Event{Seq: 3, ID: "b", Body: &agjson.TextDelta{Delta: "x\xff\xed\xa0\xbd\xed\xb8\x80\xed\xa0\xbd"}}
	want := `{"type":"text.delta","seq":3,"id":"b","delta":"x�😀\ud83d"}`
	if out := string(agjson.AppendEvent(nil, &ev)); out != want {
		t.Errorf("got %s, want %s", out, want)
	}
	ev = agjson.Event{Body: &agjson.ToolDone{}}
	if out := string(agjson.AppendEvent([]byte("["), &ev)); out != `[{"type":"tool.done","seq":0,"toolCallId":"","content":[]}` {
		t.Error(out)
	}
	if out := string(agjson.AppendEvent(nil, &agjson.Event{})); out != "null" {
		t.Error(out)
	}
}

// An id that came empty reads as absent and still leaves as it came; set since, it is written once.
func TestEmptyIDs(t *testing.T) {
	in := `{"type":"tool.start","seq":0,"id":"i","toolCallId":"c","name":"n","turnId":"","messageId":""}`
	ev, err := agjson.Decode([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if out := string(agjson.AppendEvent(nil, &ev)); out != in {
		t.Errorf("got %s", out)
	}
	ev.TurnID = "t"
	want := `{"type":"tool.start","seq":0,"id":"i","turnId":"t","toolCallId":"c","name":"n","messageId":""}`
	if out := string(agjson.AppendEvent(nil, &ev)); out != want {
		t.Errorf("got %s", out)
	}
}
