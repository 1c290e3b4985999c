package normalize

import (
	"slices"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/sources"
)

// invoke is one open invoke: its normalizer and where it is.
type invoke struct {
	id      string
	turn    string // its turn's id in this thread
	source  string
	mapper  normalizer.Normalizer // nil until it is rebuilt, after the shard changed hands
	qualify *qualifier
	opened  uint64            // frames-stream sequence of its first frame
	frame   int64             // index of the last frame worked on
	own     int64             // its next own seq
	was     string            // digest that the log has, before it is rebuilt
	lost    map[string]string // turns of which events were refused, and why
	refused int
	digest  digest
}

// start makes the normalizer that the first frame asks for.
func (inv *invoke) start(t *thread, f *bus.Frame) {
	inv.source = f.Start.Source
	inv.qualify = newQualifier(t.structure, inv.turn)
	m, err := sources.New(inv.source, normalizer.Host{ThreadID: t.id, TurnID: inv.turn, Invoke: inv.id})
	if err != nil {
		m = &unmapped{thread: t.id, turn: inv.turn, why: err.Error()}
	}
	inv.mapper = m
}

// label is the framework as metrics know it: one of a closed set.
func label(source string) string {
	if slices.Contains(sources.Names(), source) {
		return source
	}
	return "other"
}

// unmapped stands in for a framework that nobody here maps, which only a producer that goes past ingest can name: each frame is
// kept, and the turn ends in an error (SPEC §8.0, graceful degradation).
type unmapped struct {
	thread, turn, why string
	seq               int64
}

func (u *unmapped) stamp(events ...agjson.Event) []agjson.Event {
	for i := range events {
		events[i].Seq = u.seq
		u.seq++
	}
	return events
}

// Push keeps the frame as ext.agwire.unparsed.
func (u *unmapped) Push(native []byte) []agjson.Event {
	ev := agjson.Event{TurnID: u.turn, Body: &agjson.Ext{Name: "ext.agwire.unparsed", Members: []agjson.Member{
		{Name: "reason", Value: agjson.AppendString(nil, u.why)},
		{Name: "raw", Value: slices.Clone(native)},
	}}}
	if u.seq > 0 {
		return u.stamp(ev)
	}
	return u.stamp(agjson.Event{TurnID: u.turn, Body: &agjson.TurnStart{ThreadID: u.thread}}, ev)
}

// Flush ends the turn in an error.
func (u *unmapped) Flush() []agjson.Event {
	if u.seq == 0 {
		return nil
	}
	return u.stamp(agjson.Event{TurnID: u.turn, Body: &agjson.TurnError{Message: u.why, Code: new("unknown_source")}})
}
