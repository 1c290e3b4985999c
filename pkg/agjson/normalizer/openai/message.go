package openai

import (
	"strconv"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// textPart finds a part of a message, or adds it. Chat Completions does not number its parts.
func (f *facet) textPart(r *round, it *item, index int, refusal bool) *part {
	for _, p := range it.parts {
		if p.refusal == refusal && (p.index == index || r.chat.on) {
			return p
		}
	}
	p := &part{index: index, refusal: refusal}
	switch {
	case it.id == "":
		p.block = f.Derive(r.message, "text")
	case refusal && r.chat.on:
		p.block = f.Qualify(it.id) + ":refusal"
	default:
		p.block = f.Qualify(it.id) + ":" + strconv.Itoa(index)
	}
	it.parts = append(it.parts, p)
	return p
}

// say adds text to a part.
func (f *facet) say(r *round, p *part, delta string) {
	if !p.open {
		p.open = true
		start := &agjson.TextStart{Role: string(agjson.RoleAssistant)}
		if p.refusal {
			start.ProviderMetadata = agjson.Opaque(`{"type":"refusal"}`)
		}
		f.TextStart(p.block, r.message, start)
	}
	p.text.WriteString(delta)
	if p.refusal {
		r.refusal.WriteString(delta)
	}
	f.TextDelta(p.block, r.message, delta)
}

// textDelta maps a delta of the Responses API. One of a response that is complete repeats it.
func (f *facet) textDelta(ev agjson.Value, refusal bool) {
	delta := ev.Get("delta")
	id := ev.Get("item_id").Str()
	if delta.Kind() != agjson.KindString || f.over(messageItem, id) {
		f.Carry(ev.Get("type").Str(), ev)
		return
	}
	r := f.receiving()
	r.raw = true
	it := r.item(messageItem, id)
	if it.done {
		f.Carry(ev.Get("type").Str(), ev)
		return
	}
	index, _ := ev.Get("content_index").Int()
	if p := f.textPart(r, it, index, refusal); !r.repeated(p, delta.Str()) {
		f.say(r, p, delta.Str())
	}
}

// over says that an item is one of the last response, and that that is complete.
func (f *facet) over(kind itemKind, id string) bool {
	return f.round != nil && f.round.ended && f.round.known(kind, id) != nil
}

// textDone says what a part has beyond its deltas.
func (f *facet) textDone(ev agjson.Value, refusal bool, whole agjson.Value) {
	id := ev.Get("item_id").Str()
	if whole.Kind() != agjson.KindString {
		f.Carry(ev.Get("type").Str(), ev)
		return
	}
	if f.over(messageItem, id) {
		return
	}
	r := f.receiving()
	it := r.item(messageItem, id)
	if it.done {
		return
	}
	index, _ := ev.Get("content_index").Int()
	if p := f.textPart(r, it, index, refusal); !f.sayRest(r, p, whole.Str()) {
		f.Carry(ev.Get("type").Str(), ev)
	}
}

// sayRest says what a whole text has beyond what was said. It answers false when it begins otherwise: that cannot be taken back.
func (f *facet) sayRest(r *round, p *part, whole string) bool {
	rest, ok := beyond(p.text.String(), whole)
	if ok && rest != "" {
		f.say(r, p, rest)
	}
	return ok
}

// outputTextDelta is the SDK's word on a text delta. It comes before the Responses API's own, which then repeats it.
func (f *facet) outputTextDelta(data agjson.Value) {
	delta := data.Get("delta")
	if delta.Kind() != agjson.KindString {
		f.Carry("output_text_delta", data)
		return
	}
	pd := data.Get("providerData")
	id := orElse(data.Get("itemId").Str(), pd.Get("item_id").Str())
	if r := f.round; r != nil && r.raw && !r.ended && id == "" || f.over(messageItem, id) {
		return // its twin says of what
	}
	r := f.receiving()
	it := r.item(messageItem, orElse(id, r.id))
	if it.done {
		return
	}
	index, _ := pd.Get("content_index").Int()
	p := f.textPart(r, it, index, false)
	f.say(r, p, delta.Str())
	r.twin = twin{p, delta.Str()}
}

// twin is what the SDK has said of a text, until the Responses API repeats it.
type twin struct {
	part  *part
	delta string
}

// repeated says that a delta is the twin of the one before it.
func (r *round) repeated(p *part, delta string) bool {
	t := r.twin
	r.twin = twin{}
	return t.part == p && t.delta == delta
}

// annotation keeps an annotation for the end of its text, in case that does not repeat it.
func (f *facet) annotation(ev agjson.Value) {
	id, a := ev.Get("item_id").Str(), ev.Get("annotation")
	if a.Kind() != agjson.KindObject {
		f.Carry("response.output_text.annotation.added", ev)
		return
	}
	if f.over(messageItem, id) {
		return
	}
	r := f.receiving()
	index, _ := ev.Get("content_index").Int()
	p := f.textPart(r, r.item(messageItem, id), index, false)
	if p.annotations != nil {
		p.annotations = append(p.annotations, ',')
	}
	p.annotations = append(p.annotations, a.Raw()...)
}

// message says a whole message of a response's output.
func (f *facet) message(r *round, v agjson.Value) *item {
	it := f.twinOf(r, v)
	if it == nil {
		it = r.item(messageItem, v.Get("id").Str())
	}
	f.rest(r, it, v)
	return it
}

// rest says what a whole message has beyond what was said: the rest of its texts, their citations, and its other content.
func (f *facet) rest(r *round, it *item, v agjson.Value) {
	if it.done {
		return
	}
	if phase := member(v, "phase").Str(); phase != "" {
		it.phase = strings.Clone(phase)
	}
	content := v.Get("content")
	if content.Kind() == agjson.KindString {
		f.sayRest(r, f.textPart(r, it, 0, false), content.Str())
	}
	for i, c := range content.Items {
		switch kind := c.Get("type").Str(); kind {
		case "output_text", "refusal":
			whole := c.Get("text")
			if kind == "refusal" {
				whole = c.Get("refusal")
			}
			p := f.textPart(r, it, i, kind == "refusal")
			if whole.Kind() != agjson.KindString || !f.sayRest(r, p, whole.Str()) {
				f.Carry("message", v)
			}
		default:
			f.content(r, c)
		}
	}
	f.endMessage(r, it, content)
}

// content says a part of a message that is no text.
func (f *facet) content(r *round, c agjson.Value) {
	switch c.Get("type").Str() {
	case "audio", "output_audio":
		if b := audioBlock(c); b != nil {
			f.ContentBlock(r.message, b)
			return
		}
	case "image", "output_image":
		if b := imageBlock(c); b != nil {
			f.ContentBlock(r.message, b)
			return
		}
	}
	f.ProviderRaw(r.message, vendor, c.Raw())
}

// endMessage ends the texts of a message. content is what the whole message says of them; absent when there is none.
func (f *facet) endMessage(r *round, it *item, content agjson.Value) {
	if it.done {
		return
	}
	it.done = true
	for _, p := range it.parts {
		if !p.open {
			continue
		}
		p.open = false
		c := content.Item(p.index)
		if p.refusal != (c.Get("type").Str() == "refusal") {
			c = agjson.Value{}
		}
		list := member(c, "annotations")
		if list.Len() == 0 && p.annotations != nil {
			list, _ = agjson.ParseValue(append(append([]byte{'['}, p.annotations...), ']'))
		}
		it.cited = it.cited || list.Len() > 0
		end := &agjson.TextEnd{}
		cited, rest := f.citations(r, list, healed(p.text.String()))
		end.Citations = cited
		bag := []agjson.Member{{Name: "annotations", Value: rest}}
		if it.phase != "" {
			it.said = true
			bag = append(bag, agjson.Member{Name: "phase", Value: agjson.Quote(it.phase)})
		}
		if l := member(c, "logprobs"); l.Len() > 0 {
			bag = append(bag, agjson.Member{Name: "logprobs", Value: l.Raw()})
		}
		end.ProviderMetadata = agjson.Opaque(normalizer.Object(bag...))
		f.TextEnd(p.block, r.message, end)
	}
}

// twinOf is the message that a whole one is of: by its id, or, since some providers give it another one afterwards, the first one of
// the same text that no whole one has named yet.
func (f *facet) twinOf(r *round, v agjson.Value) *item {
	if it := r.known(messageItem, v.Get("id").Str()); it != nil {
		return it
	}
	whole := messageText(v)
	for _, it := range r.items {
		if it.kind == messageItem && !it.heard && it.hasText() && sameText(it, whole) {
			return it
		}
	}
	return nil
}

// hasText says whether anything of a message was said.
func (it *item) hasText() bool {
	for _, p := range it.parts {
		if p.text.Len() > 0 {
			return true
		}
	}
	return false
}

func sameText(it *item, whole string) bool {
	var s strings.Builder
	for _, p := range it.parts {
		s.WriteString(p.text.String())
	}
	rest, ok := beyond(s.String(), whole)
	return ok && rest == ""
}

// messageText is all the text of a whole message.
func messageText(v agjson.Value) string {
	var s strings.Builder
	for _, c := range v.Get("content").Items {
		s.WriteString(c.Get("text").Str())
		s.WriteString(c.Get("refusal").Str())
	}
	return s.String()
}

// messageCreated maps the run item of a message. It mostly repeats the response: then it says nothing, or what the end of the
// text has left out. A message without an id was made up by the SDK, after the run; it is carried.
func (f *facet) messageCreated(v agjson.Value) {
	r := f.round
	if r == nil {
		f.message(f.current(), v).heard = true
		return
	}
	it := f.twinOf(r, v)
	switch {
	case it != nil && it.heard:
	case it != nil && it.done:
		it.heard = true
		f.lateMessage(r, it, v)
	case it != nil:
		it.heard = true
		f.rest(r, it, v)
	case v.Get("id").Str() == "":
		f.lateMessage(r, nil, v)
	default:
		f.message(f.current(), v).heard = true
	}
}

// lateMessage carries what a message's run item adds once its text has ended. The response's turn is over then, unless a call waits
// for its result.
func (f *facet) lateMessage(r *round, it *item, v agjson.Value) {
	phase := member(v, "phase")
	id := text(v.Get("id"))
	late := func(key string, list ...agjson.Member) {
		if r.ended && !f.waits(r) {
			f.settle()
		}
		f.Ext(key, normalizer.Object(list...))
	}
	for _, c := range v.Get("content").Items {
		if s := c.Get("text"); it == nil && s.Kind() == agjson.KindString {
			late("late-message",
				agjson.Member{Name: "text", Value: s.Raw()},
				agjson.Member{Name: "forTurnId", Value: agjson.Quote(r.turn)},
				agjson.Member{Name: "phase", Value: text(phase)})
		}
		if list := member(c, "annotations"); list.Len() > 0 && (it == nil || !it.cited) {
			late("late-citations", agjson.Member{Name: "itemId", Value: id}, agjson.Member{Name: "annotations", Value: list.Raw()})
		}
	}
	if it != nil && !it.said && phase.Str() != "" {
		late("late-phase", agjson.Member{Name: "itemId", Value: id}, agjson.Member{Name: "phase", Value: phase.Raw()})
	}
}
