package adk

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// vendor is the namespace of this facet's ext events (SPEC §12) and the provider it names.
const vendor = "google"

// New is the Normalizer of one run of an ADK Runner: runAsync in any streaming mode, or runLive.
func New(host normalizer.Host) *normalizer.Runner {
	return normalizer.Run(&facet{Engine: normalizer.NewEngine(vendor, host), known: map[string]*call{}})
}

type facet struct {
	*normalizer.Engine
	run
	invocation string           // of the frames so far
	frame      int              // ordinal of the frame
	known      map[string]*call // by every id that a call goes by
	calls      []*call          // in the order they were made
	requests   []request        // of the frame
}

// run is one turn: an invocation, or what a live session says between two turnComplete.
type run struct {
	turn    string // "" before the first frame
	over    bool   // its terminal was said
	lanes   []*lane
	asks    []agjson.PausedAsk
	configs map[string]string // an auth ask's config, by its id
	sources int
	total   tally
	heard   transcript // of the user
	spoken  transcript // of the agent
}

// Frame maps one event.
func (f *facet) Frame(v agjson.Value) {
	f.frame++
	f.requests = f.requests[:0]
	ev, ok := decode(v)
	if !ok {
		f.Unparsed(v)
		return
	}
	f.invoke(&ev)
	if f.over {
		f.after(&ev)
		return
	}
	f.say(f.lane(&ev), &ev)
}

// say maps an event of a lane: what it holds first, then what it means for the end of the turn.
func (f *facet) say(l *lane, ev *event) {
	if ev.content.Exists() {
		f.speaker(l, ev)
	}
	f.transcribe(&f.heard, ev)
	f.transcribe(&f.spoken, ev)
	grounded := f.cite(l, ev)
	fresh := f.parts(l, ev)
	f.ground(l, ev, grounded)
	f.blocked(l, ev)
	f.actions(l, ev, fresh)
	f.asked(l, ev)
	f.carry(l, ev)
	l.count(f, ev, fresh)
	f.judge(l, ev)
	switch {
	case ev.interrupted:
		f.abort("interrupted")
	case ev.turnComplete && l.branch == "":
		f.finish()
	}
}

// invoke finds the turn of an event. An invocation is a turn; what comes after the turn's end opens the next one, if it says
// something.
func (f *facet) invoke(ev *event) {
	if ev.invocation != "" && ev.invocation != f.invocation {
		if f.turn != "" && !f.over && f.invocation != "" {
			f.finish()
			if !f.over {
				f.abort("stream-truncated")
			}
		}
		if f.over {
			f.run = run{}
		}
		f.invocation = strings.Clone(ev.invocation)
	}
	if f.over && ev.speaks() {
		f.run = run{}
	}
	if f.turn == "" {
		key := ""
		if f.invocation != "" {
			key = "turn_" + f.invocation
		}
		f.turn = f.OpenTurn(key, nil)
		f.lanes = []*lane{{turn: f.turn}}
	}
}

// after maps what comes after the end of the turn and says nothing that would open another one.
func (f *facet) after(ev *event) {
	told := ""
	if d := ev.actions.Get("stateDelta"); d.Kind() == agjson.KindObject && d.Len() > 0 {
		f.Emit(agjson.Event{Body: &agjson.StateDelta{Patch: d.Raw()}})
		told = "stateDelta"
	}
	more := filled(without(ev.actions, told))
	if len(more)+len(ev.rest)+len(ev.session) > 0 || ev.usage.Exists() || ev.grounding.Exists() || ev.feedback.Exists() || ev.finish != "" {
		f.Carry("event", ev.raw)
	}
}

// End says how the run ended: the iterator has no terminal of its own, so what it said last decides. A run that was cut is left
// to the engine.
func (f *facet) End() {
	if f.turn != "" && !f.over {
		f.finish()
	}
}

// HostTerminal ends the turn as the host says, with what the run has cost so far.
func (f *facet) HostTerminal(h normalizer.HostError) {
	if h.Usage == nil && f.turn != "" && !f.over {
		h.Usage = f.spent()
	}
	f.HostError(h)
	f.over = f.turn != ""
}
