package normalize

import (
	"strconv"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// thread is what the owner of a shard knows of one of its threads: enough to write the next event, no content.
type thread struct {
	id        string
	epoch     bus.Epoch // zero until ordinal 0 is stored
	next      int64     // ordinal of the next event
	structure *reducer.Structure
	open      map[string]*invoke
	closed    map[string]int64  // ended invokes, and the index of their end
	turns     map[string]string // open turns, and the invoke that opened each
	reflected uint64            // sequence of the last frame whose events are written, in the frames stream

	waiting  []*batch // to be published
	inFlight int      // published and not known to be stored
	touched  time.Time
}

func newThread(id string) *thread {
	return &thread{
		id: id, structure: reducer.NewStructure(), open: map[string]*invoke{}, closed: map[string]int64{}, turns: map[string]string{},
	}
}

// begin opens the invoke whose first frame is f.
func (t *thread) begin(f *bus.Frame) *invoke {
	inv := &invoke{id: f.Invoke, turn: t.turnFor(f.Start.Turn, f.Invoke), opened: f.First, frame: -1, digest: newDigest()}
	inv.start(t, f)
	t.open[inv.id] = inv
	return inv
}

// turnFor is the id that a new invoke's turn gets: the one that the host wants, unless the thread has it already; then
// <id>~2, <id>~3 and so on, by log order (DESIGN §7).
func (t *thread) turnFor(wanted, invoke string) string {
	if wanted == "" {
		wanted = "turn_" + invoke
	}
	id := wanted
	for n := 2; t.taken(id); n++ {
		id = wanted + "~" + strconv.Itoa(n)
	}
	return id
}

func (t *thread) taken(turn string) bool {
	if known, _ := t.structure.Turn(turn); known {
		return true
	}
	for _, inv := range t.open {
		if inv.turn == turn {
			return true
		}
	}
	return false
}

// openTurns lists the open turns that an invoke has opened.
func (t *thread) openTurns(inv *invoke) []string {
	var list []string
	for turn, owner := range t.turns {
		if owner == inv.id {
			list = append(list, turn)
		}
	}
	return list
}

// first is the event at ordinal 0 of every epoch: all containers, empty (DESIGN §1).
func first() agjson.Event {
	return agjson.Event{Body: &agjson.MessagesSnapshot{
		Messages: []agjson.Message{}, Turns: []agjson.TurnRecord{}, Artifacts: []agjson.Artifact{}, Memory: []agjson.MemoryRecord{},
	}}
}

// write runs events of one invoke through the thread's rules and appends them, as NDJSON, to dst. It returns how many it wrote.
func (t *thread) write(dst []byte, inv *invoke, events []agjson.Event) ([]byte, int) {
	n := 0
	if t.next == 0 {
		ev := first()
		dst = t.put(dst, &ev, "")
		n++
	}
	for i := range events {
		ev := &events[i]
		inv.own = ev.Seq + 1
		inv.digest.add(ev)
		inv.qualify.event(ev)
		dst = t.admit(dst, inv, ev)
		n++
	}
	return dst, n
}

// admit writes ev, or what stands for it where a strict fold would park.
func (t *thread) admit(dst []byte, inv *invoke, ev *agjson.Event) []byte {
	if _, ok := ev.Body.(*agjson.MessagesSnapshot); ok {
		return t.refuse(dst, inv, ev, "a snapshot inside a log")
	}
	if done, ok := ev.Body.(*agjson.TurnDone); ok && inv.lost[ev.TurnID] != "" && t.turns[ev.TurnID] != "" {
		ev.Body = &agjson.TurnError{
			Message: "events of this turn were refused: " + inv.lost[ev.TurnID], Code: new("events_refused"), Usage: done.Usage,
		}
	}
	ev.Seq = t.next
	if why := t.structure.Admit(ev); why != "" {
		return t.refuse(dst, inv, ev, why)
	}
	return t.put(dst, ev, inv.id)
}

// refusedName is the type of what stands for a refused event.
const refusedName = "ext.agwire.refused"

// refuse writes the event and the reason as ext.agwire.refused, which folds to nothing.
func (t *thread) refuse(dst []byte, inv *invoke, ev *agjson.Event, why string) []byte {
	inv.refused++
	if inv.lost == nil {
		inv.lost = map[string]string{}
	}
	if ev.TurnID != "" {
		inv.lost[ev.TurnID] = why
	}
	ev.Seq = inv.own - 1
	return t.put(dst, &agjson.Event{TurnID: ev.TurnID, Body: &agjson.Ext{Name: refusedName, Members: []agjson.Member{
		{Name: "reason", Value: agjson.AppendString(nil, why)},
		{Name: "event", Value: agjson.AppendEvent(nil, ev)},
	}}}, inv.id)
}

// put gives ev the next ordinal and appends it to dst.
func (t *thread) put(dst []byte, ev *agjson.Event, invoke string) []byte {
	ev.Seq = t.next
	t.replay(ev, invoke)
	return append(agjson.AppendEvent(dst, ev), '\n')
}

// replay takes over an event that the log holds or is about to.
func (t *thread) replay(ev *agjson.Event, invoke string) {
	t.next = ev.Seq + 1
	t.structure.Apply(ev)
	switch ev.Body.(type) {
	case *agjson.TurnStart, *agjson.SubagentStart:
		t.turns[ev.TurnID] = invoke
	case *agjson.TurnDone, *agjson.TurnError, *agjson.TurnAbort:
		delete(t.turns, ev.TurnID)
	}
}
