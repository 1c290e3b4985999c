package openai

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// vendor is the namespace of this facet's ext events (SPEC §12), and the provider of its opaque blobs.
const vendor = "openai"

// New is a Normalizer of one run() of the OpenAI Agents SDK.
func New(host normalizer.Host) *normalizer.Runner {
	return normalizer.Run(&facet{Engine: normalizer.NewEngine(vendor, host), ended: map[string]bool{}})
}

type facet struct {
	*normalizer.Engine
	round    *round          // the last one
	ended    map[string]bool // responses that are complete, by id
	agent    string          // that speaks, once a frame has said so
	asks     []agjson.PausedAsk
	searches []string          // tool searches that have no output yet, oldest first
	found    map[string]string // searches by the id of the output that was paired with them by position
	marked   bool              // calls that were executed are marked as such in this stream
	failure  *agjson.TurnError
	failed   bool // the last turn ended as something else than a success
}

// Frame maps one frame.
func (f *facet) Frame(v agjson.Value) {
	switch v.Get("type").Str() {
	case "raw_model_stream_event":
		f.model(v)
	case "raw_response_event": // the Python SDK's, without the normalized twins
		f.modelEvent(v, v.Get("data"))
	case "run_item_stream_event":
		f.runItem(v)
	case "agent_updated_stream_event":
		f.agentUpdated(v)
	default:
		f.Unparsed(v)
	}
}

// model maps what a model's stream says: the SDK's own four kinds of event, one of which wraps the provider's.
func (f *facet) model(v agjson.Value) {
	data := v.Get("data")
	switch data.Get("type").Str() {
	case "response_started":
		f.responseStarted(data.Get("providerData"))
	case "output_text_delta":
		f.outputTextDelta(data)
	case "response_done":
		f.responseDone(data.Get("response"))
	case "model":
		f.modelEvent(v, data.Get("event"))
	default:
		f.Unparsed(v)
	}
}

// modelEvent maps an event of the provider's: of the Responses API, or a chunk of Chat Completions. Another provider's is carried.
func (f *facet) modelEvent(frame, ev agjson.Value) {
	kind := ev.Get("type").Str()
	switch {
	case strings.HasPrefix(kind, "response.") || kind == "error":
		f.responses(kind, ev)
	case ev.Get("object").Str() == "chat.completion.chunk" || ev.Get("choices").Kind() == agjson.KindList:
		f.chunk(ev)
	case ev.Kind() == agjson.KindObject:
		f.Carry("model", ev)
	default:
		f.Unparsed(frame)
	}
}

// agentUpdated notes who speaks from now on; message.start says it.
func (f *facet) agentUpdated(v agjson.Value) {
	agent := v.Get("agent")
	if !agent.Exists() {
		agent = v.Get("new_agent")
	}
	name := agent.Get("name").Str()
	if name == "" {
		f.Unparsed(v)
		return
	}
	f.agent = strings.Clone(name)
}

// HostTerminal ends the run by what the SDK threw (SPEC §8.0 host obligation 1). The turn of a response that is complete is still
// open then, and becomes the error's; one that had to be closed before is followed by one that the error ends.
func (f *facet) HostTerminal(h normalizer.HostError) {
	if f.RootTurn() == "" && f.Opened() && f.failed {
		f.HostError(h)
		return
	}
	turn := f.OpenTurn("", nil)
	if r := f.round; r != nil && !r.closed {
		f.endBlocks(r)
		if r.done != nil && h.Usage == nil {
			h.Usage = r.done.Usage
		}
		r.ended, r.closed = true, true
	}
	if target := tripped(h.Code); target != "" {
		f.Emit(agjson.Event{TurnID: turn, Body: &agjson.GuardrailResult{
			Target: target, Action: agjson.GuardrailActionBlock, Reason: new(h.Message),
		}})
	}
	f.failed = true
	f.HostError(h)
}

// tripped is the guardrail that an error of that code is of; "" when it is of none.
func tripped(code string) agjson.GuardrailTarget {
	switch code {
	case "InputGuardrailTripwireTriggered", "input_guardrail":
		return agjson.GuardrailTargetInput
	case "OutputGuardrailTripwireTriggered", "output_guardrail":
		return agjson.GuardrailTargetOutput
	case "ToolInputGuardrailTripwireTriggered", "ToolOutputGuardrailTripwireTriggered", "tool_guardrail":
		return agjson.GuardrailTargetTool
	}
	return ""
}

// End says how the run ended, for which the SDK has no event: paused when it asks for an approval, a success when the last response is
// complete and its calls have their results (SPEC §8 item 14). What is left open was cut, and the engine says so.
func (f *facet) End() {
	turn, r := f.RootTurn(), f.round
	if turn == "" {
		return
	}
	live := r != nil && !r.closed
	switch {
	case live && !r.ended && f.failure == nil:
		return
	case f.failure != nil:
		f.fail(turn, f.failure)
		return
	case len(f.asks) > 0:
		done := &agjson.TurnDone{Outcome: &agjson.PausedOutcome{Asks: f.asks}, FinishReason: agjson.FinishReasonPaused}
		if live {
			done.Usage = r.done.Usage
			f.close(r, done)
		} else {
			f.CloseTurn(turn, done)
		}
	case live && r.sdk && f.waits(r):
		f.CloseMessage(r.message, r.done.Usage) // an abort has no usage
	case live:
		f.settle()
	default: // results of calls that an earlier run made, and no more
		f.CloseTurn(turn, success())
	}
}

// fail ends the turn in an error, with what of its round is open.
func (f *facet) fail(turn string, end agjson.Body) {
	if r := f.round; r != nil && !r.closed {
		f.endBlocks(r)
		r.ended, r.closed = true, true
	}
	f.failed = true
	f.CloseTurn(turn, end)
}

func success() *agjson.TurnDone {
	return &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: agjson.FinishReasonStop}
}

var _ normalizer.HostTerminator = (*facet)(nil)
