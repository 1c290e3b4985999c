package vercel

import (
	"slices"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// approvalRequest asks for leave to run a call (SPEC §7). One that the SDK answers itself asks nobody.
func (f *facet) approvalRequest(v agjson.Value) {
	id, call := idOf(v.Get("approvalId")), v.Get("toolCallId")
	if !call.Exists() {
		call = v.Path("toolCall", "toolCallId")
	}
	if id == "" {
		f.Unparsed(v)
		return
	}
	if v.Get("isAutomatic").Bool() {
		f.noteApproval(id, idOf(call))
		f.Carry("tool-approval-request", v)
		return
	}
	f.ask(id, idOf(call), v)
}

func (f *facet) noteApproval(id, call string) {
	if f.approvals == nil {
		f.approvals = map[string]string{}
	}
	f.approvals[id] = call
}

// ask says that the approval id of a call waits for its answer; v has its circumstances.
func (f *facet) ask(id, call string, v agjson.Value) {
	turn := f.OpenTurn("", nil)
	f.noteApproval(id, call)
	ask := agjson.PausedAsk{
		AskID: id, Kind: agjson.AskKindApproval, Reason: v.Get("reason").StrPtr(),
		Metadata: normalizer.Object(
			agjson.Member{Name: "approvalDescriptor", Value: v.Get("approvalDescriptor").Raw()},
			agjson.Member{Name: "inputSchemaInput", Value: v.Get("inputSchemaInput").Raw()},
		),
	}
	if call != "" {
		ask.ToolCallID = new(call)
	}
	if sig := v.Get("signature").StrPtr(); sig != nil {
		ask.Token = new(agjson.Secret(*sig))
	}
	f.asks = append(f.asks, ask)
	f.Emit(agjson.Event{TurnID: turn, Body: &agjson.HitlAsk{
		AskID: ask.AskID, Kind: ask.Kind, ToolCallID: ask.ToolCallID, Reason: ask.Reason, Metadata: ask.Metadata, Token: ask.Token,
		Continuation: agjson.ContinuationTurn,
	}})
}

// approvalResponse is an answer that came within the run; the answers of people come as input.
func (f *facet) approvalResponse(v agjson.Value) {
	f.settle(idOf(v.Get("approvalId")), v)
	f.Carry("tool-approval-response", v)
}

// settle drops the ask that v answers.
func (f *facet) settle(id string, v agjson.Value) {
	f.asks = slices.DeleteFunc(f.asks, func(a agjson.PausedAsk) bool { return a.AskID == id })
	if t := f.tools[f.approvals[id]]; t != nil && v.Get("approved").Kind() == agjson.KindFalse {
		t.denied = v.Get("reason").StrPtr()
	}
}

// answer drops the asks of a call that has a result.
func (f *facet) answer(toolCallID string) {
	f.asks = slices.DeleteFunc(f.asks, func(a agjson.PausedAsk) bool {
		return a.ToolCallID != nil && *a.ToolCallID == toolCallID
	})
}
