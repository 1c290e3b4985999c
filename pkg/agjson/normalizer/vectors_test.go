package normalizer_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// op is one call of the vectors on the public SDK's engine.
type op struct {
	Op       string            `json:"op"`
	Args     []json.RawMessage `json:"args"`
	Returned []json.RawMessage `json:"returned"`
}

// adapter speaks the SDK engine's calls on ours.
type adapter struct{ e *normalizer.Engine }

func (a adapter) event(raw json.RawMessage, typ string, add map[string]any) agjson.Event {
	o := agtest.Object{}
	if raw != nil && string(raw) != "null" {
		o = agtest.Decode(raw).(agtest.Object)
	}
	if typ != "" {
		o["type"] = typ
	}
	o["seq"] = json.Number("0")
	if typ == "message.start" && o["threadId"] == nil {
		o["threadId"] = ""
	}
	for k, v := range add {
		if v != nil {
			o[k] = v
		}
	}
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	ev, err := agjson.Decode(b)
	if err != nil {
		panic(fmt.Sprintf("%v: %s", err, b))
	}
	return ev
}

func (a adapter) call(o op) {
	arg := func(i int) json.RawMessage {
		if i < len(o.Args) {
			return o.Args[i]
		}
		return nil
	}
	val := func(i int) any {
		if arg(i) == nil {
			return nil
		}
		return agtest.Decode(arg(i))
	}
	str := func(i int) string {
		s, _ := val(i).(string)
		return s
	}
	soFar := func(i int) bool {
		m, _ := val(i).(agtest.Object)
		return m["cumulative"] == true
	}
	block := func(typ string) { a.e.Emit(a.event(arg(2), typ, map[string]any{"id": val(0), "messageId": val(1)})) }
	switch o.Op {
	case "openTurn":
		a.e.Emit(a.event(arg(2), "turn.start", map[string]any{"turnId": val(0), "threadId": val(1)}))
	case "closeTurnDone":
		a.e.Emit(a.event(arg(1), "turn.done", map[string]any{"turnId": val(0)}))
	case "openMessage":
		a.e.Emit(a.event(arg(0), "message.start", nil))
	case "closeMessage":
		a.e.Emit(a.event(nil, "message.end", map[string]any{"id": val(0), "usage": val(1)}))
	case "subagentStart":
		a.e.Emit(a.event(nil, "subagent.start", map[string]any{"turnId": val(0), "parentTurnId": val(1)}))
	case "subagentDone":
		a.e.SubagentDone(str(0), nil)
	case "textStart":
		block("text.start")
	case "textEnd":
		block("text.end")
	case "reasoningStart":
		block("reasoning.start")
	case "reasoningEnd":
		block("reasoning.end")
	case "reasoningOpaque":
		block("reasoning.opaque")
	case "textDelta":
		if soFar(3) {
			a.e.TextSoFar(str(0), str(1), str(2))
		} else {
			a.e.TextDelta(str(0), str(1), str(2))
		}
	case "reasoningDelta":
		if soFar(3) {
			a.e.ReasoningSoFar(str(0), str(1), str(2))
		} else {
			a.e.ReasoningDelta(str(0), str(1), str(2))
		}
	case "toolStart":
		a.e.Emit(a.event(arg(0), "tool.start", nil))
	case "toolArgsDelta":
		if soFar(2) {
			a.e.ToolArgsSoFar(str(0), str(1))
		} else {
			a.e.ToolArgsDelta(str(0), str(1))
		}
	case "toolArgsAssembled":
		a.e.Emit(a.event(arg(2), "tool.args.assembled", map[string]any{"toolCallId": val(0), "input": val(1)}))
	case "toolDone":
		a.e.Emit(a.event(arg(0), "tool.done", nil))
	case "contentBlock":
		a.e.Emit(a.event(arg(2), "content.block", map[string]any{"messageId": val(0), "block": val(1)}))
	case "providerRaw":
		a.e.ProviderRaw(str(0), str(1), arg(2))
	case "emitExt":
		a.e.EmitExt(str(0), str(1), arg(2))
	case "emit":
		a.e.Emit(a.event(arg(0), "", nil))
	default:
		panic("no adapter for " + o.Op)
	}
}

// rules of testdata/departures.txt.
var engineRules = map[string]agtest.Rule{
	"turnid": agtest.OwnersAdded,
	// what would park a strict fold is carried, with all it said.
	"refused": func(want, got []agtest.Object) (newWant, newGot []agtest.Object) {
		for i, o := range got {
			if ev, ok := o["event"].(agtest.Object); ok && o["type"] == "ext.acme.refused" {
				ev["turnId"], ev["seq"] = o["turnId"], o["seq"]
				got[i] = ev
			}
		}
		return want, got
	},
	// what an event needs is opened before it.
	"opened": func(want, got []agtest.Object) (newWant, newGot []agtest.Object) {
		for i := 0; i < len(got); i++ {
			typ, _ := got[i]["type"].(string)
			if strings.HasSuffix(typ, ".start") && (i >= len(want) || want[i]["type"] != typ) {
				got = slices.Delete(got, i, i+1)
				i--
			} else if i < len(want) && want[i]["messageId"] == nil {
				delete(got[i], "messageId") // of the message that was opened for it
			}
		}
		return agtest.NoSeq(want, got)
	},
	// a result named for a message of another turn is adopted by a message of its own.
	"adopted": func(want, got []agtest.Object) (newWant, newGot []agtest.Object) {
		last := got[len(got)-1]
		if last["messageId"] == last["toolCallId"].(string)+":result" {
			last["messageId"] = want[len(want)-1]["messageId"]
		}
		return want, got
	},
	// the nested turn's own terminal before subagent.done.
	"nested-done": func(want, got []agtest.Object) (newWant, newGot []agtest.Object) {
		for i, o := range got {
			if o["type"] == "turn.done" && i+1 < len(got) && got[i+1]["type"] == "subagent.done" {
				got = slices.Delete(got, i, i+1)
				break
			}
		}
		return agtest.NoSeq(want, got)
	},
}

func TestEngineVectors(t *testing.T) {
	dir, ok := agtest.VectorsDir(t)
	if !ok {
		return
	}
	var cases []agtest.Case
	got := map[string][]agjson.Event{}
	for i, line := range agtest.Lines(t, filepath.Join(dir, "engine.ndjson")) {
		var c struct {
			Name string
			Ops  []op
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("engine:%d", i)
		a := adapter{normalizer.NewEngine("acme", normalizer.Host{})}
		var want []agtest.Object
		for _, o := range c.Ops {
			switch o.Op {
			case "drain", "flush":
				if o.Op == "flush" {
					a.e.Flush()
				}
				got[key] = append(got[key], a.e.Drain()...)
				for _, raw := range o.Returned {
					want = append(want, agtest.Decode(raw).(agtest.Object))
				}
			default:
				a.call(o)
			}
		}
		cases = append(cases, agtest.Case{Key: key, Name: c.Name, Events: want})
		a.e.Flush()
		agtest.CheckStream(t, append(got[key][:len(got[key]):len(got[key])], a.e.Drain()...))
	}
	agtest.ReadDepartures(t, "testdata/departures.txt").Check(t, engineRules, cases, func(c agtest.Case) []agtest.Object {
		return agtest.Objects(got[c.Key])
	})
}
