package agtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"pgregory.net/rapid"
)

func events(lines ...string) []agtest.Object {
	var out []agtest.Object
	for _, l := range lines {
		out = append(out, agtest.Decode([]byte(l)).(agtest.Object))
	}
	return out
}

func TestSameEvents(t *testing.T) {
	want := events(`{"type":"turn.start","turnId":"a","threadId":"x"}`, `{"type":"message.start","id":"m","turnId":"a"}`, `{"type":"tool.done","toolCallId":"c","messageId":"c:result","turnId":"a","n":1.0}`)
	for name, c := range map[string]struct {
		got  []agtest.Object
		same bool
	}{
		"renamed":          {events(`{"type":"turn.start","turnId":"b","threadId":"y"}`, `{"type":"message.start","id":"k","turnId":"b"}`, `{"type":"tool.done","toolCallId":"c","messageId":"c:result","turnId":"b","n":1}`), true},
		"two for one":      {events(`{"type":"turn.start","turnId":"b","threadId":"y"}`, `{"type":"message.start","id":"k","turnId":"c"}`, `{"type":"tool.done","toolCallId":"c","messageId":"c:result","turnId":"b","n":1}`), false},
		"another call":     {events(`{"type":"turn.start","turnId":"b","threadId":"y"}`, `{"type":"message.start","id":"k","turnId":"b"}`, `{"type":"tool.done","toolCallId":"d","messageId":"d:result","turnId":"b","n":1}`), false},
		"another number":   {events(`{"type":"turn.start","turnId":"b","threadId":"y"}`, `{"type":"message.start","id":"k","turnId":"b"}`, `{"type":"tool.done","toolCallId":"c","messageId":"c:result","turnId":"b","n":2}`), false},
		"one too few":      {events(`{"type":"turn.start","turnId":"b","threadId":"y"}`), false},
		"a member missing": {events(`{"type":"turn.start","turnId":"b"}`, `{"type":"message.start","id":"k","turnId":"b"}`, `{"type":"tool.done","toolCallId":"c","messageId":"c:result","turnId":"b","n":1}`), false},
	} {
		if d := agtest.SameEvents(want, c.got); (d == "") != c.same {
			t.Errorf("%s: %q", name, d)
		}
	}
}

// faults is a TB that only counts.
type faults struct{ list []string }

func (f *faults) Helper() {}
func (f *faults) Errorf(format string, args ...any) {
	f.list = append(f.list, fmt.Sprintf(format, args...))
}

// Every checker fails on a stream that breaks its invariant.
func TestCheckersFail(t *testing.T) {
	for inv, lines := range map[string][]string{
		"INV-SEQ":   {`{"type":"turn.start","seq":1,"turnId":"t","threadId":"x"}`, `{"type":"turn.abort","seq":2,"turnId":"t"}`},
		"INV-TURN":  {`{"type":"turn.start","seq":0,"turnId":"t","threadId":"x"}`},
		"INV-MSG":   {`{"type":"turn.start","seq":0,"turnId":"t","threadId":"x"}`, `{"type":"text.start","seq":1,"id":"b","turnId":"t"}`, `{"type":"turn.abort","seq":2,"turnId":"t"}`},
		"INV-BLOCK": {`{"type":"tool.start","seq":0,"toolCallId":"c","name":"n"}`, `{"type":"tool.start","seq":1,"toolCallId":"c","name":"n"}`},
		"INV-OWNER": {`{"type":"turn.start","seq":0,"turnId":"t","threadId":"x"}`, `{"type":"error","seq":1,"message":"m"}`},
		"parks":     {`{"type":"message.end","seq":0,"id":"m"}`},
		"AgEvent":   {`{"type":"error","seq":0,"message":"m","more":1}`},
	} {
		var list []agjson.Event
		for _, l := range lines {
			ev, err := agjson.Decode([]byte(l))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, ev)
		}
		f := &faults{}
		agtest.CheckStream(f, list)
		agtest.CheckFold(f, list)
		if !strings.Contains(strings.Join(f.list, "\n"), inv) {
			t.Errorf("%s is not found broken: %q", inv, f.list)
		}
	}
}

// Hostile leaves the recorded frames as they are.
func TestHostileChangesCopies(t *testing.T) {
	frames := []json.RawMessage{json.RawMessage(`{"a":[1,{"b":"c"}]}`), json.RawMessage(`{"d":null}`)}
	rapid.Check(t, func(t *rapid.T) {
		agtest.Hostile(t, frames)
		if string(frames[0]) != `{"a":[1,{"b":"c"}]}` || string(frames[1]) != `{"d":null}` {
			t.Fatal("a recorded frame was changed")
		}
	})
}
