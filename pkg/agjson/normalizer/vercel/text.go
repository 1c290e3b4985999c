package vercel

import (
	"github.com/agwire/agwire/pkg/agjson"
)

// part is a text or reasoning part that is open.
type part struct {
	reasoning bool
	native    string // its id in the step
	id        string // `<message id>:<native>`
	message   string
	named     bool // reasoning whose item id is known
}

// find is the open part of that id; nil when there is none. The last one wins, and few are ever open.
func (f *facet) find(reasoning bool, native string) *part {
	for i := len(f.parts) - 1; i >= 0; i-- {
		if p := &f.parts[i]; p.reasoning == reasoning && p.native == native {
			return p
		}
	}
	return nil
}

// open registers a part in the message that takes content.
func (f *facet) open(reasoning bool, native string) *part {
	message := f.ensureMessage()
	id := message + ":" + native
	f.parts = append(f.parts, part{reasoning: reasoning, native: id[len(message)+1:], id: id, message: message})
	return &f.parts[len(f.parts)-1]
}

func (f *facet) blockStart(v agjson.Value, reasoning bool) {
	p := f.open(reasoning, idOf(v.Get("id")))
	meta := v.Get("providerMetadata")
	if !reasoning {
		f.TextStart(p.id, p.message, &agjson.TextStart{ProviderMetadata: bag(meta)})
		return
	}
	s := unseal(meta)
	p.named = s.itemID != nil
	f.ReasoningStart(p.id, p.message, &agjson.ReasoningStart{ItemID: s.itemID, ProviderMetadata: s.rest})
	for _, b := range s.blobs {
		// An encrypted content that comes this early is a prefix of the one at the end.
		if b.kind != agjson.OpaqueKindEncrypted {
			f.opaque(p, b, nil)
		}
	}
}

// firstString is v when it is a string, else the member of the frame called name.
func firstString(v, frame agjson.Value, name string) agjson.Value {
	if v.Kind() == agjson.KindString {
		return v
	}
	return frame.Get(name)
}

// blockDelta takes `delta` of the UI stream or `text` of the fullStream. One that brings only metadata has an empty text.
func (f *facet) blockDelta(v agjson.Value, reasoning bool) {
	said := firstString(v.Get("delta"), v, "text")
	if said.Kind() != agjson.KindString {
		f.Unparsed(v)
		return
	}
	delta := said.Str()
	native := idOf(v.Get("id"))
	p := f.find(reasoning, native)
	if p == nil {
		p = f.open(reasoning, native)
	}
	meta := v.Get("providerMetadata")
	if !reasoning {
		f.Emit(agjson.Event{ID: p.id, MessageID: p.message, Body: &agjson.TextDelta{Delta: delta, ProviderMetadata: bag(meta)}})
		return
	}
	s := unseal(meta)
	if delta != "" || s.rest != nil || len(s.blobs) == 0 {
		f.Emit(agjson.Event{ID: p.id, MessageID: p.message, Body: &agjson.ReasoningDelta{Delta: delta, ProviderMetadata: s.rest}})
	}
	f.opaques(p, s)
}

func (f *facet) blockEnd(v agjson.Value, reasoning bool) {
	native := idOf(v.Get("id"))
	p := f.find(reasoning, native)
	if p == nil {
		f.Carry(v.Get("type").Str(), v) // of a part that is not open
		return
	}
	meta := v.Get("providerMetadata")
	if reasoning {
		s := unseal(meta)
		f.ReasoningEnd(p.id, p.message, &agjson.ReasoningEnd{ProviderMetadata: s.rest})
		f.opaques(p, s)
	} else {
		end := &agjson.TextEnd{ProviderMetadata: bag(meta)}
		ev := agjson.Event{ID: p.id, MessageID: p.message, Body: end}
		var all bool
		if end.Citations, all = citations(v.Get("citations")); !all {
			ev.Meta = note("citations", v.Get("citations").Raw())
		}
		f.Emit(ev)
	}
	f.drop(p)
}

func (f *facet) drop(p *part) {
	for i := range f.parts {
		if &f.parts[i] == p {
			f.parts = append(f.parts[:i], f.parts[i+1:]...)
			return
		}
	}
}

// endParts ends the parts that were left open, in opening order.
func (f *facet) endParts() {
	for _, p := range f.parts {
		if p.reasoning {
			f.ReasoningEnd(p.id, p.message, nil)
		} else {
			f.TextEnd(p.id, p.message, nil)
		}
	}
	f.parts = f.parts[:0]
}

func (f *facet) opaques(p *part, s sealed) {
	for _, b := range s.blobs {
		f.opaque(p, b, s.itemID)
	}
}

// opaque sets the blob on the part's block (SPEC §10.13), with the item id where the block does not have it yet.
func (f *facet) opaque(p *part, b blob, itemID *string) {
	if p.named {
		itemID = nil
	}
	p.named = p.named || itemID != nil
	f.ReasoningOpaque(p.id, p.message, &agjson.ReasoningOpaque{
		Kind: b.kind, Value: agjson.Secret(b.value), Provider: new(b.provider), ItemID: itemID,
	})
}
