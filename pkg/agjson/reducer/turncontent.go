package reducer

import (
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// turnContent is a turn's record. Its lists only grow, so a copy of the record stays as it is.
type turnContent struct {
	rec    agjson.TurnRecord
	thread string // the thread id that its messages share; set once, "" before
}

// threadID is id in memory that the turn's messages share, so that they keep nothing of the events that opened them.
func (c *turnContent) threadID(id string) *string {
	if c.thread == "" && id == c.rec.ThreadID {
		c.thread = c.rec.ThreadID
	}
	if c.thread == id && id != "" {
		return &c.thread
	}
	return ptr(strings.Clone(id))
}

func (c *turnContent) value() agjson.TurnRecord { return clipped(c.rec) }

// clipped is the record with lists that an append copies.
func clipped(v agjson.TurnRecord) agjson.TurnRecord {
	v.Safety = slices.Clip(v.Safety)
	v.Handoffs = slices.Clip(v.Handoffs)
	v.SourceIDs = slices.Clip(v.SourceIDs)
	v.Sources = slices.Clip(v.Sources)
	v.DisplayRequired = slices.Clip(v.DisplayRequired)
	v.Guardrails = slices.Clip(v.Guardrails)
	return v
}

// turnStart opens the record, or merges the fields of a second open.
func (r *Reducer) turnStart(e effect, b *agjson.TurnStart) {
	if r.touchTurn(e.turn, e.fresh); e.fresh {
		e.turn.rec = &turnContent{rec: agjson.TurnRecord{TurnID: e.turn.id}}
	}
	e.turn.rec.rec.ThreadID = b.ThreadID
	if b.Trigger != nil {
		e.turn.rec.rec.Trigger = b.Trigger
	}
}

// subagentStart has no thread id of its own: its parent's, or that of the fold's first turn (SPEC §8 item 16).
func (r *Reducer) subagentStart(e effect, b *agjson.SubagentStart) {
	if r.touchTurn(e.turn, e.fresh); e.fresh {
		from := r.s.turns[b.ParentTurnID]
		if from == nil || from == e.turn {
			from = r.s.order[0]
		}
		e.turn.rec = &turnContent{rec: agjson.TurnRecord{TurnID: e.turn.id}}
		e.turn.rec.rec.ThreadID = from.rec.rec.ThreadID
	}
	e.turn.rec.rec.ParentTurnID = ptr(e.turn.parent)
}

func (r *Reducer) turnDone(e effect, b *agjson.TurnDone) {
	c := e.turn.rec
	c.rec.Outcome, c.rec.FinishReason = b.Outcome, b.FinishReason
	c.use(b.Usage)
	c.safety(b.Safety)
	if b.TaskState != nil {
		c.rec.TaskState = b.TaskState
	}
	if p, ok := b.Outcome.(*agjson.PausedOutcome); ok {
		c.rec.Asks = p.Asks
	}
	if e.msg != nil {
		r.touch(e.msg, false)
		e.msg.c.messageMetadata.merge(b.MessageMetadata)
	}
}

func (c *turnContent) use(u *agjson.Usage) {
	if u != nil {
		c.rec.Usage = u
	}
}

// safety merges: what a prompt.blocked recorded stays, what turn.done adds follows.
func (c *turnContent) safety(list []agjson.Safety) {
	if list != nil && c.rec.Safety == nil {
		c.rec.Safety = []agjson.Safety{}
	}
	c.rec.Safety = append(c.rec.Safety, list...)
}

func (c *turnContent) promptBlocked(b *agjson.PromptBlocked) {
	c.rec.PromptBlocked = &agjson.PromptBlockedRecord{Reason: b.Reason, Safety: b.Safety}
	c.safety(b.Safety)
}

func (c *turnContent) guardrail(b *agjson.GuardrailResult) {
	c.rec.Guardrails = append(c.rec.Guardrails, agjson.GuardrailRecord{
		Target: b.Target, Passed: b.Passed, Action: b.Action, Reason: b.Reason, GuardrailName: b.GuardrailName, Safety: b.Safety,
	})
}

func (c *turnContent) source(b *agjson.SourceEvent) {
	c.rec.SourceIDs = append(c.rec.SourceIDs, b.SourceID)
	c.rec.Sources = append(c.rec.Sources, agjson.SourceRecord{
		SourceID: b.SourceID, Source: b.Source, ChunkIndex: b.ChunkIndex, ProviderMetadata: b.ProviderMetadata,
	})
}

func (c *turnContent) handoff(b *agjson.Handoff) {
	c.rec.Handoffs = append(c.rec.Handoffs, agjson.HandoffRecord{
		Kind: b.Kind, FromAgentID: b.FromAgentID, ToAgentID: b.ToAgentID, ToAgentName: b.ToAgentName,
	})
}

func (c *turnContent) display(b *agjson.DisplayRequired) {
	c.rec.DisplayRequired = append(c.rec.DisplayRequired, agjson.DisplayRecord{Provider: b.Provider, HTML: b.HTML})
}
