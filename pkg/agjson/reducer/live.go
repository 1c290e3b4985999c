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
	byID     map[string]*ask   // those that are not over
	byTurn   map[string][]*ask // with some that are over
	byCall   map[string][]*ask // with some that are over
	paused   []*ask            // of paused turns, with some that are over
	surfaces []*surface        // in the order of their start, with nil where one has ended
	ended    int
	bySurf   map[string]*surface
}

type ask struct {
	ev   agjson.Event
	id   string
	turn string
	at   int
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
		return (b.More == nil || !*b.More) && l.callDone(b.ToolCallID)
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
	a := &ask{ev: *ev, id: b.AskID, turn: turn, at: len(l.asks)}
	a.ev.TurnID = turn
	l.asks = append(l.asks, a)
	l.byID[a.id] = a
	l.byTurn[turn] = l.with(l.byTurn[turn], a)
	if b.ToolCallID != nil {
		l.byCall[*b.ToolCallID] = l.with(l.byCall[*b.ToolCallID], a)
	}
	if paused {
		l.paused = l.with(l.paused, a)
	}
}

// with appends to a list, and now and then drops from it what is over.
func (l *liveFacts) with(list []*ask, a *ask) []*ask {
	if n := len(list); n >= 8 && n&(n-1) == 0 {
		list = slices.DeleteFunc(list, func(a *ask) bool { return l.byID[a.id] != a })
	}
	return append(list, a)
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
	for _, a := range list {
		if a == nil || l.byID[a.id] != a {
			continue
		}
		changed = true
		delete(l.byID, a.id)
		l.asks[a.at] = nil
		l.over++
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

func (l *liveFacts) turnEnded(turn string, paused bool) bool {
	list := l.byTurn[turn]
	if paused {
		for _, a := range list {
			l.paused = l.with(l.paused, a)
		}
		return false
	}
	delete(l.byTurn, turn)
	return l.drop(list)
}

func (l *liveFacts) callDone(call string) bool {
	list := l.byCall[call]
	delete(l.byCall, call)
	return l.drop(list)
}

// resume answers the asks that ref names, or without such a ref all of paused turns.
func (l *liveFacts) resume(ref *string) bool {
	if ref != nil {
		if a := l.byID[*ref]; a != nil {
			return l.drop([]*ask{a})
		}
		if _, ok := l.byTurn[*ref]; ok {
			return l.turnEnded(*ref, false)
		}
	}
	list := l.paused
	l.paused = nil
	return l.drop(list)
}

// restored drops the asks of turns that a snapshot has closed or taken away.
func (l *liveFacts) restored(s *Structure) bool {
	var list []*ask
	l.paused = nil
	for _, a := range l.asks {
		if a == nil {
			continue
		}
		switch t := s.turns[a.turn]; {
		case t == nil, t.closed && !t.paused:
			list = append(list, a)
		case t.closed:
			l.paused = append(l.paused, a)
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
