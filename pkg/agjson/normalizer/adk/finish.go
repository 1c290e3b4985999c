package adk

import (
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// failed says whether the event is an error and nothing else. An error's code beside content is a reason for stopping.
func (ev *event) failed() bool {
	return ev.errorCode != "" && ev.finish == "" && ev.parts.Len() == 0 && !blocks(ev.errorCode)
}

// judge notes what an event means for the end of the turn, should nothing follow. There is no terminal: the iterator just ends,
// after an answer, a request, an error, or anywhere, when the run was cut.
func (f *facet) judge(l *lane, ev *event) {
	if ev.failed() {
		f.fail(l, ev)
		return
	}
	if ev.parts.Len() > 0 || ev.finish != "" || ev.errorCode != "" {
		l.active, l.failure = true, nil
	}
	again := ev.parts.Len() == 0 && l.answered && ev.usage.Exists() && string(ev.usage.Raw()) == l.nowRaw && ev.errorCode == "" // of the call before the results
	if !again && (ev.finish != "" || ev.errorCode != "") {
		l.reason, l.soft, l.why = ev.finish, false, ev.errorMessage
		if ev.finish == "" {
			l.reason, l.soft = ev.errorCode, true
		}
	}
	switch {
	case ev.turnComplete:
		l.active, l.done = true, true
	case ev.partial:
		l.done = l.done && ev.parts.Len() == 0
	case ev.longRunning.Len() > 0:
		l.active, l.done = true, true
	case ev.responses > 0:
		l.done = ev.actions.Get("skipSummarization").Bool() || ev.actions.Get("requestedAuthConfigs").Len() > 0 ||
			ev.actions.Get("requestedToolConfirmations").Len() > 0
	case ev.calls > 0:
		l.done = false
	case ev.finish != "" || ev.errorCode != "":
		l.done = l.done || !again
	case ev.said() && !ev.settled:
		l.done = true
	}
	if ev.errorCode != "" && ev.finish == "" && ev.parts.Len() == 0 { // how the SDK says that the prompt was refused
		f.Emit(agjson.Event{TurnID: l.turn, Body: &agjson.PromptBlocked{
			Reason: blockReason(ev.errorCode), Safety: []agjson.Safety{{Category: ev.errorCode, Blocked: new(true)}},
		}})
	}
}

// fail says an error. It is a terminal only if nothing follows.
func (f *facet) fail(l *lane, ev *event) {
	fail := &failure{code: ev.errorCode, message: ev.errorMessage}
	if fail.message == "" {
		fail.message = fail.code
	}
	l.active, l.done, l.failure = true, false, fail
	var meta []agjson.Member
	for _, m := range ev.rest {
		meta = append(meta, agjson.Member{Name: "adk/" + m.Name, Value: m.Value})
	}
	f.Emit(agjson.Event{TurnID: l.turn, Meta: normalizer.Object(meta...), Body: &agjson.Error{Message: fail.message, Code: new(fail.code)}})
}

// finish ends the turn by what was said last; it leaves open one that was cut.
func (f *facet) finish() {
	main := f.lanes[0]
	done, last := !main.active || main.done, main
	active, failed := main.active, main.failure
	for _, l := range f.lanes[1:] {
		active = true
		if l.closed {
			continue
		}
		done = done && l.done
		if l.failure != nil && failed == nil {
			failed = l.failure
		}
		if _, ok := last.terminal().Outcome.(*agjson.SuccessOutcome); ok && !main.active {
			last = l
		}
	}
	if failed == nil && !(active && done) {
		return
	}
	for i := len(f.lanes) - 1; i > 0; i-- {
		if l := f.lanes[i]; !l.closed {
			f.join(l, false)
		}
	}
	f.over = true
	if failed != nil {
		f.CloseTurn(f.turn, failed.terminal(f.spent()))
		return
	}
	f.confirm()
	f.endStream(main)
	end := last.terminal()
	if raw := last.lossy(); raw != nil && main.message != "" {
		f.Emit(agjson.Event{MessageID: main.message, Body: &agjson.MessageMetadata{Metadata: raw}})
	}
	if len(f.asks) > 0 {
		end.Outcome = &agjson.PausedOutcome{Asks: f.asks}
	}
	end.Usage = f.spent()
	f.CloseTurn(f.turn, end)
}

// join ends the nested turn of a branch: as it said itself, and, when the run went on without it, as a success.
func (f *facet) join(l *lane, went bool) {
	l.closed = true
	var end agjson.Body
	switch {
	case l.failure != nil:
		end = l.failure.terminal(nil)
	case l.done || went:
		f.endStream(l)
		if raw := l.lossy(); raw != nil && l.message != "" {
			f.Emit(agjson.Event{MessageID: l.message, Body: &agjson.MessageMetadata{Metadata: raw}})
		}
		end = l.terminal()
	default:
		end = &agjson.TurnAbort{Reason: new("stream-truncated")}
	}
	f.SubagentDone(l.turn, end)
}

// abort ends the turn without success (SPEC §8 item 17).
func (f *facet) abort(reason string) {
	for i := len(f.lanes) - 1; i > 0; i-- {
		if l := f.lanes[i]; !l.closed {
			l.closed = true
			f.SubagentDone(l.turn, &agjson.TurnAbort{Reason: new(reason)})
		}
	}
	f.over = true
	f.CloseTurn(f.turn, &agjson.TurnAbort{Reason: new(reason)})
}

func (e *failure) terminal(used *agjson.Usage) *agjson.TurnError {
	return &agjson.TurnError{Message: e.message, Code: new(e.code), Usage: used}
}

// terminal is the honest end for the reason for which the model stopped. One that the SDK reports as an error is one, and so is one
// that cut the answer or refused it.
func (l *lane) terminal() *agjson.TurnDone {
	end := &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: agjson.FinishReasonStop}
	if l.reason == "" {
		return end
	}
	end.FinishReason = finishReason(l.reason)
	why := ""
	switch {
	case end.FinishReason == agjson.FinishReasonTokenLimit:
		why = "the token limit cut the answer"
	case end.FinishReason == agjson.FinishReasonSafetyBlocked:
		why = "the answer was blocked: " + l.reason
		end.Safety = []agjson.Safety{{Category: l.reason, Blocked: new(true)}}
	case end.FinishReason == agjson.FinishReasonMalformedToolCall:
		why = "the model made a malformed tool call"
	case end.FinishReason == agjson.FinishReasonUnexpectedToolCall:
		why = "the model called a tool that it was not given"
	case l.soft:
		why = l.reason
	default:
		return end
	}
	if l.why != "" {
		why = l.why
	}
	end.Outcome = &agjson.ErrorOutcome{Message: why, Code: new(l.reason)}
	return end
}

// lossy is the metadata of a reason that finishReason does not keep; nil for others.
func (l *lane) lossy() []byte {
	switch finishReason(l.reason) {
	case agjson.FinishReasonOther, agjson.FinishReasonUnknown:
	default:
		return nil
	}
	switch {
	case l.reason == "":
		return nil
	case l.soft:
		return object1("rawErrorCode", agjson.Quote(l.reason))
	}
	return object1("rawFinishReason", agjson.Quote(l.reason))
}

// finishReason is Gemini's reason in the words of SPEC §4.
func finishReason(reason string) agjson.FinishReason {
	switch reason {
	case "STOP":
		return agjson.FinishReasonStop
	case "MAX_TOKENS":
		return agjson.FinishReasonTokenLimit
	case "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT",
		"IMAGE_RECITATION", "MODEL_ARMOR", "JAILBREAK":
		return agjson.FinishReasonSafetyBlocked
	case "MALFORMED_FUNCTION_CALL":
		return agjson.FinishReasonMalformedToolCall
	case "UNEXPECTED_TOOL_CALL":
		return agjson.FinishReasonUnexpectedToolCall
	case "LANGUAGE", "OTHER", "NO_IMAGE", "IMAGE_OTHER", "TOO_MANY_TOOL_CALLS":
		return agjson.FinishReasonOther
	}
	return agjson.FinishReasonUnknown
}
