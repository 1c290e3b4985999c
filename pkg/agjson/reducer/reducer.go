package reducer

import (
	"encoding/json"

	"github.com/agwire/agwire/pkg/agjson"
)

// Reducer is the fold, live or batch (SPEC §5 INV-FOLD). It is not safe for concurrent use.
type Reducer struct {
	s     *Structure
	dec   agjson.Decoder
	open  openPart
	live  *liveFacts
	track tracker
}

// New is a Reducer before the first event.
func New() *Reducer {
	return &Reducer{s: NewStructure(), open: openPart{gen: 1}, live: &liveFacts{}, track: newTracker()}
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
// reachable; decode from a copy where that is part of a much larger buffer. Of deltas it keeps nothing. PushLine sees to
// that by itself.
func (r *Reducer) Push(ev agjson.Event) {
	if r.s.parked != "" && !unparks(&ev) {
		return
	}
	if b, ok := ev.Body.(*agjson.MessagesSnapshot); ok {
		r.replace(b)
	}
	e, reason := r.s.step(&ev, false)
	if reason != "" {
		r.s.park(&ev, reason)
		return
	}
	if e.again {
		return
	}
	r.track.quiet = r.s.busy == 0
	if !e.skip {
		r.fold(&ev, e)
	}
	if r.live != nil && r.live.observe(r.s, &ev, e) {
		r.track.live = true
	}
	if r.track.quiet {
		r.settle(e)
	}
}

// PushLine decodes an event and pushes it. It keeps nothing of line. The error is an agjson.ErrMalformed; the fold is then as
// it was (SPEC §10.20). A delta is folded without an allocation, but for the growth of its text.
func (r *Reducer) PushLine(line []byte) error {
	ev, err := r.dec.Decode(line)
	if err != nil {
		return err
	}
	r.Push(ev)
	return nil
}

// Parked says why the fold waits for a snapshot; "" while live (SPEC §5 INV-SEQ).
func (r *Reducer) Parked() string { return r.s.parked }

// Seq is the seq of the last event folded, -1 before the first.
func (r *Reducer) Seq() int64 { return r.s.last }

// OpenTurn reports whether a turn is open.
func (r *Reducer) OpenTurn() bool { return r.s.OpenTurn() }

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

// fold gives the event's content to the places that step found, one case a row of the table (SPEC §5).
func (r *Reducer) fold(ev *agjson.Event, e effect) {
	switch b := ev.Body.(type) {
	case *agjson.TextDelta:
		r.delta(ev, e, "", b.Delta, b.ProviderMetadata)
		return
	case *agjson.ReasoningDelta:
		r.delta(ev, e, b.PartIndex, b.Delta, b.ProviderMetadata)
		return
	case *agjson.ToolArgsDelta:
		// The scratch never shows: tool.args.assembled is authoritative.
		r.track.open = true
		r.open.scratch(ev, e.block, b.Delta)
		return
	case *agjson.ReasoningOpaqueDelta:
		// The scratch never shows: reasoning.opaque carries the assembled value.
		r.track.open = true
		r.open.scratch(ev, e.block, string(b.Delta))
		return
	case *agjson.TextStart, *agjson.TextEnd, *agjson.ReasoningStart, *agjson.ReasoningEnd, *agjson.ReasoningOpaque,
		*agjson.ToolStart, *agjson.ToolArgsAssembled, *agjson.ContentBlock:
		r.foldBlock(ev, e)
	case *agjson.MessageStart:
		r.messageStart(e, b)
	case *agjson.MessageEnd:
		r.touch(e.msg, false)
		if b.Usage != nil {
			e.msg.c.head.Usage = b.Usage
		}
	case *agjson.MessageRemove:
		for _, m := range e.gone {
			r.touch(m, false)
		}
	case *agjson.ToolDone:
		r.toolDone(ev, e, b)
	case *agjson.MessageMetadata:
		r.touch(e.msg, false)
		e.msg.c.metadata.merge(b.Metadata)
	case *agjson.MessagesSnapshot:
		r.messagesSnapshot(b)
		return
	case *agjson.StateSnapshot, *agjson.StateDelta:
		r.track.state = true
		return
	case *agjson.MemoryWrite:
		r.track.memory = true
		r.memoryWrite(ev, e, b)
		return
	case *agjson.ArtifactStart, *agjson.ArtifactDelta, *agjson.ArtifactEnd:
		r.foldArtifact(e, ev.Body)
		return
	default:
		r.foldTurn(e, ev.Body)
	}
	if r.track.quiet {
		return
	}
	r.track.open = true
	if _, ok := ev.Body.(*agjson.ReasoningStart); ok {
		r.open.start(ev, e.block)
	} else {
		r.open.add(ev)
	}
}

// delta is the append of a text or reasoning delta. Its message was touched when it was opened, or is now.
func (r *Reducer) delta(ev *agjson.Event, e effect, index agjson.Number, text string, pm agjson.Opaque) {
	if e.msg.c.touched != r.track.gen {
		r.touch(e.msg, false)
	}
	p := e.block.str.at(index)
	from := p.write(text)
	e.block.str.pm.merge(pm)
	e.msg.c.built = nil
	r.track.open = true
	r.open.text(ev, e.block, p, from, pm)
}

// foldBlock is what creates or changes a block otherwise than by a delta.
func (r *Reducer) foldBlock(ev *agjson.Event, e effect) {
	r.touch(e.msg, false)
	if e.fresh {
		e.msg.c.add(e.block)
	}
	switch b := ev.Body.(type) {
	case *agjson.TextStart:
		e.block.startText(ev, b)
	case *agjson.TextEnd:
		e.block.endText(b)
	case *agjson.ReasoningStart:
		e.block.startReasoning(ev, e.fresh, b)
	case *agjson.ReasoningEnd:
		e.block.endReasoning(b)
	case *agjson.ReasoningOpaque:
		e.block.opaque(b)
		r.open.drop(&e.block.scratch)
	case *agjson.ToolStart:
		e.block.startTool(b)
	case *agjson.ToolArgsAssembled:
		e.block.assembled(b)
		r.open.drop(&e.block.scratch)
	case *agjson.ContentBlock:
		e.block.val, e.block.str = b.Block, nil
	}
}

// foldTurn is what goes to a turn's record.
func (r *Reducer) foldTurn(e effect, body agjson.Body) {
	switch b := body.(type) {
	case *agjson.TurnStart:
		r.turnStart(e, b)
		return
	case *agjson.SubagentStart:
		r.subagentStart(e, b)
		return
	}
	r.touchTurn(e.turn, false)
	c := e.turn.rec
	switch b := body.(type) {
	case *agjson.TurnDone:
		r.turnDone(e, b)
	case *agjson.TurnError:
		c.rec.Outcome = &agjson.ErrorOutcome{Message: b.Message, Code: b.Code}
		c.use(b.Usage)
	case *agjson.TurnAbort:
		c.rec.Outcome = &agjson.AbortedOutcome{Reason: b.Reason}
	case *agjson.PromptBlocked:
		c.promptBlocked(b)
	case *agjson.GuardrailResult:
		c.guardrail(b)
	case *agjson.AgentCapabilities:
		c.rec.Capabilities = &b.Capabilities
	case *agjson.SourceEvent:
		c.source(b)
	case *agjson.Handoff:
		c.handoff(b)
	case *agjson.DisplayRequired:
		c.display(b)
	case *agjson.SubagentDone:
	}
}

// foldArtifact is the side-channel.
func (r *Reducer) foldArtifact(e effect, body agjson.Body) {
	r.track.dirtyArtifacts[e.art.id] = struct{}{}
	switch b := body.(type) {
	case *agjson.ArtifactStart:
		r.artifactStart(e, b)
	case *agjson.ArtifactDelta:
		e.art.c.delta(b)
	case *agjson.ArtifactEnd:
		e.art.c.finish()
		e.art.c.built = nil
	}
}
