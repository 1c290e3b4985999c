package vercel

import (
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// finish ends the turn by the reason that the SDK gives.
func (f *facet) finish(v agjson.Value) {
	if f.RootTurn() == "" && f.Opened() {
		f.Carry("finish", v) // the turn has ended before
		return
	}
	turn := f.OpenTurn("", nil)
	reason, meta := v.Get("finishReason"), v.Get("messageMetadata").RawSet()
	if meta != nil && f.last == "" {
		f.ensureMessage() // to carry it
	}
	used := usage(v.Get("totalUsage"))
	f.cut = f.cut || len(f.parts) > 0
	f.close()

	named := v.Get("rawFinishReason").Set() || used != nil || !v.Get("totalUsage").Exists()
	end := f.terminal(reason, used, named)
	if done, ok := end.(*agjson.TurnDone); ok {
		ev := agjson.Event{TurnID: turn, Body: done}
		if meta != nil {
			done.MessageMetadata, ev.MessageID = meta, f.last
		}
		f.Emit(ev)
	} else {
		if meta != nil {
			f.Emit(agjson.Event{MessageID: f.last, Body: &agjson.MessageMetadata{Metadata: asObject("messageMetadata", v.Get("messageMetadata"))}})
		}
		f.CloseTurn(turn, end)
	}
	f.run = run{}
}

// terminal is the honest end for a finish reason. A model stream that stopped without an end is "other" to the SDK, and so is a
// provider's reason that the SDK has no word for; the first leaves parts open, or (fullStream) has not named its reason nor
// counted anything.
func (f *facet) terminal(reason agjson.Value, used *agjson.Usage, named bool) agjson.Body {
	said := reason.Str()
	switch {
	case said == "error", f.failure != nil && said == "":
		return f.failure.terminal(used)
	case said == "interrupted":
		return &agjson.TurnAbort{Reason: new("interrupted")}
	case said == "other" && (f.cut || !named):
		return &agjson.TurnAbort{Reason: new("stream-truncated")}
	}
	done := &agjson.TurnDone{FinishReason: finishReason(said), Usage: used}
	switch {
	case len(f.asks) > 0:
		done.Outcome, done.FinishReason = &agjson.PausedOutcome{Asks: f.asks}, agjson.FinishReasonPaused
	case said == "length":
		done.Outcome = &agjson.ErrorOutcome{Message: "the token limit cut the answer", Code: new("token_limit")}
	case said == "tool-calls" && f.answered():
		done.Outcome = &agjson.AbortedOutcome{Reason: new("stop-condition")}
	default:
		done.Outcome = &agjson.SuccessOutcome{}
	}
	return done
}

// answered says whether the run made tool calls and all have results: then it was not the client's turn to act, and only a
// stop condition ends a run on tool calls.
func (f *facet) answered() bool {
	for _, t := range f.tools {
		if !t.done {
			return false
		}
	}
	return len(f.tools) > 0
}

func (e *failure) terminal(used *agjson.Usage) *agjson.TurnError {
	if e == nil {
		return &agjson.TurnError{Message: maskedError, Usage: used}
	}
	return &agjson.TurnError{Message: e.message, Code: e.code, Retriable: e.retriable, Usage: used}
}

// close ends what is open of the turn, the turn itself apart.
func (f *facet) close() {
	f.orphans()
	f.endParts()
	for _, h := range f.held {
		if h.ended {
			f.CloseMessage(h.id, h.usage)
		}
	}
	f.held = nil
	f.endStep(nil)
}

func (f *facet) abort(v agjson.Value) {
	if f.RootTurn() == "" && f.Opened() {
		f.Carry("abort", v)
		return
	}
	turn := f.OpenTurn("", nil)
	f.close()
	f.CloseTurn(turn, &agjson.TurnAbort{Reason: v.Get("reason").StrPtr()})
	f.run = run{}
}

// HostTerminal ends the turn as an error of the stream that no finish follows.
func (f *facet) HostTerminal(h normalizer.HostError) {
	if f.RootTurn() == "" && f.Opened() {
		f.HostError(h)
		return
	}
	turn := f.OpenTurn("", nil)
	e := failure{message: h.Message}
	if h.Code != "" {
		e.code = new(h.Code)
	}
	f.Emit(agjson.Event{TurnID: turn, Body: &agjson.Error{Message: e.message, Code: e.code}})
	f.close()
	f.CloseTurn(turn, e.terminal(h.Usage))
	f.run = run{}
}

// End says how an error ended the stream; without one the engine calls it truncated.
func (f *facet) End() {
	turn := f.RootTurn()
	if turn == "" {
		return
	}
	f.orphans()
	for _, s := range f.steered {
		f.say(s)
	}
	for _, h := range f.held {
		f.CloseMessage(h.id, h.usage)
	}
	if f.failure != nil {
		f.CloseTurn(turn, f.failure.terminal(nil))
	}
	f.run = run{}
}
