package openai

import (
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// runItem maps what the SDK makes of a response: mostly what its stream has said before, and the results of calls.
func (f *facet) runItem(v agjson.Value) {
	item := v.Get("item")
	raw := either(item, "rawItem", "raw_item")
	known := raw.Kind() == agjson.KindObject
	agent := item.Get("agent").Get("name").Str()
	if known {
		switch v.Get("name").Str() {
		case "message_output_created":
			f.messageCreated(raw)
		case "reasoning_item_created":
			f.reasoningCreated(raw)
		case "compaction_item_created":
			f.compactionCreated(raw)
		case "tool_called", "tool_search_called", "handoff_requested":
			known = f.called(raw)
		case "tool_output", "tool_search_output_created":
			known = isOutput(raw.Get("type").Str()) && f.output(raw, item)
		case "handoff_occurred", "handoff_occured": // as older Python SDKs spell it
			f.speaks(agent)
			agent = ""
			f.handedOff(raw, item)
		case "tool_approval_requested":
			known = f.approval(raw, item)
		default:
			known = false
		}
	}
	if !known {
		f.unknownItem(v)
	}
	f.speaks(agent)
}

// unknownItem carries a run item that is none, or does not say which call it is of.
func (f *facet) unknownItem(v agjson.Value) {
	item := v.Get("item")
	switch v.Get("name").Str() {
	case "tool_search_called", "tool_search_output_created":
		item = either(item, "rawItem", "raw_item")
	}
	f.Ext("unparsed", normalizer.Object(
		agjson.Member{Name: "name", Value: v.Get("name").Raw()}, agjson.Member{Name: "item", Value: item.Raw()}))
}

// speaks notes the agent of a run item. The first one of a run is not announced; its message is told by metadata.
func (f *facet) speaks(agent string) {
	if agent == "" {
		return
	}
	f.agent = strings.Clone(agent)
	if r := f.round; r != nil && !r.closed && r.agent != f.agent {
		r.agent = f.agent
		f.Emit(agjson.Event{MessageID: r.message, Body: &agjson.MessageMetadata{
			Metadata: normalizer.Object(agjson.Member{Name: "agentName", Value: agjson.Quote(agent)}),
		}})
	}
}

// called says a call, unless the response's stream has said it. It answers false for what is none.
func (f *facet) called(v agjson.Value) bool {
	call := callID(v)
	if !isCall(v.Get("type").Str()) || call == "" {
		return false
	}
	if f.HasCall(call) && (f.round == nil || f.round.closed || f.round.callOf(call) == nil) {
		return true
	}
	f.wholeCall(f.current(), v)
	return true
}

// handedOff is a handoff that took place: the result of the call that asked for it, and the edge.
func (f *facet) handedOff(v, item agjson.Value) {
	r := f.current()
	if call := either(v, "callId", "call_id").Str(); f.HasCall(call) {
		f.output(v, agjson.Value{})
	}
	h := &agjson.Handoff{Kind: agjson.HandoffKindTransfer}
	h.FromAgentID = either(item, "sourceAgent", "source_agent").Get("name").StrPtr() // agents have no other id than their name
	h.ToAgentName = either(item, "targetAgent", "target_agent").Get("name").StrPtr()
	if h.ToAgentName != nil {
		f.agent = strings.Clone(*h.ToAgentName)
	}
	f.Emit(agjson.Event{TurnID: r.turn, Body: h})
}

func (f *facet) compactionCreated(v agjson.Value) {
	id := v.Get("id").Str()
	if r := f.round; r != nil {
		if it := r.known(otherItem, id); it != nil && it.done {
			return
		}
	}
	f.compaction(f.current(), v)
}

// approval asks for leave to run a call (SPEC §7). It answers false when it does not say for which.
func (f *facet) approval(v, item agjson.Value) bool {
	call := callID(v)
	if call == "" {
		return false
	}
	turn := f.RootTurn()
	if turn == "" {
		turn = f.current().turn
	}
	ask := agjson.PausedAsk{
		AskID: "approval_" + call, Kind: agjson.AskKindApproval, ToolCallID: new(call),
		Metadata: normalizer.Object(agjson.Member{Name: "toolName", Value: text(either(item, "toolName", "tool_name"))}),
	}
	if slices.ContainsFunc(f.asks, func(a agjson.PausedAsk) bool { return a.AskID == ask.AskID }) {
		return true
	}
	f.asks = append(f.asks, ask)
	f.Emit(agjson.Event{TurnID: turn, Body: &agjson.HitlAsk{
		AskID: ask.AskID, Kind: ask.Kind, ToolCallID: ask.ToolCallID, Metadata: ask.Metadata, Continuation: agjson.ContinuationResume,
	}})
	return true
}

// answer drops the ask of a call that has a result.
func (f *facet) answer(call string) {
	f.asks = slices.DeleteFunc(f.asks, func(a agjson.PausedAsk) bool { return *a.ToolCallID == call })
}
