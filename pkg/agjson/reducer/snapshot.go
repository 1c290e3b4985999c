package reducer

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
)

// Snapshot is a fold in parts: messages and turn records as of the last boundary, the events since then that fold into
// those (compacted), and all else as of the last event. A boundary is a place in the stream where no open turn has an
// unsealed message or a preliminary result; only there may messages be cut (SPEC §5 messages.snapshot clears what is open).
// Values are shared with the reducer and must not be changed.
type Snapshot struct {
	Seq       int64                       // of the last event folded, -1 before the first
	Messages  []Ranked[agjson.Message]    // as of the boundary, ascending
	Turns     []Ranked[agjson.TurnRecord] // as of the boundary, ascending
	Artifacts []Ranked[agjson.Artifact]   // as of Seq, ascending
	Memory    []agjson.MemoryRecord       // as of Seq, all scopes
	State     json.RawMessage             // as of Seq; nil = none
	Live      []agjson.Event              // what no value shows and is still true: asks, surfaces, turns; seqs 0
	Open      []agjson.Event              // the open part; seqs 0
}

// Snapshot is the whole of the fold. Of a parked fold it is what was folded before.
func (r *Reducer) Snapshot() Snapshot {
	s := Snapshot{
		Seq: r.s.last, Messages: r.messagesAt(), Turns: r.turnsAt(),
		Artifacts: make([]Ranked[agjson.Artifact], 0, len(r.s.artSeq)),
		Memory:    r.memory(), State: r.state(), Live: r.liveEvents(), Open: r.open.events(),
	}
	for _, a := range r.s.artSeq {
		s.Artifacts = append(s.Artifacts, Ranked[agjson.Artifact]{a.order, *a.value()})
	}
	return s
}

func (r *Reducer) memory() []agjson.MemoryRecord {
	out := make([]agjson.MemoryRecord, 0, len(r.s.memSeq))
	for _, m := range r.s.memSeq {
		out = append(out, m.value())
	}
	return out
}

// liveEvents are the live facts, seqs 0.
func (r *Reducer) liveEvents() []agjson.Event {
	list := r.oddTurns(r.live.events(nil))
	for i := range list {
		list[i].Seq = 0
	}
	return list
}

// Pair is the snapshot as the events that a late reader starts from: messages.snapshot with all containers, even empty;
// state.snapshot if there is state; a memory.write for each record of another scope than thread, which a
// messages.snapshot does not restore; what is live-only but still true; the open part. The last event carries Seq and the
// others what leads up to it, so that the next event of the stream follows without a gap. In a stream that begins with a
// messages.snapshot no seq is below 0.
//
// The events are for a new reducer, since no snapshot clears state or memory. They are a unit: none of their seqs but the
// last is a place to resume at.
func (s *Snapshot) Pair() []agjson.Event {
	snap := &agjson.MessagesSnapshot{
		Messages: values(s.Messages), Turns: values(s.Turns), Artifacts: values(s.Artifacts), Memory: []agjson.MemoryRecord{},
	}
	out := append(make([]agjson.Event, 0, 2+len(s.Memory)+len(s.Live)+len(s.Open)), agjson.Event{Body: snap})
	if s.State != nil {
		out = append(out, agjson.Event{Body: &agjson.StateSnapshot{Snapshot: s.State}})
	}
	for i := range s.Memory {
		m := &s.Memory[i]
		if m.Scope == agjson.MemoryScopeThread {
			snap.Memory = append(snap.Memory, *m)
			continue
		}
		ev := agjson.Event{Body: &agjson.MemoryWrite{Scope: m.Scope, Key: m.Key, Value: m.Value, Reason: m.Reason, Durable: m.Durable}}
		if m.TurnID != nil {
			ev.TurnID = *m.TurnID
		}
		out = append(out, ev)
	}
	out = append(append(out, s.Live...), s.Open...)
	for i := range out {
		out[i].Seq = s.Seq - int64(len(out)-1-i)
	}
	return out
}

func values[T any](list []Ranked[T]) []T {
	out := make([]T, len(list))
	for i := range list {
		out[i] = list[i].Value
	}
	return out
}

// Import is a Reducer that goes on where the snapshot was taken. What the values do not show is lost, and no stream that
// folds without parking can tell: which block ids are taken, which artifacts are sealed.
func Import(s Snapshot) *Reducer {
	r := New()
	snap := &agjson.MessagesSnapshot{
		Messages: values(s.Messages), Turns: values(s.Turns), Artifacts: values(s.Artifacts), Memory: []agjson.MemoryRecord{},
	}
	r.Push(agjson.Event{Body: snap})
	r.rank(&s)
	for i := range s.Memory {
		m := &s.Memory[i]
		if doc, err := jsonpatch.New(bytes.Clone(m.Value)); err == nil {
			key := memoryKey{scope: m.Scope}
			if m.Key != nil {
				key.key = *m.Key
			}
			rec := r.s.memory[key]
			if rec == nil {
				rec = r.s.addMemory(key)
			}
			rec.doc, rec.c = doc, &memoryContent{head: *m}
			rec.c.head.Value = nil
		}
	}
	if s.State != nil {
		r.s.state, _ = jsonpatch.New(bytes.Clone(s.State))
	}
	r.s.last = s.Seq - int64(len(s.Live)+len(s.Open))
	r.live = nil // what the events below say about asks is over already
	for _, ev := range slices.Concat(s.Live, s.Open) {
		ev.Seq = r.s.last + 1
		r.Push(ev)
	}
	r.live = &liveFacts{}
	r.live.restore(r.s, s.Live)
	r.track.forget()
	return r
}

// rank gives what was restored the places that it had.
func (r *Reducer) rank(s *Snapshot) {
	for i := range s.Messages {
		r.s.msgs[s.Messages[i].Value.ID].order = s.Messages[i].Order
		r.s.count = max(r.s.count, s.Messages[i].Order)
	}
	for i := range s.Turns {
		r.s.turns[s.Turns[i].Value.TurnID].order = s.Turns[i].Order
		r.s.count = max(r.s.count, s.Turns[i].Order)
	}
	for i := range s.Artifacts {
		r.s.arts[s.Artifacts[i].Value.ArtifactID].order = s.Artifacts[i].Order
		r.s.count = max(r.s.count, s.Artifacts[i].Order)
	}
}

// Changes is what of a Snapshot has changed. A list of parts is those that are new or have changed; a flag says that the
// part of the same name is given whole.
type Changes struct {
	Seq              int64
	Messages         []Ranked[agjson.Message]
	RemovedMessages  []string
	Turns            []Ranked[agjson.TurnRecord]
	RemovedTurns     []string
	Artifacts        []Ranked[agjson.Artifact]
	RemovedArtifacts []string

	MemoryChanged bool
	Memory        []agjson.MemoryRecord
	StateChanged  bool
	State         json.RawMessage // nil = none
	LiveChanged   bool
	Live          []agjson.Event
	OpenChanged   bool
	Open          []agjson.Event
}

// Changes is what has changed since the last call, or since the start; for a reducer that was imported, since then. Its cost
// is that of what changed; memory, state, live facts and the open part are each one part. A change that is undone, and a
// message that came and went, may show nonetheless.
func (r *Reducer) Changes() Changes {
	k := &r.track
	c := Changes{Seq: r.s.last, MemoryChanged: k.memory, StateChanged: k.state, LiveChanged: k.live, OpenChanged: k.open}
	for id := range k.dirtyMessages {
		if v := r.messageAt(id); v != nil {
			c.Messages = append(c.Messages, *v)
		} else {
			c.RemovedMessages = append(c.RemovedMessages, id)
		}
	}
	for id := range k.dirtyTurns {
		if v := r.turnAt(id); v != nil {
			c.Turns = append(c.Turns, *v)
		} else {
			c.RemovedTurns = append(c.RemovedTurns, id)
		}
	}
	for id := range k.dirtyArtifacts {
		if a := r.s.arts[id]; a != nil {
			c.Artifacts = append(c.Artifacts, Ranked[agjson.Artifact]{a.order, *a.value()})
		} else {
			c.RemovedArtifacts = append(c.RemovedArtifacts, id)
		}
	}
	ranked(c.Messages)
	ranked(c.Turns)
	ranked(c.Artifacts)
	slices.Sort(c.RemovedMessages)
	slices.Sort(c.RemovedTurns)
	slices.Sort(c.RemovedArtifacts)
	if k.memory {
		c.Memory = r.memory()
	}
	if k.state {
		c.State = r.state()
	}
	if k.live {
		c.Live = r.liveEvents()
	}
	if k.open {
		c.Open = r.open.events()
	}
	k.forget()
	return c
}

// forget starts a new account of changes.
func (k *tracker) forget() {
	clear(k.dirtyMessages)
	clear(k.dirtyTurns)
	clear(k.dirtyArtifacts)
	k.memory, k.state, k.live, k.open = false, false, false, false
}
