package claude

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// system maps the frames of the harness. All that have no home in the vocabulary are carried (SPEC §8 item 22).
func (f *facet) system(v agjson.Value) {
	kind := v.Get("subtype").Str()
	switch kind {
	case "permission_denied":
		f.permissionDenied(v)
	case "informational":
		f.informational(v)
	case "model_refusal_fallback":
		f.refusedFor(v.Get("api_refusal_category"))
		if l := f.lanes[""]; l != nil {
			f.sealExecuted(l)
		}
		f.remove(v.Get("retracted_message_uuids"))
		f.carry(kind, v)
	case "model_refusal_no_fallback":
		f.refusedFor(v.Get("api_refusal_category"))
		f.carry(kind, v)
	case "task_started":
		if v.Get("is_backgrounded").Bool() {
			f.background(v.Get("tool_use_id").Str())
		}
		f.carry(kind, v)
	case "task_notification":
		f.carry(kind, v)
		f.taskEnded(v)
	case "compact_boundary":
		f.summary = true
		f.carry(kind, v)
	case "":
		f.Unparsed(v)
	default:
		f.carry(kind, v)
	}
}

// informational is a notice of the transcript (SPEC §8 item 21).
func (f *facet) informational(v agjson.Value) {
	list := []agjson.Member{
		{Name: "content", Value: v.Get("content").Raw()},
		{Name: "level", Value: v.Get("level").Raw()},
		{Name: "preventContinuation", Value: v.Get("prevent_continuation").Raw()},
		{Name: "toolUseId", Value: v.Get("tool_use_id").RawSet()},
		{Name: "tag", Value: v.Get("tag").RawSet()},
	}
	kept := list[:0]
	for _, m := range list {
		if m.Value != nil {
			kept = append(kept, m)
		}
	}
	f.emitExt(v, "informational", kept...)
}

// refusedFor keeps the category of a refusal for the turn that may end with it.
func (f *facet) refusedFor(category agjson.Value) {
	if c := category.Str(); c != "" {
		f.refusal = strings.Clone(c)
	}
}

// background lets the subagent of a call run on beyond its call's result and the turn around it.
func (f *facet) background(spawn string) {
	if spawn == "" {
		return
	}
	l := f.lanes[spawn]
	if l == nil {
		l = &lane{spawn: spawn}
		f.lanes[spawn] = l
		f.order = append(f.order, l)
	}
	l.apart = true
	if f.TurnOpen(l.turn) {
		f.Detach(l.turn)
	}
}

// subagentReturned ends a subagent's turn at its call's result; one that was only launched goes on.
func (f *facet) subagentReturned(l *lane, d *agjson.ToolDone, twin agjson.Value) {
	if twin.Get("isAsync").Bool() || twin.Get("status").Str() == "async_launched" {
		f.background(l.spawn)
		return
	}
	if !f.TurnOpen(l.turn) || l.apart {
		return
	}
	f.closeMessages(l)
	end := nestedDone(twin.Get("totalTokens"))
	if d.Outcome != agjson.ToolOutcomeOk {
		text := "the subagent's call failed"
		if d.ErrorText != nil && *d.ErrorText != "" {
			text = *d.ErrorText
		}
		end = &agjson.TurnError{Message: text}
	}
	f.SubagentDone(l.turn, end)
}

// nestedDone is a subagent's success, with the running total that the SDK reports of it.
func nestedDone(tokens agjson.Value) agjson.Body {
	var u *agjson.Usage
	if n := tokens.Number(); n != "" {
		u = &agjson.Usage{TotalTokens: n, Cumulative: new(true)}
	}
	return &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: agjson.FinishReasonStop, Usage: u}
}

// taskEnded ends the turn of a background subagent.
func (f *facet) taskEnded(v agjson.Value) {
	l := f.lanes[v.Get("tool_use_id").Str()]
	if l == nil || l.spawn == "" || !l.apart || !f.TurnOpen(l.turn) {
		return
	}
	f.closeMessages(l)
	switch v.Get("status").Str() {
	case "completed":
		f.SubagentDone(l.turn, nestedDone(v.Path("usage", "total_tokens")))
	case "stopped", "killed":
		f.SubagentDone(l.turn, &agjson.TurnAbort{Reason: v.Get("status").StrPtr()})
	default:
		f.SubagentDone(l.turn, &agjson.TurnError{Message: orElse(v.Get("summary").Str(), "the task failed"), Code: v.Get("status").StrPtr()})
	}
}

// controlRequest maps what the CLI asks its host, where the raw stream is at hand: a permission is an ask (SPEC §7).
func (f *facet) controlRequest(v agjson.Value) {
	r := v.Get("request")
	id := v.Get("request_id").Str()
	if r.Get("subtype").Str() != "can_use_tool" || id == "" {
		f.carry("control_request", v)
		return
	}
	f.Emit(agjson.Event{TurnID: f.root(), Body: &agjson.HitlAsk{
		AskID: id, Kind: agjson.AskKindApproval, ToolCallID: r.Get("tool_use_id").StrPtr(), Continuation: agjson.ContinuationResume,
		Message: r.Get("title").StrPtr(), Reason: r.Get("decision_reason").StrPtr(),
		Metadata: normalizer.Object(
			agjson.Member{Name: "toolName", Value: r.Get("tool_name").RawSet()},
			agjson.Member{Name: "input", Value: r.Get("input").RawSet()},
			agjson.Member{Name: "permissionSuggestions", Value: r.Get("permission_suggestions").RawSet()},
			agjson.Member{Name: "blockedPath", Value: r.Get("blocked_path").RawSet()},
			agjson.Member{Name: "agentId", Value: r.Get("agent_id").RawSet()},
		),
	}})
}
