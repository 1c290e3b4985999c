package reducer

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// openPart is the events since the boundary that fold into messages and turn records, the deltas of a block's part joined
// into one. It keeps no text of its own but the scratch of arguments and signatures: a delta is a range of the block's
// buffer.
type openPart struct {
	list []*entry
	free []*entry // zero entries to use again
	dead int      // entries that a later event has made void
	gen  uint64   // which open part
}

type entry struct {
	ev   agjson.Event
	part *part // of a text or reasoning event: the part it goes to; a delta's text is part.buf[from:to]
	blk  *block
	from int
	to   int
	buf  []byte // of a delta of arguments or of a signature
	dead bool
}

// place is an entry of an open part; the zero place is none.
type place struct {
	gen uint64
	i   int
}

// maxKept is how many entries an open part keeps for the next.
const maxKept = 16

// clear starts the next open part.
func (o *openPart) clear() {
	for _, e := range o.list {
		if len(o.free) == maxKept {
			break
		}
		*e = entry{}
		o.free = append(o.free, e)
	}
	clear(o.list)
	if o.list = o.list[:0]; cap(o.list) > maxKept {
		o.list = nil
	}
	o.dead = 0
	o.gen++
}

// add takes the event as it is.
func (o *openPart) add(ev *agjson.Event) *entry {
	var e *entry
	if n := len(o.free); n > 0 {
		e = o.free[n-1]
		o.free = o.free[:n-1]
	} else {
		e = new(entry)
	}
	e.ev = *ev
	o.list = append(o.list, e)
	return e
}

func (o *openPart) last() place { return place{o.gen, len(o.list) - 1} }

// at is the entry at p if it is of this open part and counts, else nil.
func (o *openPart) at(p place) *entry {
	if p.gen != o.gen || o.list[p.i].dead {
		return nil
	}
	return o.list[p.i]
}

// text takes a delta that was written to part p of block b from there on.
func (o *openPart) text(ev *agjson.Event, b *block, p *part, from int, pm agjson.Opaque) {
	e := o.at(p.entry)
	if e != nil && e.to > from {
		e.to = from // a character whose first half came earlier moves to the delta that completed it
	}
	switch {
	case e == nil || e.to != from || pm != nil && b.str.newest != p.entry:
		e = o.add(ev)
		e.own(b)
		e.ev.Body = delta(ev.Body, nil, pm)
		e.part, e.blk, e.from = p, b, from
		p.entry = o.last()
		b.str.newest = p.entry
	case pm != nil:
		e.ev.Body = delta(e.ev.Body, metadata(e.ev.Body), pm)
	}
	e.to = len(p.buf)
}

// delta is the body of a joined delta, without its text; it shares nothing with the body it is made of.
func delta(of agjson.Body, old, pm agjson.Opaque) agjson.Body {
	if pm != nil && old == nil {
		pm = append(agjson.Opaque{}, pm...)
	} else {
		pm = mergeObjects(old, pm)
	}
	if _, ok := of.(*agjson.TextDelta); ok {
		return &agjson.TextDelta{ProviderMetadata: pm}
	}
	return &agjson.ReasoningDelta{ProviderMetadata: pm}
}

// own makes the event keep nothing of what it was decoded from but its body.
func (e *entry) own(b *block) {
	e.ev.ID, e.ev.ParentID, e.ev.Meta, e.ev.Extra = b.id, "", nil, nil
	e.ev.MessageID = kept(e.ev.MessageID, b.msg.id)
	if t := b.msg.turn; t != nil {
		e.ev.TurnID = kept(e.ev.TurnID, t.id)
	} else {
		e.ev.TurnID = strings.Clone(e.ev.TurnID)
	}
}

// kept is id in memory that is kept anyway: that of have, where it is the same.
func kept(id, have string) string {
	if id == have {
		return have
	}
	return strings.Clone(id)
}

func metadata(body agjson.Body) agjson.Opaque {
	switch b := body.(type) {
	case *agjson.TextDelta:
		return b.ProviderMetadata
	case *agjson.ReasoningDelta:
		return b.ProviderMetadata
	}
	return nil
}

// scratch takes a delta whose text never shows in the fold.
func (o *openPart) scratch(ev *agjson.Event, b *block, delta string) {
	e := o.at(b.scratch)
	if e == nil {
		e = o.add(ev)
		e.own(b)
		e.ev.Body = &agjson.ToolArgsDelta{ToolCallID: b.call}
		if b.kind == reasoningBlock {
			e.ev.Body = &agjson.ReasoningOpaqueDelta{}
		}
		b.scratch = o.last()
	}
	e.buf = append(e.buf, delta...)
}

// drop makes the scratch void, since what it was for has come.
func (o *openPart) drop(at *place) {
	if e := o.at(*at); e != nil {
		e.dead = true
		e.buf = nil
		o.dead++
	}
	*at = place{}
}

// start takes the event that creates a reasoning block or opens a part of it.
func (o *openPart) start(ev *agjson.Event, b *block) {
	e := o.add(ev)
	e.blk, e.part = b, b.str.cur
	b.str.newest = o.last()
}

// events is the open part, seqs 0.
func (o *openPart) events() []agjson.Event {
	out := make([]agjson.Event, 0, len(o.list)-o.dead)
	for _, e := range o.list {
		if !e.dead {
			out = append(out, e.event())
		}
	}
	for i, e := range o.list {
		// A delta without partIndex goes on with the part written last, so that part must come last here too.
		if e.part != nil && e.blk.continues(e, place{o.gen, i}) {
			ev := agjson.Event{ID: e.ev.ID, TurnID: e.ev.TurnID, MessageID: e.ev.MessageID}
			ev.Body = &agjson.ReasoningDelta{PartIndex: e.blk.str.cur.name}
			out = append(out, ev)
		}
	}
	return out
}

// continues says that e is the newest entry of the block, which still takes deltas, and not of the part written last.
func (b *block) continues(e *entry, at place) bool {
	return b.str != nil && b.str.newest == at && b.str.cur != e.part && !b.msg.removed && b.msg.writable() == ""
}

// event is the entry with its text.
func (e *entry) event() agjson.Event {
	ev := e.ev
	ev.Seq = 0
	switch b := ev.Body.(type) {
	case *agjson.TextDelta:
		c := *b
		c.Delta = alias(e.part.buf[e.from:e.to])
		ev.Body = &c
	case *agjson.ReasoningDelta:
		c := *b
		c.Delta, c.PartIndex = alias(e.part.buf[e.from:e.to]), e.part.name
		ev.Body = &c
	case *agjson.ToolArgsDelta:
		c := *b
		c.Delta = string(e.buf)
		ev.Body = &c
	case *agjson.ReasoningOpaqueDelta:
		c := *b
		c.Delta = agjson.Secret(e.buf)
		ev.Body = &c
	}
	return ev
}
