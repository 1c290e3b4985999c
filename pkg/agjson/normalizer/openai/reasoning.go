package openai

import "github.com/agwire/agwire/pkg/agjson"

// thought finds a part of reasoning, or adds it. An item has up to two blocks: its summary, and the thoughts themselves.
func (f *facet) thought(r *round, it *item, index int, full bool) *part {
	for _, p := range it.parts {
		if p.index == index && p.full == full {
			return p
		}
	}
	p := &part{index: index, full: full, block: f.thoughtBlock(r, it, full)}
	it.parts = append(it.parts, p)
	return p
}

// thoughtBlock is the block of an item's summary or thoughts, opened when it is not yet.
func (f *facet) thoughtBlock(r *round, it *item, full bool) string {
	for _, p := range it.parts {
		if p.full == full {
			return p.block
		}
	}
	block := ""
	switch {
	case it.id == "":
		block = f.Derive(r.message, "reasoning")
	case full:
		block = f.Qualify(it.id) + ":content"
	default:
		block = f.Qualify(it.id)
	}
	start := &agjson.ReasoningStart{}
	if full {
		start.Mode = agjson.ReasoningModeFull
	}
	if it.id != "" {
		start.ItemID = new(it.id)
	}
	f.ReasoningStart(block, r.message, start)
	return block
}

// think adds text to a part. Parts beyond the first are told apart by their index (SPEC §4 partIndex).
func (f *facet) think(r *round, p *part, delta string) {
	p.open = true
	p.text.WriteString(delta)
	body := &agjson.ReasoningDelta{Delta: delta}
	if p.index > 0 {
		body.PartIndex = agjson.IntNumber(int64(p.index))
	}
	f.Emit(agjson.Event{ID: p.block, MessageID: r.message, Body: body})
}

func (f *facet) thoughtDelta(ev agjson.Value, index string, full bool) {
	delta, id := ev.Get("delta"), ev.Get("item_id").Str()
	if delta.Kind() != agjson.KindString || f.over(reasoningItem, id) {
		f.Carry(ev.Get("type").Str(), ev)
		return
	}
	r := f.receiving()
	r.raw = true
	it := r.item(reasoningItem, id)
	if it.done {
		f.Carry(ev.Get("type").Str(), ev)
		return
	}
	n, _ := ev.Get(index).Int()
	f.think(r, f.thought(r, it, max(n, 0), full), delta.Str())
}

func (f *facet) thoughtDone(ev agjson.Value, index string, full bool) {
	whole, id := ev.Get("text"), ev.Get("item_id").Str()
	if whole.Kind() != agjson.KindString {
		f.Carry(ev.Get("type").Str(), ev)
		return
	}
	if f.over(reasoningItem, id) {
		return
	}
	r := f.receiving()
	it := r.item(reasoningItem, id)
	if it.done {
		return
	}
	n, _ := ev.Get(index).Int()
	if !f.thinkRest(r, it, max(n, 0), full, whole.Str()) {
		f.Carry(ev.Get("type").Str(), ev)
	}
}

// thinkRest says what a whole part has beyond what was said of it; false when it begins otherwise.
func (f *facet) thinkRest(r *round, it *item, index int, full bool, whole string) bool {
	if whole == "" {
		return true
	}
	p := f.thought(r, it, index, full)
	rest, ok := beyond(p.text.String(), whole)
	if ok && rest != "" {
		f.think(r, p, rest)
	}
	return ok
}

// reasoning says a whole reasoning item, with its encrypted content, which only the whole one has (SPEC §10 item 4).
func (f *facet) reasoning(r *round, v agjson.Value) {
	it := r.thoughtTwin(v)
	if it.done {
		return
	}
	ok := true
	for i, s := range v.Get("summary").Items {
		ok = f.thinkRest(r, it, i, false, s.Get("text").Str()) && ok
	}
	list := v.Get("content")
	for i, c := range list.Items { // the SDK puts the summary here, the Responses API the thoughts
		ok = f.thinkRest(r, it, i, c.Get("type").Str() == "reasoning_text", c.Get("text").Str()) && ok
	}
	for _, list := range []agjson.Value{v.Get("rawContent"), v.Path("providerData", "content")} {
		for i, c := range list.Items {
			ok = f.thinkRest(r, it, i, true, c.Get("text").Str()) && ok
		}
	}
	if !ok {
		f.Carry("reasoning", v)
	}
	f.endReasoning(r, it)
	if enc := member(v, "encrypted_content").Str(); enc != "" {
		block := ""
		if len(it.parts) > 0 {
			block = it.parts[0].block
		} else {
			block = f.thoughtBlock(r, it, false)
			f.ReasoningEnd(block, r.message, nil)
		}
		opaque := &agjson.ReasoningOpaque{Kind: agjson.OpaqueKindCiphertext, Value: agjson.Secret(enc), Provider: new(vendor)}
		if it.id != "" {
			opaque.ItemID = new(it.id)
		}
		f.ReasoningOpaque(block, r.message, opaque)
	}
}

// thoughtTwin is the item that a whole one is of: by its id, or, without one, the first that was streamed without one.
func (r *round) thoughtTwin(v agjson.Value) *item {
	id := v.Get("id").Str()
	if it := r.known(reasoningItem, id); it != nil {
		return it
	}
	for _, it := range r.items {
		if it.kind == reasoningItem && it.id == "" && id == "" && !it.heard {
			return it
		}
	}
	return r.item(reasoningItem, id)
}

// endReasoning ends the blocks of an item.
func (f *facet) endReasoning(r *round, it *item) {
	if it.done {
		return
	}
	it.done = true
	ended := map[string]bool{}
	for _, p := range it.parts {
		if !ended[p.block] {
			ended[p.block] = true
			f.ReasoningEnd(p.block, r.message, nil)
		}
	}
}

// reasoningCreated maps the run item of reasoning.
func (f *facet) reasoningCreated(v agjson.Value) {
	r := f.round
	if r != nil && r.closed {
		if it := r.known(reasoningItem, v.Get("id").Str()); it != nil && it.done {
			return
		}
	}
	r = f.current()
	it := r.thoughtTwin(v)
	if it.done && it.id == "" && !it.heard {
		it.heard = true // its text may be less than what was streamed
		return
	}
	f.reasoning(r, v)
	it.heard = true
}
