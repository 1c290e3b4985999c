package reducer

import (
	"slices"

	"github.com/agwire/agwire/pkg/agjson"
)

// liveFacts is what folds to nothing and yet is still true: asks that nobody has answered, of turns that are open or paused,
// and surfaces that have not ended.
//
// An ask is over when its turn ends otherwise than paused, when its call has a final result, and when a turn with trigger
// "resume" starts: that answers the asks that its ref names (an askId or a turnId), or without such a ref all asks of
// paused turns.
type liveFacts struct {
	asks     []*ask // in the order of their arrival, with nil where one is over
	over     int
	byID     map[string]*ask
	byTurn   map[string][]*ask
	byCall   map[string][]*ask
	surfaces []*surface // in the order of their start, with nil where one has ended
	ended    int
	bySurf   map[string]*surface
}

type ask struct {
	ev     agjson.Event
	id     string
	turn   string
	paused bool // its turn is closed, paused
	at     int
}

// observe takes an event after the structure has; it says whether a fact has changed.
func (l *liveFacts) observe(s *Structure, ev *agjson.Event, e effect) bool {
	switch b := ev.Body.(type) {
	case *agjson.HitlAsk:
		return l.ask(s, ev, b)
	case *agjson.TurnStart:
		if b.Trigger != nil && b.Trigger.Kind == agjson.TriggerKindResume {
			return l.resume(b.Trigger.Ref)
		}
	case *agjson.TurnDone:
		_, paused := b.Outcome.(*agjson.PausedOutcome)
		return l.turnEnded(e.turn.id, paused)
	case *agjson.TurnError, *agjson.TurnAbort, *agjson.SubagentDone:
		return e.turn != nil && l.turnEnded(e.turn.id, false)
	case *agjson.ToolDone:
		return (b.More == nil || !*b.More) && l.drop(l.byCall[b.ToolCallID])
	case *agjson.MessagesSnapshot:
		return b.Turns != nil && l.restored(s)
	case *agjson.UISurfaceStart:
		l.surfaceStart(ev, b)
		return true
	case *agjson.UISurfaceUpdate:
		return l.surfaceUpdate(ev, b)
	case *agjson.UIDataModel:
		return l.dataModel(ev, b)
	case *agjson.UISurfaceEnd:
		return l.surfaceEnd(b.SurfaceID)
	}
	return false
}

// ask keeps the ask of a turn that is open or paused, or whose start has yet to come; the same askId once more replaces it.
func (l *liveFacts) ask(s *Structure, ev *agjson.Event, b *agjson.HitlAsk) bool {
	turn := ev.TurnID
	if turn == "" {
		t, _ := s.owner(ev)
		if t == nil {
			return false
		}
		turn = t.id
	}
	t := s.turns[turn]
	if t != nil && t.closed && !t.paused {
		return false
	}
	l.keep(ev, b, turn, t != nil && t.closed)
	return true
}

func (l *liveFacts) keep(ev *agjson.Event, b *agjson.HitlAsk, turn string, paused bool) {
	if l.byID == nil {
		l.byID, l.byTurn, l.byCall = map[string]*ask{}, map[string][]*ask{}, map[string][]*ask{}
	}
	l.drop([]*ask{l.byID[b.AskID]})
	a := &ask{ev: *ev, id: b.AskID, turn: turn, paused: paused, at: len(l.asks)}
	a.ev.TurnID = turn
	l.asks = append(l.asks, a)
	l.byID[a.id] = a
	l.byTurn[turn] = append(l.byTurn[turn], a)
	if b.ToolCallID != nil {
		l.byCall[*b.ToolCallID] = append(l.byCall[*b.ToolCallID], a)
	}
}

// restore takes the facts of a snapshot, once the structure is what it was.
func (l *liveFacts) restore(s *Structure, events []agjson.Event) {
	for i := range events {
		ev := &events[i]
		switch b := ev.Body.(type) {
		case *agjson.HitlAsk:
			t := s.turns[ev.TurnID]
			l.keep(ev, b, ev.TurnID, t != nil && t.closed)
		case *agjson.UISurfaceStart, *agjson.UISurfaceUpdate, *agjson.UIDataModel:
			l.observe(s, ev, effect{})
		}
	}
}

// drop ends asks; nil ones and ones that are over already are passed over.
func (l *liveFacts) drop(list []*ask) (changed bool) {
	if len(list) == 0 {
		return false
	}
	for _, a := range slices.Clone(list) {
		if a == nil || l.byID[a.id] != a {
			continue
		}
		changed = true
		delete(l.byID, a.id)
		l.asks[a.at] = nil
		l.over++
		dropFrom(l.byTurn, a.turn, a)
		if call := a.ev.Body.(*agjson.HitlAsk).ToolCallID; call != nil {
			dropFrom(l.byCall, *call, a)
		}
	}
	if l.over > 8 && l.over > len(l.asks)/2 {
		l.asks = slices.DeleteFunc(l.asks, func(a *ask) bool { return a == nil })
		for i, a := range l.asks {
			a.at = i
		}
		l.over = 0
	}
	return changed
}

func dropFrom(m map[string][]*ask, key string, a *ask) {
	if list := m[key]; len(list) > 1 {
		m[key] = slices.DeleteFunc(list, func(x *ask) bool { return x == a })
	} else {
		delete(m, key)
	}
}

func (l *liveFacts) turnEnded(turn string, paused bool) bool {
	list := l.byTurn[turn]
	if !paused {
		return l.drop(list)
	}
	for _, a := range list {
		a.paused = true
	}
	return false
}

func (l *liveFacts) resume(ref *string) bool {
	if ref != nil {
		if a := l.byID[*ref]; a != nil {
			return l.drop([]*ask{a})
		}
		if list := l.byTurn[*ref]; list != nil {
			return l.drop(list)
		}
	}
	var list []*ask
	for _, a := range l.asks {
		if a != nil && a.paused {
			list = append(list, a)
		}
	}
	return l.drop(list)
}

// restored drops the asks of turns that a snapshot has closed or taken away.
func (l *liveFacts) restored(s *Structure) bool {
	var list []*ask
	for _, a := range l.asks {
		if a == nil {
			continue
		}
		if t := s.turns[a.turn]; t == nil || t.closed && !t.paused {
			list = append(list, a)
		} else {
			a.paused = t.closed
		}
	}
	return l.drop(list)
}

// events are the facts as events.
func (l *liveFacts) events(dst []agjson.Event) []agjson.Event {
	for _, a := range l.asks {
		if a != nil {
			dst = append(dst, a.ev)
		}
	}
	for _, f := range l.surfaces {
		if f != nil {
			dst = f.events(dst)
		}
	}
	return dst
}
