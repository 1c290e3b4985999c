package claude

import (
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// result ends the turn (SPEC §5 INV-TURN): denials that nothing has said, what the result says beside the outcome, the terminal.
func (f *facet) result(v agjson.Value) {
	if uuid := v.Get("uuid").Str(); uuid != "" {
		if f.results[uuid] {
			f.carry("result", v)
			return
		}
		f.results[strings.Clone(uuid)] = true
	}
	for _, l := range f.order {
		if !l.apart {
			f.closeMessages(l)
		}
	}
	turn := f.root()
	end := f.terminal(v)
	f.denials(v.Get("permission_denials"))
	f.resultMeta(v, end)
	f.endSubagents(&agjson.TurnAbort{Reason: new("parent-ended")})
	f.CloseTurn(turn, end)
	f.failure, f.refusal = nil, ""
}

// terminal says how the turn ended. The subtype success alone says nothing: is_error, terminal_reason and stop_reason do.
func (f *facet) terminal(v agjson.Value) agjson.Body {
	subtype, reason, stop := v.Get("subtype").Str(), v.Get("terminal_reason").Str(), v.Get("stop_reason").Str()
	usage := turnUsage(v)
	finish := finishOf(stop)
	if reason == "aborted_streaming" || reason == "aborted_tools" { // SPEC §8 item 17
		return &agjson.TurnAbort{Reason: new(reason)}
	}
	if subtype != "success" {
		return &agjson.TurnError{Message: errorsOf(v, subtype), Code: new(subtype), Retriable: new(subtype == "error_during_execution"), Usage: maybeUsage(usage)}
	}
	done := &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{Result: resultOf(v)}, FinishReason: finish, Usage: usage}
	if finish == agjson.FinishReasonRefusal {
		done.Safety = []agjson.Safety{{Category: orElse(f.refusal, "refusal"), Blocked: new(true)}}
	}
	failed := v.Get("is_error").Bool()
	switch {
	case v.Get("deferred_tool_use").Set():
		f.pause(done, v.Get("deferred_tool_use"))
	case finish == agjson.FinishReasonRefusal, finish == agjson.FinishReasonTokenLimit, finish == agjson.FinishReasonContextWindowExceeded:
		done.Outcome = &agjson.ErrorOutcome{Message: orElse(v.Get("result").Str(), stop), Code: new(stop)}
	case failed:
		return f.failed(v, reason, usage)
	case reason != "" && reason != "completed":
		done.Outcome = &agjson.AbortedOutcome{Reason: new(reason)}
	}
	return done
}

// failed is an API error, which the CLI reports under the subtype success.
func (f *facet) failed(v agjson.Value, reason string, usage *agjson.Usage) agjson.Body {
	x := &failure{code: reason, message: v.Get("result").Str()}
	if f.failure != nil {
		x.code = f.failure.code
		x.message = orElse(x.message, f.failure.message)
	}
	if x.code == "" {
		x.code = "error"
	}
	return x.terminal(maybeUsage(usage))
}

// terminal is the turn.error of an API error.
func (x *failure) terminal(usage *agjson.Usage) *agjson.TurnError {
	retriable := false
	switch x.code {
	case "rate_limit", "overloaded", "server_error":
		retriable = true
	}
	return &agjson.TurnError{Message: orElse(x.message, x.code), Code: new(x.code), Retriable: new(retriable), Usage: usage}
}

func maybeUsage(u *agjson.Usage) *agjson.Usage {
	if spent(u) {
		return u
	}
	return nil
}

func errorsOf(v agjson.Value, subtype string) string {
	var list []string
	for _, e := range v.Get("errors").Items {
		if s := e.Str(); s != "" {
			list = append(list, s)
		}
	}
	return orElse(strings.Join(list, "\n"), subtype)
}

func resultOf(v agjson.Value) []byte {
	if s := v.Get("structured_output"); s.Exists() {
		return s.Raw()
	}
	return v.Get("result").Raw()
}

// finishOf maps a stop_reason.
func finishOf(stop string) agjson.FinishReason {
	switch stop {
	case "end_turn", "stop_sequence":
		return agjson.FinishReasonStop
	case "max_tokens":
		return agjson.FinishReasonTokenLimit
	case "model_context_window_exceeded":
		return agjson.FinishReasonContextWindowExceeded
	case "tool_use":
		return agjson.FinishReasonToolCall
	case "pause_turn":
		return agjson.FinishReasonPauseTurn
	case "refusal":
		return agjson.FinishReasonRefusal
	case "":
		return agjson.FinishReasonUnknown
	}
	return agjson.FinishReasonOther
}

// pause is a turn that waits for a tool call which a hook has deferred (SPEC §7).
func (f *facet) pause(done *agjson.TurnDone, call agjson.Value) {
	id := call.Get("id").Str()
	meta := normalizer.Object(
		agjson.Member{Name: "toolName", Value: call.Get("name").RawSet()},
		agjson.Member{Name: "input", Value: call.Get("input").RawSet()})
	ask := agjson.PausedAsk{AskID: id, Kind: agjson.AskKindApproval, ToolCallID: call.Get("id").StrPtr(), Metadata: meta}
	f.Emit(agjson.Event{TurnID: f.RootTurn(), Body: &agjson.HitlAsk{AskID: id, Kind: ask.Kind, ToolCallID: ask.ToolCallID, Metadata: meta}})
	done.Outcome = &agjson.PausedOutcome{Asks: []agjson.PausedAsk{ask}, Result: resultOfText(done)}
	done.FinishReason = agjson.FinishReasonPaused
}

func resultOfText(done *agjson.TurnDone) []byte {
	if s, ok := done.Outcome.(*agjson.SuccessOutcome); ok {
		return s.Result
	}
	return nil
}

// resultMeta says what of a result frame has no other home, in one event before the terminal.
func (f *facet) resultMeta(v agjson.Value, end agjson.Body) {
	_, aborted := end.(*agjson.TurnAbort) // has no usage, errors or stop reason
	var rest []agjson.Member
	for name, m := range v.Members {
		if m.Set() && (!hasHome(name) || aborted && (name == "errors" || name == "stop_reason")) {
			rest = append(rest, agjson.Member{Name: name, Value: m.Raw()})
		}
	}
	list := []agjson.Member{
		{Name: "fastModeDisabledReason", Value: v.Get("fast_mode_disabled_reason").RawSet()},
		{Name: "modelUsage", Value: servedBy(v.Get("modelUsage"))},
		{Name: "rest", Value: normalizer.Object(rest...)},
	}
	if u := maybeUsage(turnUsage(v)); aborted && u != nil {
		list = append(list, agjson.Member{Name: "usage", Value: agjson.AppendUsage(nil, u)})
	}
	if list = slices.DeleteFunc(list, func(m agjson.Member) bool { return m.Value == nil }); len(list) > 0 {
		f.emitExt(agjson.Value{}, "result-meta", list...)
	}
}

// hasHome says which members of a result frame the terminal, the denials or the frame itself account for.
func hasHome(name string) bool {
	switch name {
	case "type", "subtype", "uuid", "session_id", "is_error", "result", "errors", "stop_reason", "usage", "modelUsage", "total_cost_usd",
		"permission_denials", "structured_output", "deferred_tool_use", "fast_mode_disabled_reason",
		"duration_ms", "duration_api_ms", "num_turns":
		return true
	}
	return false
}

// servedBy keeps of modelUsage who served each model; the counts are in the usage.
func servedBy(models agjson.Value) []byte {
	var list []agjson.Member
	for model, m := range models.Members {
		if o := normalizer.Object(
			agjson.Member{Name: "canonicalModel", Value: m.Get("canonicalModel").RawSet()},
			agjson.Member{Name: "provider", Value: m.Get("provider").RawSet()},
			agjson.Member{Name: "costBasis", Value: m.Get("costBasis").RawSet()},
			agjson.Member{Name: "cacheCreationEphemeral5mInputTokens", Value: m.Get("cacheCreationEphemeral5mInputTokens").RawSet()},
			agjson.Member{Name: "cacheCreationEphemeral1hInputTokens", Value: m.Get("cacheCreationEphemeral1hInputTokens").RawSet()},
		); o != nil {
			list = append(list, agjson.Member{Name: model, Value: o})
		}
	}
	return normalizer.Object(list...)
}
