package reducer_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// gen draws events whose ids come from small pools, so that they meet, collide and miss.
type gen struct {
	t    *rapid.T
	s    *reducer.Structure // what there is, to aim at; nil = shoot blindly
	wild bool               // also what no normalizer sends: a tool's message that message.start opens, an adopted one that is ended
}

func (g gen) pick(label string, list ...string) string {
	return rapid.SampledFrom(list).Draw(g.t, label)
}

func (g gen) odds(n int) bool { return rapid.IntRange(0, n-1).Draw(g.t, "odds") == 0 }

// there draws an id that has, or has not, the property, if any has.
func (g gen) there(label string, has bool, is func(string) bool, ids ...string) string {
	var list []string
	for _, id := range ids {
		if g.s != nil && is(id) == has {
			list = append(list, id)
		}
	}
	if len(list) == 0 || g.odds(8) {
		list = ids
	}
	return g.pick(label, list...)
}

func (g gen) block(has bool) string {
	return g.there("block", has, func(id string) bool { return g.s.Block(id) }, "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9")
}

func (g gen) call(has bool) string {
	return g.there("call", has, func(id string) bool { known, _ := g.s.Call(id); return known }, "c1", "c2", "c3", "c4", "c5")
}

func (g gen) openTurn() string {
	return g.there("turn", true, func(id string) bool { _, open := g.s.Turn(id); return open }, "t1", "t2", "t3", "t4", "t5")
}

func (g gen) turn() string { return g.pick("turn", "t1", "t1", "t1", "t2", "t2", "t3") }
func (g gen) msg() string  { return g.pick("message", "m1", "m2", "m3", "m4", "m5", "c1:r", "c2:r") }

// ownMsg is a message that message.start opens.
func (g gen) ownMsg() string {
	if g.wild {
		return g.msg()
	}
	return g.pick("message", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9")
}

func (g gen) blk() string     { return g.pick("block", "b1", "b2", "b3", "b4", "b5") }
func (g gen) tool() string    { return g.pick("call", "c1", "c2", "c3") }
func (g gen) art() string     { return g.pick("artifact", "a1", "a2") }
func (g gen) thread() string  { return g.pick("thread", "th", "th", "other") }
func (g gen) optTurn() string { return g.pick("turn?", "", "t1", "t1", "t2", "t3", "ghost") }
func (g gen) text() string {
	return g.pick("text", "", "a", "ü", "\xed\xa0\xbd", "\xed\xb8\x80", "xyz", "\xed\xb8\x80z")
}
func (g gen) num() agjson.Number {
	return agjson.Number(g.pick("candidate", "", "", "", "0", "1", "0.0", "2.5"))
}

func (g gen) part() agjson.Number {
	return agjson.Number(g.pick("part", "", "", "0", "1", "2", "1.0"))
}

func (g gen) object() []byte {
	return []byte(g.pick("object", `{}`, `{"a":1}`, `{"b":{"c":2}}`, `{"a":null,"d":1e400}`, `{"b":3,"é":"x"}`))
}

func (g gen) bag() []byte {
	if g.odds(3) {
		return g.object()
	}
	return nil
}

func (g gen) flag() *bool {
	return rapid.SampledFrom([]*bool{nil, nil, ptr(true), ptr(false)}).Draw(g.t, "flag")
}

func (g gen) value() agjson.Block {
	switch g.pick("kind", "text", "data", "data", "call", "result", "image") {
	case "text":
		return &agjson.TextBlock{Text: g.text(), ProviderMetadata: g.bag()}
	case "data":
		d := &agjson.DataBlock{Name: "n", Data: g.object(), Transient: g.flag()}
		if g.odds(2) {
			d.ID = ptr(g.blk())
		}
		return d
	case "call":
		return &agjson.ToolCallBlock{ToolCallID: g.tool(), Name: "f", Input: g.object()}
	case "result":
		r := &agjson.ToolResultBlock{ToolCallID: g.tool(), Content: []agjson.Block{}}
		if g.wild {
			r.Preliminary = g.flag()
		}
		return r
	}
	return &agjson.ImageBlock{Source: &agjson.URLSource{URL: "u"}}
}

func (g gen) patch() []byte {
	return []byte(g.pick("patch", `[]`, `[{"op":"add","path":"/a","value":1}]`, `[{"op":"remove","path":"/a"}]`,
		`[{"op":"test","path":"/a","value":1.0},{"op":"add","path":"/l","value":[1]}]`, `[{"op":"add","path":"/l/-","value":{"x":1}}]`,
		`[{"op":"copy","from":"/l","path":"/m"},{"op":"remove","path":"/zz"}]`, `[{"op":"replace","path":"","value":{"a":0}}]`,
		`{"n":{"k":1}}`, `{"n":{"j":2},"a":{"b":1}}`, `7`, `null`, `{"n":5}`))
}

// event draws one event of any type; its seq is not set.
func (g gen) event() agjson.Event {
	kinds := []string{"live", "turn", "message", "message", "text", "text", "text", "text", "reasoning", "reasoning", "reasoning", "tool", "tool", "tool", "block", "record", "side"}
	switch g.pick("family", kinds...) {
	case "turn":
		return g.turnEvent()
	case "message":
		return g.messageEvent()
	case "text":
		return g.textEvent()
	case "reasoning":
		return g.reasoningEvent()
	case "tool":
		return g.toolEvent()
	case "block":
		ev := agjson.Event{TurnID: g.optTurn(), Body: &agjson.ContentBlock{Block: g.value(), CandidateIndex: g.num()}}
		if g.odds(2) {
			ev.ID = g.blk()
		}
		return ev
	case "record":
		return g.recordEvent()
	case "side":
		return g.sideEvent()
	}
	return g.liveEvent()
}

func (g gen) turnEvent() agjson.Event {
	ev := agjson.Event{TurnID: g.turn()}
	switch g.pick("turn event", "start", "start", "start", "sub", "sub", "done", "error", "abort", "subdone") {
	case "start":
		b := &agjson.TurnStart{ThreadID: g.thread()}
		if g.odds(3) {
			b.Trigger = &agjson.Trigger{Kind: agjson.TriggerKindResume}
		}
		ev.Body = b
	case "sub":
		ev.Body = &agjson.SubagentStart{ParentTurnID: g.turn()}
	case "subdone":
		ev.Body = &agjson.SubagentDone{ParentTurnID: g.turn()}
	case "done":
		b := &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: agjson.FinishReasonStop}
		if g.odds(3) {
			b.Outcome = &agjson.PausedOutcome{Asks: []agjson.PausedAsk{}}
		}
		if g.odds(3) {
			b.MessageMetadata = g.object()
			if g.odds(2) {
				ev.MessageID = g.msg()
			}
		}
		ev.Body = b
	case "error":
		ev.TurnID = g.optTurn()
		ev.Body = &agjson.TurnError{Message: "m"}
	case "abort":
		ev.TurnID = g.optTurn()
		ev.Body = &agjson.TurnAbort{}
	}
	return ev
}

func (g gen) messageEvent() agjson.Event {
	switch g.pick("message event", "start", "start", "start", "end", "remove", "metadata") {
	case "start":
		role := agjson.Role(g.pick("role", "assistant", "user", "system"))
		if g.wild && g.odds(3) {
			role = agjson.RoleTool
		}
		return agjson.Event{ID: g.ownMsg(), TurnID: g.openTurn(), Body: &agjson.MessageStart{Role: role, ThreadID: "th", CandidateIndex: g.num()}}
	case "end":
		ev := agjson.Event{ID: g.ownMsg(), Body: &agjson.MessageEnd{}}
		if g.odds(3) {
			ev.Body = &agjson.MessageEnd{Usage: &agjson.Usage{InputTokens: "3"}}
		}
		return ev
	case "remove":
		ev := agjson.Event{ID: g.msg(), Body: &agjson.MessageRemove{}}
		if g.odds(6) {
			ev.ID, ev.TurnID = "*", g.turn()
		}
		return ev
	}
	ev := agjson.Event{TurnID: g.optTurn(), Body: &agjson.MessageMetadata{Metadata: g.object()}}
	if g.odds(2) {
		ev.MessageID = g.msg()
	}
	return ev
}

func (g gen) textEvent() agjson.Event {
	ev := agjson.Event{TurnID: g.optTurn()}
	kind := g.pick("text event", "start", "delta", "delta", "delta", "delta", "end")
	ev.ID = g.block(kind != "start")
	switch kind {
	case "start":
		ev.TurnID = g.openTurn()
		if g.odds(4) {
			ev.MessageID = g.msg()
		}
		ev.Meta = g.bag()
		ev.Body = &agjson.TextStart{CandidateIndex: g.num(), ProviderMetadata: g.bag()}
	case "delta":
		ev.Body = &agjson.TextDelta{Delta: g.text(), ProviderMetadata: g.bag()}
	case "end":
		b := &agjson.TextEnd{ProviderMetadata: g.bag()}
		if g.odds(2) {
			b.Citations = []agjson.Citation{{CitedText: "c", Body: &agjson.URLCitation{URL: "u"}}}
		}
		ev.Body = b
	}
	return ev
}

func (g gen) reasoningEvent() agjson.Event {
	ev := agjson.Event{TurnID: g.optTurn()}
	kind := g.pick("reasoning event", "start", "start", "delta", "delta", "delta", "delta", "delta", "end", "opaque", "opaque.delta")
	ev.ID = g.block(kind != "start" || g.odds(3))
	switch kind {
	case "start":
		ev.TurnID = g.openTurn()
		ev.Meta = g.bag()
		ev.Body = &agjson.ReasoningStart{CandidateIndex: g.num(), PartIndex: g.part(), ProviderMetadata: g.bag()}
	case "delta":
		ev.Body = &agjson.ReasoningDelta{Delta: g.text(), PartIndex: g.part(), ProviderMetadata: g.bag()}
	case "end":
		ev.Body = &agjson.ReasoningEnd{ProviderMetadata: g.bag()}
	case "opaque":
		ev.Body = &agjson.ReasoningOpaque{Kind: agjson.OpaqueKindSignature, Value: "s"}
	default:
		ev.Body = &agjson.ReasoningOpaqueDelta{Delta: "s"}
	}
	return ev
}

func (g gen) toolEvent() agjson.Event {
	ev := agjson.Event{TurnID: g.optTurn()}
	switch g.pick("tool event", "start", "start", "args", "assembled", "done", "done", "done") {
	case "start":
		ev.TurnID = g.openTurn()
		ev.Body = &agjson.ToolStart{ToolCallID: g.call(false), Name: "f", CandidateIndex: g.num(), ToolMetadata: g.bag()}
	case "args":
		ev.Body = &agjson.ToolArgsDelta{ToolCallID: g.call(true), Delta: "{"}
	case "assembled":
		ev.Body = &agjson.ToolArgsAssembled{ToolCallID: g.call(true), Input: g.object(), ToolMetadata: g.bag(), ProviderMetadata: g.bag()}
	default:
		c := g.call(true)
		ev.TurnID = g.openTurn()
		if g.odds(2) {
			if ev.MessageID = c + ":r"; g.wild {
				ev.MessageID = g.pick("adopts", c+":r", c+":r", c+":r", "m1", "m2")
			}
		}
		ev.Meta = g.bag()
		ev.Body = &agjson.ToolDone{ToolCallID: c, Content: []agjson.Block{g.value()}, More: g.flag(), CandidateIndex: g.num(), ToolMetadata: g.bag()}
	}
	return ev
}

func (g gen) recordEvent() agjson.Event {
	ev := agjson.Event{TurnID: g.optTurn()}
	if g.odds(4) {
		ev.MessageID = g.msg()
	}
	safety := []agjson.Safety{{Category: "c"}}
	switch g.pick("record", "blocked", "guardrail", "capabilities", "source", "handoff", "display") {
	case "blocked":
		ev.Body = &agjson.PromptBlocked{Reason: agjson.BlockReasonSafety, Safety: safety}
	case "guardrail":
		ev.Body = &agjson.GuardrailResult{Target: agjson.GuardrailTargetInput, Passed: true}
	case "capabilities":
		ev.Body = &agjson.AgentCapabilities{Capabilities: agjson.Capabilities{PushNotifications: g.flag()}}
	case "source":
		ev.Body = &agjson.SourceEvent{SourceID: g.blk(), Source: &agjson.LinkGrounding{URL: "u"}}
	case "handoff":
		ev.Body = &agjson.Handoff{Kind: agjson.HandoffKindTransfer}
	default:
		ev.Body = &agjson.DisplayRequired{Provider: "p", HTML: "<p>"}
	}
	return ev
}

func (g gen) sideEvent() agjson.Event {
	ev := agjson.Event{TurnID: g.optTurn()}
	switch g.pick("side", "artifact.start", "artifact.delta", "artifact.delta", "artifact.end", "state", "delta", "memory", "memory") {
	case "artifact.start":
		ev.TurnID = g.turn()
		ev.Body = &agjson.ArtifactStart{ArtifactID: g.art(), ThreadID: "th"}
	case "artifact.delta":
		ev.Body = &agjson.ArtifactDelta{ArtifactID: g.art(), Part: g.value(), Append: g.odds(2)}
	case "artifact.end":
		ev.Body = &agjson.ArtifactEnd{ArtifactID: g.art()}
	case "state":
		ev.Body = &agjson.StateSnapshot{Snapshot: g.object()}
	case "delta":
		ev.Body = &agjson.StateDelta{Patch: g.patch()}
	default:
		b := &agjson.MemoryWrite{Scope: agjson.MemoryScope(g.pick("scope", "thread", "user", "agent")), Durable: g.flag()}
		if g.odds(2) {
			b.Key = ptr(g.pick("key", "", "k"))
		}
		if b.Value = g.object(); g.odds(3) {
			b.Value, b.Patch = nil, g.patch()
		}
		ev.Body = b
	}
	return ev
}

func (g gen) liveEvent() agjson.Event {
	ev := agjson.Event{TurnID: g.optTurn()}
	surface := g.pick("surface", "s1", "s2")
	switch g.pick("live", "ext", "ask", "ask", "start", "update", "model", "model", "end", "step", "unknown") {
	case "ask":
		b := &agjson.HitlAsk{AskID: g.pick("ask", "q1", "q2", "q3"), Kind: agjson.AskKindApproval}
		if g.odds(2) {
			b.ToolCallID = ptr(g.tool())
		}
		ev.Body = b
	case "start":
		ev.Body = &agjson.UISurfaceStart{SurfaceID: surface, CatalogID: "c", DataModel: g.bag()}
	case "update":
		ev.Body = &agjson.UISurfaceUpdate{SurfaceID: surface, Components: []byte(g.pick("components", `[{"id":"a"}]`, `[{"id":"a","x":1},{"id":"b"}]`, `{"no":"list"}`))}
	case "model":
		b := &agjson.UIDataModel{SurfaceID: surface, Path: ptr(g.pick("path", "/", "/a", "/a/b", "/l/0", "")), Value: g.bag()}
		ev.Body = b
	case "end":
		ev.Body = &agjson.UISurfaceEnd{SurfaceID: surface}
	case "ext":
		ev.Body = &agjson.Ext{Name: "ext.acme.x"}
	case "step":
		ev.ID, ev.Body = "st", &agjson.StepStart{}
	default:
		ev.Body = &agjson.Unknown{Name: "text.later"}
	}
	return ev
}

// snapshotEvent draws a messages.snapshot.
func (g gen) snapshotEvent() agjson.Event {
	b := &agjson.MessagesSnapshot{Messages: []agjson.Message{}}
	for range rapid.IntRange(0, 3).Draw(g.t, "messages") {
		m := agjson.Message{ID: g.msg(), Role: agjson.Role(g.pick("role", "assistant", "tool")), Content: []agjson.Block{}, CandidateIndex: g.num()}
		if !g.odds(4) {
			m.TurnID = ptr(g.turn())
		}
		for range rapid.IntRange(0, 2).Draw(g.t, "blocks") {
			m.Content = append(m.Content, g.value())
		}
		b.Messages = append(b.Messages, m)
	}
	if g.odds(2) {
		b.Turns = []agjson.TurnRecord{}
		for range rapid.IntRange(0, 3).Draw(g.t, "turns") {
			rec := agjson.TurnRecord{TurnID: g.turn(), ThreadID: "th"}
			if g.odds(2) {
				rec.Outcome = &agjson.SuccessOutcome{}
			}
			if g.odds(3) {
				rec.ParentTurnID = ptr(g.turn())
			}
			b.Turns = append(b.Turns, rec)
		}
	}
	if g.odds(3) {
		b.Artifacts = []agjson.Artifact{{ArtifactID: g.art(), TurnID: "t1", ThreadID: "th", Parts: []agjson.Block{g.value()}}}
	}
	if g.odds(3) {
		b.Memory = []agjson.MemoryRecord{{Scope: agjson.MemoryScope(g.pick("scope", "thread", "user")), Value: g.object()}}
	}
	return agjson.Event{Body: b}
}

// hostile draws a stream in which anything may follow anything, snapshots and odd seqs included.
func hostile(t *rapid.T) []agjson.Event {
	g := gen{t: t, wild: true}
	var out []agjson.Event
	g.s = reducer.NewStructure()
	seq := int64(-1)
	for range rapid.IntRange(1, 60).Draw(t, "length") {
		ev := g.event()
		if g.odds(12) {
			ev = g.snapshotEvent()
		}
		switch g.pick("seq", "next", "next", "next", "next", "next", "next", "next", "next", "same", "back", "gap", "zero") {
		case "next":
			seq++
		case "back":
			seq = max(0, seq-3)
		case "gap":
			if g.odds(4) {
				seq += 2
			} else {
				seq++
			}
		case "zero":
			if g.odds(4) {
				seq = 0
			} else {
				seq++
			}
		}
		ev.Seq = max(seq, 0)
		seq = ev.Seq
		g.s.Apply(&ev)
		out = append(out, wire(t, ev))
	}
	return out
}

// admitted draws a stream that parks nobody: what a Structure refuses is not written, as by the writer of a log. It begins
// as every log does, and as there no turn that was closed is opened again.
func admitted(t *rapid.T) []agjson.Event {
	first := agjson.Event{Body: &agjson.MessagesSnapshot{
		Messages: []agjson.Message{}, Turns: []agjson.TurnRecord{}, Artifacts: []agjson.Artifact{}, Memory: []agjson.MemoryRecord{},
	}}
	out := []agjson.Event{first}
	s := reducer.NewStructure()
	s.Apply(&first)
	g := gen{t: t, s: s}
	for range rapid.IntRange(20, 300).Draw(t, "tries") {
		ev := g.event()
		ev.Seq = int64(len(out))
		switch ev.Body.(type) {
		case *agjson.TurnStart, *agjson.SubagentStart:
			if known, open := s.Turn(ev.TurnID); known && !open {
				continue
			}
		}
		if s.Admit(&ev) == "" {
			s.Apply(&ev)
			if s.Parked() != "" {
				t.Fatalf("admitted, and then parked: %s", s.Parked())
			}
			out = append(out, wire(t, ev))
		}
	}
	return out
}

// wire passes the event through bytes, as between processes.
func wire(t *rapid.T, ev agjson.Event) agjson.Event {
	out, err := agjson.Decode(agjson.AppendEvent(nil, &ev))
	if err != nil {
		t.Fatalf("%s: %v", agjson.AppendEvent(nil, &ev), err)
	}
	return out
}

func describe(events []agjson.Event) string {
	s := ""
	for i := range events {
		if _, ok := events[i].Body.(*agjson.Ext); !ok {
			s += fmt.Sprintf("%s\n", agjson.AppendEvent(nil, &events[i]))
		}
	}
	return s
}
