package reducer

import (
	"crypto/sha256"

	"github.com/agwire/agwire/pkg/agjson"
)

// effect is what step found: the places that the event's content goes to.
type effect struct {
	again bool // redelivered: nothing at all
	skip  bool // live-only or transient: no content
	turn  *turn
	msg   *message
	block *block
	art   *artifact
	mem   *memory
	gone  []*message // removed by it; only until the next step
	fresh bool       // what the event names was not there before
}

// step judges the event (SPEC §5, one method a row) and, unless dry, changes the structure. A reason means that nothing
// was changed.
func (s *Structure) step(ev *agjson.Event, dry bool) (effect, string) {
	again, reason := s.sequence(ev)
	if reason != "" {
		return effect{}, reason
	}
	if again {
		return effect{again: true}, ""
	}
	e, reason := s.row(ev, dry)
	if reason == "" && !dry {
		s.last = ev.Seq
		if ev.Seq == 0 {
			s.first, s.digest = nil, [sha256.Size]byte{}
			switch ev.Body.(type) {
			case *agjson.MessagesSnapshot, *agjson.StateSnapshot:
			case *agjson.TextDelta, *agjson.ReasoningDelta, *agjson.ToolArgsDelta, *agjson.ReasoningOpaqueDelta:
				s.digest = eventDigest(*ev) // nothing is kept of a delta
			default:
				c := *ev
				s.first = &c
			}
		}
	}
	return e, reason
}

// sequence is INV-SEQ: a forward gap parks, a backward jump folds. An equal seq is a redelivery and folds to nothing,
// unless it is the 0 of another invoke after an invoke of one event.
func (s *Structure) sequence(ev *agjson.Event) (again bool, reason string) {
	if ev.Seq <= s.last+1 && ev.Seq != s.last || unparks(ev) {
		return false, ""
	}
	if ev.Seq > s.last {
		return false, "a forward gap"
	}
	return ev.Seq != 0 || s.firstDigest() == eventDigest(*ev), ""
}

func (s *Structure) firstDigest() [sha256.Size]byte {
	if s.first == nil {
		return s.digest
	}
	return eventDigest(*s.first)
}

func eventDigest(ev agjson.Event) [sha256.Size]byte {
	return sha256.Sum256(agjson.AppendEvent(nil, &ev))
}

// row is the table of SPEC §5, in its order.
func (s *Structure) row(ev *agjson.Event, dry bool) (effect, string) {
	switch b := ev.Body.(type) {
	case *agjson.TurnStart:
		return s.turnStart(ev, dry)
	case *agjson.TurnDone:
		return s.turnDone(ev, b, dry)
	case *agjson.TurnError, *agjson.TurnAbort:
		return s.turnEnd(ev, dry)
	case *agjson.MessageStart:
		return s.messageStart(ev, b, dry)
	case *agjson.MessageEnd:
		return s.messageEnd(ev, dry)
	case *agjson.MessageRemove:
		return s.messageRemove(ev, dry)
	case *agjson.PromptBlocked, *agjson.GuardrailResult, *agjson.AgentCapabilities, *agjson.SourceEvent, *agjson.Handoff,
		*agjson.DisplayRequired:
		return s.record(ev)
	case *agjson.MessagesSnapshot:
		return s.messagesSnapshot(b, dry)
	case *agjson.TextStart:
		return s.streamStart(ev, textBlock, b.CandidateIndex, dry)
	case *agjson.TextDelta:
		return s.delta(ev, textBlock)
	case *agjson.TextEnd:
		return s.streamEnd(ev, textBlock, dry)
	case *agjson.ReasoningStart:
		return s.reasoningStart(ev, b, dry)
	case *agjson.ReasoningDelta:
		return s.delta(ev, reasoningBlock)
	case *agjson.ReasoningEnd:
		return s.streamEnd(ev, reasoningBlock, dry)
	case *agjson.ReasoningOpaque, *agjson.ReasoningOpaqueDelta:
		return s.stream(ev, reasoningBlock)
	case *agjson.ToolStart:
		return s.toolStart(ev, b, dry)
	case *agjson.ToolArgsDelta:
		return s.toolArgs(b.ToolCallID)
	case *agjson.ToolArgsAssembled:
		return s.toolArgs(b.ToolCallID)
	case *agjson.ToolDone:
		return s.toolDone(ev, b, dry)
	case *agjson.ContentBlock:
		return s.contentBlock(ev, b, dry)
	case *agjson.MessageMetadata:
		return s.messageMetadata(ev)
	case *agjson.ArtifactStart:
		return s.artifactStart(ev, b, dry)
	case *agjson.ArtifactDelta:
		return s.artifactDelta(b, dry)
	case *agjson.ArtifactEnd:
		return s.artifactEnd(b, dry)
	case *agjson.SubagentStart:
		return s.subagentStart(ev, b, dry)
	case *agjson.SubagentDone:
		return s.subagentDone(ev, dry)
	case *agjson.StateSnapshot:
		return s.stateSnapshot(b, dry)
	case *agjson.StateDelta:
		return s.stateDelta(b, dry)
	case *agjson.MemoryWrite:
		return s.memoryWrite(b, dry)
	}
	return effect{skip: true}, liveOnly(ev)
}

// liveOnly names the types that fold to nothing and use their seq (SPEC §5), so that a type of the specification that has
// no row above is a fault a test finds. An unknown type does the same (SPEC §0.2).
func liveOnly(ev *agjson.Event) string {
	switch ev.Body.(type) {
	case *agjson.Error, *agjson.StepStart, *agjson.StepDone, *agjson.HostContext, *agjson.HitlAsk,
		*agjson.UICall, *agjson.UIResult, *agjson.UIActionResult, *agjson.UIWidgetResult, *agjson.UIDisplayMode,
		*agjson.UISurfaceStart, *agjson.UISurfaceUpdate, *agjson.UISurfaceEnd, *agjson.UIDataModel,
		*agjson.Ext, *agjson.Unknown:
		return ""
	case nil:
		return "an event without a body"
	}
	return "a type without a row in the folding table"
}
