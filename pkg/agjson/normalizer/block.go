package normalizer

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

type blockKind uint8

const (
	textKind blockKind = iota
	reasoningKind
)

type blockKey struct {
	kind blockKind
	id   string // the facet's
}

type block struct {
	id    string // as emitted
	msg   *message
	open  bool
	soFar strings.Builder // of a cumulative source only
}

// whole is a block that came by content.block, with an id by which another replaces it.
type whole struct {
	id  string // as emitted
	msg *message
}

// TextStart opens a text block; b may be nil. id must not be empty.
func (e *Engine) TextStart(id, messageID string, b *agjson.TextStart) {
	if b == nil {
		b = &agjson.TextStart{}
	}
	e.Emit(agjson.Event{ID: id, MessageID: messageID, Body: b})
}

// TextDelta appends to a text block; one that was never opened is opened first.
func (e *Engine) TextDelta(id, messageID, delta string) {
	e.Emit(agjson.Event{ID: id, MessageID: messageID, Body: &agjson.TextDelta{Delta: delta}})
}

// TextSoFar appends what total has beyond the totals before it (SPEC §5 INV-DELTA). It emits nothing and answers false where
// total does not begin with what was said: a delta cannot take text back.
func (e *Engine) TextSoFar(id, messageID, total string) bool {
	delta, ok := e.increment(blockKey{textKind, id}, total)
	if ok {
		e.TextDelta(id, messageID, delta)
		e.blocks[blockKey{textKind, id}].soFar.WriteString(delta)
	}
	return ok
}

// TextEnd seals a text block; b may be nil.
func (e *Engine) TextEnd(id, messageID string, b *agjson.TextEnd) {
	if b == nil {
		b = &agjson.TextEnd{}
	}
	e.Emit(agjson.Event{ID: id, MessageID: messageID, Body: b})
}

// ReasoningStart opens a reasoning block; b may be nil. id must not be empty.
func (e *Engine) ReasoningStart(id, messageID string, b *agjson.ReasoningStart) {
	if b == nil {
		b = &agjson.ReasoningStart{}
	}
	e.Emit(agjson.Event{ID: id, MessageID: messageID, Body: b})
}

// ReasoningDelta appends to a reasoning block; one that was never opened is opened first.
func (e *Engine) ReasoningDelta(id, messageID, delta string) {
	e.Emit(agjson.Event{ID: id, MessageID: messageID, Body: &agjson.ReasoningDelta{Delta: delta}})
}

// ReasoningSoFar is TextSoFar for reasoning.
func (e *Engine) ReasoningSoFar(id, messageID, total string) bool {
	delta, ok := e.increment(blockKey{reasoningKind, id}, total)
	if ok {
		e.ReasoningDelta(id, messageID, delta)
		e.blocks[blockKey{reasoningKind, id}].soFar.WriteString(delta)
	}
	return ok
}

// ReasoningEnd seals a reasoning block; b may be nil.
func (e *Engine) ReasoningEnd(id, messageID string, b *agjson.ReasoningEnd) {
	if b == nil {
		b = &agjson.ReasoningEnd{}
	}
	e.Emit(agjson.Event{ID: id, MessageID: messageID, Body: b})
}

// ReasoningOpaque sets the provider's blob on a reasoning block, sealed or not (SPEC §5).
func (e *Engine) ReasoningOpaque(id, messageID string, b *agjson.ReasoningOpaque) {
	e.Emit(agjson.Event{ID: id, MessageID: messageID, Body: b})
}

// Block is the id under which the facet's text or reasoning block goes now; "" when it was never opened.
func (e *Engine) Block(id string, reasoning bool) string {
	k := blockKey{textKind, id}
	if reasoning {
		k.kind = reasoningKind
	}
	if b := e.blocks[k]; b != nil {
		return b.id
	}
	return ""
}

// ContentBlock says one whole block.
func (e *Engine) ContentBlock(messageID string, b agjson.Block) {
	e.Emit(agjson.Event{MessageID: messageID, Body: &agjson.ContentBlock{Block: b}})
}

// ProviderRaw carries a part for which there is no block (SPEC §2 provider-raw); raw is a JSON value.
func (e *Engine) ProviderRaw(messageID, vendor string, raw []byte) {
	e.ContentBlock(messageID, &agjson.ProviderRawBlock{Vendor: vendor, Raw: raw})
}

func (e *Engine) increment(k blockKey, total string) (string, bool) {
	b := e.blocks[k]
	if b == nil || !b.usable() {
		return total, true
	}
	return strings.CutPrefix(total, b.soFar.String())
}

// usable says whether the block takes deltas: it and all around it are open.
func (b *block) usable() bool { return b.open && b.msg.open }

func (e *Engine) blockStart(ev agjson.Event, kind blockKind, candidate agjson.Number) {
	key := ev.ID
	if key == "" {
		key = e.Derive("block", "anonymous")
	}
	m := e.home(&ev, candidate)
	id := strings.Clone(key)
	if e.blockIDs[id] {
		id = again(id, func(id string) bool { return e.blockIDs[id] })
	}
	e.blockIDs[id] = true
	e.blocks[blockKey{kind, strings.Clone(key)}] = &block{id: id, msg: m, open: true}
	ev.ID, ev.TurnID = id, m.turn.id
	e.put(ev)
}

func (e *Engine) blockDelta(ev agjson.Event, kind blockKind) {
	b := e.blocks[blockKey{kind, ev.ID}]
	if b != nil && !b.usable() {
		_, opaque := ev.Body.(*agjson.ReasoningOpaque)
		if !opaque || !b.msg.open {
			b = nil
		}
	}
	if b == nil {
		start := agjson.Event{ID: ev.ID, TurnID: ev.TurnID, MessageID: ev.MessageID, Body: &agjson.TextStart{}}
		if kind == reasoningKind {
			start.Body = &agjson.ReasoningStart{}
		}
		e.blockStart(start, kind, "")
		b = e.blocks[blockKey{kind, ev.ID}]
	}
	if ev.MessageID != "" {
		ev.MessageID = b.msg.id
	}
	ev.ID, ev.TurnID = b.id, b.msg.turn.id
	e.put(ev)
}

func (e *Engine) blockEnd(ev agjson.Event, kind blockKind) {
	b := e.blocks[blockKey{kind, ev.ID}]
	if b == nil || !b.usable() {
		e.refuse("no-open-block", ev)
		return
	}
	b.open = false
	if ev.MessageID != "" {
		ev.MessageID = b.msg.id
	}
	ev.ID, ev.TurnID = b.id, b.msg.turn.id
	e.put(ev)
}

func (e *Engine) contentBlock(ev agjson.Event, b *agjson.ContentBlock) {
	if b.Transient != nil && *b.Transient { // folds to nothing, so it needs no message (SPEC §5 content.block)
		e.mark(&ev)
		e.put(ev)
		return
	}
	data, _ := b.Block.(*agjson.DataBlock)
	key := ev.ID
	if data != nil && key == "" && data.ID != nil {
		key = *data.ID
	}
	w, known := e.whole[key]
	if known { // replaces in place (SPEC §5 INV-BLOCK)
		name(&ev, data, w.id)
		ev.TurnID, ev.MessageID = w.msg.turn.id, w.msg.id
		if !w.msg.open {
			e.refuse("sealed-message", ev)
			return
		}
		e.put(ev)
		return
	}
	m := e.home(&ev, b.CandidateIndex)
	if key != "" {
		id := strings.Clone(key)
		if e.blockIDs[id] {
			id = again(id, func(id string) bool { return e.blockIDs[id] })
		}
		e.blockIDs[id] = true
		e.whole[strings.Clone(key)] = whole{id, m}
		name(&ev, data, id)
	}
	ev.TurnID = m.turn.id
	e.put(ev)
}

// name gives a whole block the id that it goes by.
func name(ev *agjson.Event, data *agjson.DataBlock, id string) {
	if ev.ID != "" {
		ev.ID = id
	} else if data != nil && *data.ID != id {
		data.ID = &id
	}
}
