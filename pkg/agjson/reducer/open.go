package reducer

import (
	"bytes"

	"github.com/agwire/agwire/pkg/agjson"
)

// openPart is the events since the boundary that fold into messages and turn records, the deltas of a block's part joined
// into one. It keeps no text of its own but the scratch of arguments and signatures: a delta is a range of the block's
// buffer.
type openPart struct {
	list []*entry
	dead int    // entries that a later event has made void
	gen  uint64 // which open part; entries of an older one are no longer in list
}

type entry struct {
	ev   agjson.Event
	gen  uint64
	part *part // of a text or reasoning delta: its text is part.buf[from:to]
	blk  *block
	from int
	to   int
	buf  []byte // of a delta of arguments or of a signature
	dead bool
}

// clear starts the next open part.
func (o *openPart) clear() {
	if len(o.list) == 0 {
		return
	}
	clear(o.list)
	o.list = o.list[:0]
	o.dead = 0
	o.gen++
}

func (o *openPart) add(ev *agjson.Event) *entry {
	e := &entry{ev: *ev, gen: o.gen}
	o.list = append(o.list, e)
	return e
}

// live is e while it is in the list and counts.
func (o *openPart) live(e *entry) bool { return e != nil && e.gen == o.gen && !e.dead }

// text takes a delta that was written to part p of block b from there on.
func (o *openPart) text(ev *agjson.Event, b *block, p *part, from int, pm agjson.Opaque) {
	e := p.entry
	if o.live(e) && e.to > from {
		e.to = from // a character whose first half came earlier moves to the delta that completed it
	}
	if !o.live(e) || pm != nil && b.str.newest != e || e.to != from {
		e = o.add(ev)
		e.part, e.blk, e.from = p, b, from
		p.entry = e
		b.str.newest = e
	} else if pm != nil {
		e.ev.Body = withMetadata(e.ev.Body, pm)
	}
	e.to = len(p.buf)
}

// withMetadata is a copy of the delta's body with more provider metadata.
func withMetadata(body agjson.Body, pm agjson.Opaque) agjson.Body {
	switch b := body.(type) {
	case *agjson.TextDelta:
		c := *b
		c.ProviderMetadata = mergeObjects(b.ProviderMetadata, pm)
		return &c
	case *agjson.ReasoningDelta:
		c := *b
		c.ProviderMetadata = mergeObjects(b.ProviderMetadata, pm)
		return &c
	}
	return body
}

// scratch takes a delta whose text never shows in the fold.
func (o *openPart) scratch(ev *agjson.Event, at **entry, delta string) {
	if !o.live(*at) {
		*at = o.add(ev)
	}
	(*at).buf = append((*at).buf, delta...)
}

// drop makes the scratch void, since what it was for has come.
func (o *openPart) drop(at **entry) {
	if o.live(*at) {
		(*at).dead = true
		o.dead++
	}
	*at = nil
}

// events is the open part, seqs 0.
func (o *openPart) events() []agjson.Event {
	out := make([]agjson.Event, 0, len(o.list)-o.dead)
	for _, e := range o.list {
		if !e.dead {
			out = append(out, e.event())
		}
	}
	for _, e := range o.list {
		// A delta without partIndex goes on with the part written last, so that part must come last here too.
		if e.part != nil && !e.dead && e.blk.continues(e) {
			ev := agjson.Event{ID: e.ev.ID, TurnID: e.ev.TurnID, MessageID: e.ev.MessageID}
			ev.Body = &agjson.ReasoningDelta{PartIndex: e.blk.str.cur.name}
			out = append(out, ev)
		}
	}
	return out
}

// continues says that e is the newest entry of the block, which still takes deltas, and not of the part written last.
func (b *block) continues(e *entry) bool {
	return b.str != nil && b.str.newest == e && b.str.cur != e.part && !b.msg.removed && b.msg.writable() == ""
}

// start takes the event that creates a reasoning block or opens a part of it.
func (o *openPart) start(ev *agjson.Event, b *block) {
	e := o.add(ev)
	e.blk, e.part = b, b.str.cur
	b.str.newest = e
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
		c.Delta = string(bytes.Clone(e.buf))
		ev.Body = &c
	case *agjson.ReasoningOpaqueDelta:
		c := *b
		c.Delta = agjson.Secret(e.buf)
		ev.Body = &c
	}
	return ev
}
