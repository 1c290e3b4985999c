package reducer

import (
	"encoding/json"

	"github.com/agwire/agwire/pkg/agjson"
)

// Reducer is the fold, live or batch (SPEC §5 INV-FOLD). It is not safe for concurrent use.
type Reducer struct {
	s *Structure
}

// New is a Reducer before the first event.
func New() *Reducer {
	s := NewStructure()
	return &Reducer{s: s}
}

// Fold is New and a Push for each event.
func Fold(events []agjson.Event) *Reducer {
	r := New()
	for i := range events {
		r.Push(events[i])
	}
	return r
}

// Push folds the event, or parks the fold. It is total: it takes any decoded event.
//
// The fold keeps parts of ev: blocks, values, strings. They alias what ev was decoded from, which must not change and stays
// reachable; decode from a copy where that is part of a much larger buffer. Of text and reasoning streams it keeps only
// copies.
func (r *Reducer) Push(ev agjson.Event) {
	if r.s.parked != "" && !unparks(&ev) {
		return
	}
	e, reason := r.s.step(&ev, false)
	if reason != "" {
		r.s.park(&ev, reason)
		return
	}
	if !e.skip {
		r.fold(&ev, e)
	}
}

// Parked says why the fold waits for a snapshot; "" while live (SPEC §5 INV-SEQ).
func (r *Reducer) Parked() string { return r.s.parked }

// Seq is the seq of the last event folded, -1 before the first.
func (r *Reducer) Seq() int64 { return r.s.last }

// Result is the fold so far. It is a copy: later pushes do not reach it. It shares values with the reducer and with other
// results, so it must not be changed.
func (r *Reducer) Result() agjson.ReduceResult {
	res := agjson.ReduceResult{
		Messages:  make([]agjson.Message, 0, len(r.s.msgs)),
		Artifacts: make([]agjson.Artifact, 0, len(r.s.artSeq)),
		Memory:    make([]agjson.MemoryRecord, 0, len(r.s.memSeq)),
		Turns:     make([]agjson.TurnRecord, 0, len(r.s.order)),
		State:     r.state(),
	}
	for _, m := range r.s.all {
		if m != nil {
			res.Messages = append(res.Messages, *m.value())
		}
	}
	for _, a := range r.s.artSeq {
		res.Artifacts = append(res.Artifacts, *a.value())
	}
	for _, m := range r.s.memSeq {
		res.Memory = append(res.Memory, m.value())
	}
	for _, t := range r.s.order {
		res.Turns = append(res.Turns, t.rec.value())
	}
	return res
}

func (r *Reducer) state() json.RawMessage {
	if r.s.state == nil {
		return nil
	}
	return r.s.state.Bytes()
}

// fold gives the event's content to the places that step found.
func (r *Reducer) fold(ev *agjson.Event, e effect) {
	switch b := ev.Body.(type) {
	case *agjson.TurnStart:
		r.turnStart(e, b)
	case *agjson.TurnDone:
		r.turnDone(e, b)
	case *agjson.TurnError:
		e.turn.rec.rec.Outcome = &agjson.ErrorOutcome{Message: b.Message, Code: b.Code}
		e.turn.rec.use(b.Usage)
	case *agjson.TurnAbort:
		e.turn.rec.rec.Outcome = &agjson.AbortedOutcome{Reason: b.Reason}
	case *agjson.MessageStart:
		r.messageStart(ev, e, b)
	case *agjson.MessageEnd:
		r.messageEnd(e, b)
	case *agjson.MessageRemove:
	case *agjson.PromptBlocked:
		e.turn.rec.promptBlocked(b)
	case *agjson.GuardrailResult:
		e.turn.rec.guardrail(b)
	case *agjson.AgentCapabilities:
		e.turn.rec.rec.Capabilities = &b.Capabilities
	case *agjson.SourceEvent:
		e.turn.rec.source(b)
	case *agjson.Handoff:
		e.turn.rec.handoff(b)
	case *agjson.DisplayRequired:
		e.turn.rec.display(b)
	case *agjson.MessagesSnapshot:
		r.messagesSnapshot(b)
	case *agjson.TextStart:
		e.block.startText(ev, b)
		e.msg.c.add(e.block)
	case *agjson.TextDelta:
		e.block.str.write("", b.Delta)
		e.block.str.pm.merge(b.ProviderMetadata)
		e.msg.c.built = nil
	case *agjson.TextEnd:
		e.block.endText(b)
		e.msg.c.built = nil
	case *agjson.ReasoningStart:
		e.block.startReasoning(ev, e, b)
	case *agjson.ReasoningDelta:
		e.block.str.write(b.PartIndex, b.Delta)
		e.block.str.pm.merge(b.ProviderMetadata)
		e.msg.c.built = nil
	case *agjson.ReasoningEnd:
		e.block.endReasoning(b)
		e.msg.c.built = nil
	case *agjson.ReasoningOpaque:
		e.block.opaque(b)
		e.msg.c.built = nil
	case *agjson.ReasoningOpaqueDelta:
		// The scratch never shows: reasoning.opaque carries the assembled value.
	case *agjson.ToolStart:
		e.block.startTool(b)
		e.msg.c.add(e.block)
	case *agjson.ToolArgsDelta:
		// The scratch never shows: tool.args.assembled is authoritative.
	case *agjson.ToolArgsAssembled:
		e.block.assembled(b)
		e.msg.c.built = nil
	case *agjson.ToolDone:
		r.toolDone(ev, e, b)
	case *agjson.ContentBlock:
		e.block.val, e.block.str = b.Block, nil
		if e.fresh {
			e.msg.c.add(e.block)
		}
		e.msg.c.built = nil
	case *agjson.MessageMetadata:
		e.msg.c.metadata.merge(b.Metadata)
		e.msg.c.built = nil
	case *agjson.ArtifactStart:
		r.artifactStart(e, b)
	case *agjson.ArtifactDelta:
		e.art.c.delta(b)
	case *agjson.ArtifactEnd:
	case *agjson.SubagentStart:
		r.subagentStart(e, b)
	case *agjson.SubagentDone:
	case *agjson.StateSnapshot, *agjson.StateDelta:
	case *agjson.MemoryWrite:
		r.memoryWrite(ev, e, b)
	}
}
