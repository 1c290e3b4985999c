package normalizer_test

import (
	"encoding/json"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"pgregory.net/rapid"
)

// TestAnyFacet: whatever a facet calls, in whatever order, the stream keeps the invariants of SPEC §5.0 (INV-SEQ, INV-TURN, INV-MSG,
// INV-BLOCK, INV-OWNER, INV-FLUSH) and folds without parking.
func TestAnyFacet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := normalizer.NewEngine("acme", normalizer.Host{TurnID: rapid.SampledFrom([]string{"", "T"}).Draw(t, "host")})
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			anyCall(t, e)
		}
		var events []agjson.Event
		events = append(events, e.Drain()...)
		e.Flush()
		events = append(events, e.Drain()...)
		agtest.CheckStream(t, events)
		agtest.CheckFold(t, agtest.WithoutOrphans(events))
	})
}

func anyCall(t *rapid.T, e *normalizer.Engine) {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	turn := func() string { return pick("turn", "", "t1", "t2", "sub", "sub2") }
	msg := func() string { return pick("message", "", "m1", "m2", "c1:result") }
	blockID := func() string { return pick("block", "b1", "b2", "b3") }
	call := func() string { return pick("call", "c1", "c2") }
	candidate := func() agjson.Number { return agjson.Number(pick("candidate", "", "0", "1")) }
	ev := agjson.Event{TurnID: turn(), MessageID: msg()}
	switch rapid.IntRange(0, 24).Draw(t, "call") {
	case 0:
		e.OpenTurn(turn(), nil)
	case 1:
		e.SubagentStart(pick("sub", "sub", "sub2", "t1"), &agjson.SubagentStart{ParentTurnID: turn()})
	case 2:
		e.SubagentDone(pick("sub", "sub", "sub2", "t1"), nil)
	case 3:
		e.CloseTurn(turn(), &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: agjson.FinishReasonStop})
	case 4:
		e.CloseTurn(turn(), &agjson.TurnError{Message: "x"})
	case 5:
		e.OpenMessage(turn(), msg(), &agjson.MessageStart{Role: agjson.RoleAssistant, CandidateIndex: candidate()})
	case 6:
		e.CloseMessage(msg(), &agjson.Usage{InputTokens: "1"})
	case 7:
		e.RemoveMessage(pick("remove", "m1", "m2", "c1:result"))
	case 8:
		ev.ID, ev.Body = blockID(), &agjson.TextStart{CandidateIndex: candidate()}
		e.Emit(ev)
	case 9:
		e.TextDelta(blockID(), msg(), "x")
	case 10:
		e.TextSoFar(blockID(), msg(), pick("total", "a", "ab", "abc", "b"))
	case 11:
		e.TextEnd(blockID(), msg(), nil)
	case 12:
		e.ReasoningDelta(blockID(), msg(), "x")
	case 13:
		e.ReasoningOpaque(blockID(), msg(), &agjson.ReasoningOpaque{Kind: agjson.OpaqueKindSignature, Value: "s"})
	case 14:
		e.ReasoningEnd(blockID(), msg(), nil)
	case 15:
		ev.Body = &agjson.ToolStart{ToolCallID: call(), Name: "f", CandidateIndex: candidate()}
		e.Emit(ev)
	case 16:
		e.ToolArgsSoFar(call(), pick("total", "{", "{}", "["))
	case 17:
		e.ToolArgs(&agjson.ToolArgsAssembled{ToolCallID: call(), Input: json.RawMessage("{}")})
	case 18:
		id := call()
		if !e.HasCall(id) {
			return // whether the log knows it only the log can say
		}
		e.ToolDone(turn(), msg(), &agjson.ToolDone{ToolCallID: id, Content: []agjson.Block{}, More: rapid.SampledFrom([]*bool{nil, new(true)}).Draw(t, "more"), CandidateIndex: candidate()})
	case 19:
		ev.Body = &agjson.ContentBlock{Block: &agjson.TextBlock{Text: "x"}, CandidateIndex: candidate()}
		e.Emit(ev)
	case 20:
		ev.Body = &agjson.ContentBlock{Block: &agjson.DataBlock{Name: "d", ID: new(blockID()), Data: json.RawMessage("1")}}
		e.Emit(ev)
	case 21:
		ev.Body = &agjson.MessageMetadata{Metadata: json.RawMessage(`{"k":1}`)}
		e.Emit(ev)
	case 22:
		ev.Body = &agjson.Handoff{}
		e.Emit(ev)
	case 23:
		switch pick("artifact", "start", "delta", "end") {
		case "start":
			ev.Body = &agjson.ArtifactStart{ArtifactID: "a"}
		case "delta":
			ev.Body = &agjson.ArtifactDelta{ArtifactID: "a", Part: &agjson.TextBlock{Text: "x"}}
		default:
			ev.Body = &agjson.ArtifactEnd{ArtifactID: "a"}
		}
		e.Emit(ev)
	default:
		e.HostError(normalizer.HostError{Code: "c", Message: "m"})
	}
}
