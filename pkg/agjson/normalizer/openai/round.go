package openai

import (
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// round is one response of the model: a turn, and one message in it (SPEC §8 item 14).
type round struct {
	id, turn, message string
	agent             string // who speaks, as the message says
	raw               bool   // the Responses API's own events stream it
	sdk               bool   // the SDK has said that it is complete, so its runner executes the calls
	json              bool   // the answer is to be JSON
	ended             bool   // it is complete; results of its calls may still come
	closed            bool   // its turn has its terminal
	done              *agjson.TurnDone
	refusal           strings.Builder
	items             []*item
	calls             []string // that the runner executes
	chat              chat
	twin              twin
	sources           []string // ids of the sources that were said
}

type itemKind uint8

const (
	messageItem itemKind = iota
	reasoningItem
	callItem
	otherItem
)

// item is one item of a response's output, and how far it has been said.
type item struct {
	kind  itemKind
	key   string  // by which events name it
	id    string  // the provider's; "" when it has none
	parts []*part // of a message or of reasoning
	done  bool    // all was said
	heard bool    // the run item of it has come

	// of a message
	phase string
	said  bool // its phase was said
	cited bool // its annotations were said

	// of a tool call
	call    string
	args    strings.Builder // streamed so far
	hasArgs bool            // the whole arguments were said
}

// part is one text of a message or of reasoning.
type part struct {
	block       string
	index       int
	refusal     bool // of a message
	full        bool // of reasoning: the thoughts themselves, not a summary
	text        strings.Builder
	open        bool
	annotations []byte // those seen so far, as the inside of a list
}

// item finds an item by its id, or adds it. Without an id it is the last one of its kind that has none.
func (r *round) item(kind itemKind, id string) *item {
	it := r.keyed(kind, id)
	it.id = it.key
	return it
}

// keyed is item for what has no id of the provider's.
func (r *round) keyed(kind itemKind, key string) *item {
	for _, it := range slices.Backward(r.items) {
		if it.kind == kind && it.key == key && (key != "" || !it.done) {
			return it
		}
	}
	it := &item{kind: kind, key: strings.Clone(key)}
	r.items = append(r.items, it)
	return it
}

// known finds an item by its id; nil when there is none, or no id.
func (r *round) known(kind itemKind, id string) *item {
	for _, it := range r.items {
		if it.kind == kind && it.key == id && id != "" {
			return it
		}
	}
	return nil
}

// callOf finds a tool call by its tool-call id.
func (r *round) callOf(call string) *item {
	for _, it := range r.items {
		if it.kind == callItem && it.call == call {
			return it
		}
	}
	return nil
}

// begin opens the round of a response. The one before is over then.
func (f *facet) begin(id string, model *string) *round {
	f.settle()
	f.failure = nil
	r := &round{id: strings.Clone(id), agent: f.agent}
	if r.turn = f.RootTurn(); r.turn == "" { // else a resumed run has begun with results
		key := ""
		if id != "" {
			key = "turn_" + id
		}
		r.turn = f.OpenTurn(key, nil)
	}
	start := &agjson.MessageStart{Role: agjson.RoleAssistant, Model: model}
	if f.agent != "" {
		start.AgentName = new(f.agent)
	}
	message := ""
	if id != "" {
		message = f.Qualify("msg_" + id)
	}
	r.message = f.OpenMessage(r.turn, message, start)
	f.round, f.failed = r, false
	return r
}

// receiving is the round that a stream's event belongs to.
func (f *facet) receiving() *round {
	if r := f.round; r != nil && !r.ended && !r.closed {
		return r
	}
	return f.begin("", nil)
}

// current is the round to which a run item belongs: the last one, as long as its turn is open. Without one, the items are
// all there is of the response.
func (f *facet) current() *round {
	if r := f.round; r != nil && !r.closed {
		return r
	}
	r := f.begin("", nil)
	r.ended, r.done = true, success()
	return r
}

// complete notes that a response is complete, as its last event says. Its turn stays open for the results of its calls, and for the
// word of the host (SPEC §8 item 14).
func (f *facet) complete(r *round, resp agjson.Value) {
	for _, v := range resp.Get("output").Items {
		f.item(r, v)
	}
	f.endBlocks(r)
	r.ended = true
	if r.id != "" {
		f.ended[r.id] = true
	}
	r.done = f.terminal(r, usage(resp.Get("usage")))
	f.failure = nil
}

// terminal is the end of a complete response.
func (f *facet) terminal(r *round, used *agjson.Usage) *agjson.TurnDone {
	done := &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{Result: r.result()}, FinishReason: agjson.FinishReasonStop, Usage: used}
	if r.refusal.Len() > 0 {
		done.Outcome = &agjson.ErrorOutcome{Message: r.refusal.String(), Code: new("refusal")}
		done.FinishReason = agjson.FinishReasonRefusal
		return done
	}
	switch r.chat.finish {
	case "tool_calls", "function_call":
		done.FinishReason = agjson.FinishReasonToolCall
	case "length":
		done.Outcome = &agjson.ErrorOutcome{Message: "the token limit cut the answer", Code: new("length")}
		done.FinishReason = agjson.FinishReasonTokenLimit
	case "content_filter":
		blocked(done)
	}
	return done
}

// blocked makes an end that of an answer which the provider's filter stopped.
func blocked(done *agjson.TurnDone) {
	done.Outcome = &agjson.ErrorOutcome{Message: "content_filter"}
	done.FinishReason = agjson.FinishReasonSafetyBlocked
	done.Safety = []agjson.Safety{{Category: "content_filter", Blocked: new(true)}}
}

// result is the structured output of a response that was to give one and calls no tool.
func (r *round) result() []byte {
	if !r.json || len(r.calls) > 0 {
		return nil
	}
	text := ""
	for _, it := range r.items {
		if it.kind == messageItem {
			for _, p := range it.parts {
				text = p.text.String()
			}
		}
	}
	raw, _ := parseJSON(text)
	return raw
}

// settle closes the turn of the last round: by its own end, or, when its response never completed, in the error that its stream
// reported, or as superseded by what comes next.
func (f *facet) settle() {
	r := f.round
	switch {
	case r == nil || r.closed:
	case r.ended:
		f.close(r, r.done)
	case f.failure != nil:
		f.fail(r.turn, f.failure)
	default:
		f.endBlocks(r)
		r.ended = true
		f.failed = true
		f.close(r, &agjson.TurnAbort{Reason: new("superseded")})
	}
}

func (f *facet) close(r *round, end agjson.Body) {
	r.closed = true
	f.CloseMessage(r.message, nil)
	f.CloseTurn(r.turn, end)
}

// waits says whether a call that the runner executes has no result yet.
func (f *facet) waits(r *round) bool {
	for _, call := range r.calls {
		if !f.CallDone(call) {
			return true
		}
	}
	return false
}

// endBlocks ends the texts and thoughts that are open, in the order of their items.
func (f *facet) endBlocks(r *round) {
	for _, it := range r.items {
		switch it.kind {
		case messageItem:
			f.endMessage(r, it, agjson.Value{})
		case reasoningItem:
			f.endReasoning(r, it)
		}
	}
}
