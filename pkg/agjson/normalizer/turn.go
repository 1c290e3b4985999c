package normalizer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

type turn struct {
	id     string
	parent string // parentTurnId of a nested one, which may be a label (SPEC §8 item 16)
	nested bool
	open   bool
	ended  bool                       // nested: subagent.done was said
	next   *turn                      // the follow-on of a closed one
	apart  bool                       // nested: it does not end with the turn around it
	target map[agjson.Number]*message // takes new blocks, by candidate
}

// OpenTurn opens the top-level turn that the facet calls key and returns its id. The first is named by the host; without a
// host's name the id is the key; "" is the turn there is, or the next one. Opening an open one merges the trigger.
func (e *Engine) OpenTurn(key string, trigger *agjson.Trigger) string {
	t := e.turns[key]
	switch {
	case key == "" && e.rootOpen() != nil:
		t = e.rootOpen()
	case t != nil && !t.open:
		t = e.live(t)
	}
	if t != nil {
		if trigger != nil {
			e.put(agjson.Event{TurnID: t.id, Body: &agjson.TurnStart{ThreadID: e.Thread(), Trigger: trigger}})
		}
		return t.id
	}
	return e.openRoot(key, trigger).id
}

// CloseTurn ends a turn with its terminal: a *TurnDone, *TurnError or *TurnAbort. What is open in it is closed first. ""
// is the last opened one; with none ever opened, one is opened to be ended. A second terminal is refused.
func (e *Engine) CloseTurn(key string, end agjson.Body) {
	e.Emit(agjson.Event{TurnID: key, Body: end})
}

// Turn is the id of the last opened turn that is open; "" when none is.
func (e *Engine) Turn() string {
	if n := len(e.stack); n > 0 {
		return e.stack[n-1].id
	}
	return ""
}

// RootTurn is the id of the top-level turn that is open; "" when none is.
func (e *Engine) RootTurn() string {
	if t := e.rootOpen(); t != nil {
		return t.id
	}
	return ""
}

// TurnOpen says whether the turn of that id or key is open.
func (e *Engine) TurnOpen(key string) bool {
	t := e.turns[key]
	return t != nil && t.open
}

// TurnID is the id of the turn that the facet calls key; "" when it opened none.
func (e *Engine) TurnID(key string) string {
	if t := e.turns[key]; t != nil {
		return t.id
	}
	return ""
}

// Opened says whether the invoke has had a turn.
func (e *Engine) Opened() bool { return e.last != nil || len(e.turns) > 0 }

// SubagentStart opens the nested turn key (SPEC §1.1) and returns its id. An open one is merged.
func (e *Engine) SubagentStart(key string, b *agjson.SubagentStart) string {
	e.Emit(agjson.Event{TurnID: key, Body: b})
	return e.TurnID(key)
}

// SubagentDone ends the nested turn key with its terminal, a success when end is nil, and then with subagent.done.
func (e *Engine) SubagentDone(key string, end agjson.Body) {
	t := e.turns[key]
	if t != nil && t.open && end != nil {
		e.CloseTurn(key, end)
	}
	parent := ""
	if t != nil {
		parent = t.parent
	}
	e.Emit(agjson.Event{TurnID: key, Body: &agjson.SubagentDone{ParentTurnID: parent}})
}

// Detach lets a nested turn go on when the turn around it ends, as a background task does.
func (e *Engine) Detach(key string) {
	if t := e.turns[key]; t != nil {
		t.apart = true
	}
}

func (e *Engine) rootOpen() *turn {
	for _, t := range slices.Backward(e.stack) {
		if !t.nested {
			return t
		}
	}
	return nil
}

// hostTurn is the host's name for the first turn; "" when it gave none.
func (e *Engine) hostTurn() string {
	if e.host.TurnID == "" && e.host.Invoke != "" {
		return "turn_" + e.host.Invoke
	}
	return e.host.TurnID
}

// rootID names the next top-level turn.
func (e *Engine) rootID(key string) string {
	e.roots++
	if e.base == "" {
		switch e.base = e.hostTurn(); {
		case e.base != "":
		case key != "":
			e.base = strings.Clone(key)
		default:
			e.base = "turn"
		}
		return e.base
	}
	if e.hostTurn() == "" && key != "" && e.turns[key] == nil {
		return strings.Clone(key)
	}
	for {
		id := e.base + ":turn:" + strconv.Itoa(max(e.roots, 2))
		if e.turns[id] == nil {
			return id
		}
		e.roots++
	}
}

func (e *Engine) openRoot(key string, trigger *agjson.Trigger) *turn {
	t := &turn{id: e.rootID(key)}
	if key != "" {
		e.turns[strings.Clone(key)] = t
	}
	e.last = t
	e.opened(t, &agjson.TurnStart{ThreadID: e.Thread(), Trigger: trigger})
	return t
}

func (e *Engine) opened(t *turn, start agjson.Body) {
	t.open, t.target = true, map[agjson.Number]*message{}
	e.turns[t.id], e.recent = t, t
	e.stack = append(e.stack, t)
	e.put(agjson.Event{TurnID: t.id, Body: start})
}

// live is the turn that takes what is meant for t: t itself, or, once it is closed, the open turn after it.
func (e *Engine) live(t *turn) *turn {
	for !t.open {
		if t.next != nil {
			t = t.next
			continue
		}
		if !t.nested {
			if r := e.rootOpen(); r != nil {
				return r
			}
			return e.openRoot("", nil)
		}
		t.next = &turn{id: again(t.id, func(id string) bool { return e.turns[id] != nil }), parent: t.parent, nested: true}
		e.opened(t.next, &agjson.SubagentStart{ParentTurnID: t.parent})
	}
	return t
}

// place is the open turn of an event that makes content.
func (e *Engine) place(ev *agjson.Event) *turn {
	t := e.owner(ev)
	if t == nil {
		return e.openRoot(ev.TurnID, nil)
	}
	return e.live(t)
}

func (e *Engine) turnStart(ev agjson.Event, b *agjson.TurnStart) {
	e.NameThread(b.ThreadID)
	e.OpenTurn(ev.TurnID, b.Trigger)
}

func (e *Engine) subagentStart(ev agjson.Event, b *agjson.SubagentStart) {
	if t := e.turns[ev.TurnID]; t != nil && t.open {
		ev.TurnID = t.id
		e.put(ev)
		return
	}
	key := ev.TurnID
	if key == "" {
		key = e.Derive("subagent", "turn")
	}
	id := strings.Clone(key)
	if e.turns[id] != nil {
		id = again(id, func(id string) bool { return e.turns[id] != nil })
	}
	t := &turn{id: id, parent: strings.Clone(b.ParentTurnID), nested: true}
	e.turns[strings.Clone(key)] = t
	e.opened(t, b)
}

// terminal ends a turn, with what is open in it (SPEC §5 INV-TURN: exactly one).
func (e *Engine) terminal(ev agjson.Event) {
	t := e.owner(&ev)
	if t == nil {
		t = e.openRoot(ev.TurnID, nil)
	}
	if !t.open {
		e.refuse("closed-turn", ev)
		return
	}
	e.endNested(t, ev.Body)
	e.sealAll(t)
	e.stack = slices.DeleteFunc(e.stack, func(x *turn) bool { return x == t })
	t.open = false
	ev.TurnID = t.id
	e.put(ev)
}

// endNested ends the turns nested in t, innermost first, before t ends: as aborted, unless t itself was a success, in which
// case they were merely never said to be over.
func (e *Engine) endNested(t *turn, end agjson.Body) {
	i := slices.Index(e.stack, t)
	for _, n := range slices.Backward(slices.Clone(e.stack[i+1:])) {
		if !n.nested || n.apart || !e.within(n, t) {
			continue
		}
		_, done := end.(*agjson.TurnDone)
		if !done {
			e.CloseTurn(n.id, &agjson.TurnAbort{Reason: new("parent-ended")})
		}
		e.SubagentDone(n.id, nil)
	}
}

// within says whether n was opened while t was the enclosing turn. A parent that is a label counts for the top-level turn.
func (e *Engine) within(n, t *turn) bool {
	for range len(e.turns) {
		p := e.turns[n.parent]
		if p == nil || p == n {
			return !t.nested
		}
		if p == t {
			return true
		}
		n = p
	}
	return false
}

func (e *Engine) subagentDone(ev agjson.Event, b *agjson.SubagentDone) {
	t := e.turns[ev.TurnID]
	if t == nil || !t.nested || t.ended {
		e.refuse("no-such-subagent", ev)
		return
	}
	if t.open {
		e.CloseTurn(t.id, &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: agjson.FinishReasonStop})
	}
	t.ended = true
	ev.TurnID = t.id
	if b.ParentTurnID == "" {
		b.ParentTurnID = t.parent
	}
	e.put(ev)
}

// Flush closes what is open and nothing else (SPEC §5 INV-FLUSH): messages in opening order, then turns, innermost first, each as
// truncated. A facet does not call it; its Runner does.
func (e *Engine) Flush() {
	for _, m := range slices.Clone(e.unsealed) {
		e.seal(m, agjson.Event{Body: &agjson.MessageEnd{}})
	}
	for _, t := range slices.Backward(slices.Clone(e.stack)) {
		t.open = false
		e.put(agjson.Event{TurnID: t.id, Body: &agjson.TurnAbort{Reason: new("stream-truncated")}})
	}
	e.stack = nil
}
