package reducer

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
)

// blockContent is what a block says: val is never changed, only replaced; str is what deltas have added to it so far, nil
// once the block is sealed.
type blockContent struct {
	val     agjson.Block
	str     *stream
	scratch place // arguments or signature in the open part
}

// stream is a text under way.
type stream struct {
	first  part    // the only part, mostly
	parts  []*part // all of them, in the order of their index, the unnamed one first; nil while there is but first
	cur    *part   // the part written last; nil before the first
	pm     bag     // provider metadata
	newest place   // the block's newest event in the open part
}

type part struct {
	name  agjson.Number // its index as it came; "" for text that came without one
	index float64       // -Inf for the unnamed part
	buf   []byte
	entry place // the part's newest delta in the open part
}

// at moves to the part, which is made where it is not there yet; without an index to the one written last.
func (s *stream) at(index agjson.Number) *part {
	if s.cur == nil {
		s.cur = &s.first
		s.cur.set(index)
		return s.cur
	}
	if index == "" || index == s.cur.name {
		return s.cur
	}
	var want part
	want.set(index)
	if s.cur.index == want.index {
		return s.cur
	}
	if s.parts == nil {
		s.parts = []*part{&s.first}
	}
	i, ok := slices.BinarySearchFunc(s.parts, want.index, func(p *part, f float64) int { return cmp.Compare(p.index, f) })
	if !ok {
		s.parts = slices.Insert(s.parts, i, &want)
	}
	s.cur = s.parts[i]
	return s.cur
}

// set gives a new part its index.
func (p *part) set(index agjson.Number) {
	if p.index = math.Inf(-1); index == "" {
		return
	}
	p.name = agjson.Number(strings.Clone(string(index)))
	f, err := index.Float64()
	if err != nil {
		f = math.Copysign(math.MaxFloat64, f)
	}
	p.index = f
}

// write appends to the part and returns where in its buffer that begins. Two halves of a surrogate pair that meet become
// their character, which then counts as written now.
func (p *part) write(delta string) (from int) {
	from = len(p.buf)
	if from >= 3 && len(delta) >= 3 && p.buf[from-3] == 0xED && p.buf[from-2] >= 0xA0 && p.buf[from-2] < 0xB0 &&
		delta[0] == 0xED && delta[1] >= 0xB0 {
		from -= 3
		p.buf = appendJoined(slices.Clone(p.buf[:from]), string(p.buf[from:])+delta[:3])
		delta = delta[3:]
	}
	p.buf = append(p.buf, delta...)
	return from
}

// appendJoined appends the character that a pair of surrogates, six bytes of generalized UTF-8, stands for.
func appendJoined(dst []byte, pair string) []byte {
	high := rune(pair[1]&0xF)<<6 | rune(pair[2]&0x3F)
	low := rune(pair[4]&0xF)<<6 | rune(pair[5]&0x3F)
	return append(dst, string(high<<10|low+0x10000)...)
}

// text is the parts joined. What it returns shares the buffer, of which what is written stays as it is.
func (s *stream) text() string {
	if s.parts == nil {
		return alias(s.first.buf)
	}
	n := 0
	for _, p := range s.parts {
		n += len(p.buf)
	}
	out := make([]byte, 0, n)
	for _, p := range s.parts {
		out = append(out, p.buf...)
	}
	return alias(out)
}

// final is text in memory of its own size; a single part, which the open part may still show, then shares that.
func (s *stream) final() string {
	t := s.text()
	if p := &s.first; s.parts == nil && cap(p.buf) > len(t)+len(t)/8 {
		t = strings.Clone(t)
		p.buf = unsafe.Slice(unsafe.StringData(t), len(t))
	}
	return t
}

func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// value is the block as it is now.
func (b *block) value() agjson.Block {
	if b.str == nil {
		return b.val
	}
	switch v := b.val.(type) {
	case *agjson.TextBlock:
		c := *v
		c.Text = b.str.text()
		c.ProviderMetadata = agjson.Opaque(b.str.pm.bytes())
		return &c
	case *agjson.ReasoningBlock:
		c := *v
		c.Text = ptr(b.str.text())
		c.ProviderMetadata = agjson.Opaque(b.str.pm.bytes())
		return &c
	}
	return b.val
}

func (b *block) startText(ev *agjson.Event, v *agjson.TextStart) {
	b.str = &stream{}
	b.str.pm.merge(v.ProviderMetadata)
	b.val = &agjson.TextBlock{Meta: bytes.Clone(ev.Meta)}
}

func (b *block) endText(v *agjson.TextEnd) {
	c := *b.val.(*agjson.TextBlock)
	b.str.pm.merge(v.ProviderMetadata)
	c.Text, c.ProviderMetadata = b.str.final(), agjson.Opaque(b.str.pm.bytes())
	if v.Citations != nil {
		c.Citations = v.Citations
	}
	b.val, b.str = &c, nil
}

func (b *block) startReasoning(ev *agjson.Event, fresh bool, v *agjson.ReasoningStart) {
	if fresh {
		b.str = &stream{}
		b.val = &agjson.ReasoningBlock{}
	}
	c := *b.val.(*agjson.ReasoningBlock)
	if v.ItemID != nil {
		c.ItemID = ptr(strings.Clone(*v.ItemID))
	}
	c.Meta = mergeObjects(c.Meta, ev.Meta)
	b.val = &c
	b.str.pm.merge(v.ProviderMetadata)
	if v.PartIndex != "" {
		b.str.at(v.PartIndex)
	}
}

func (b *block) endReasoning(v *agjson.ReasoningEnd) {
	c := *b.val.(*agjson.ReasoningBlock)
	b.str.pm.merge(v.ProviderMetadata)
	c.Text, c.ProviderMetadata = ptr(b.str.final()), agjson.Opaque(b.str.pm.bytes())
	if v.Provider != nil {
		c.Provider = v.Provider
	}
	b.val, b.str = &c, nil
}

func (b *block) opaque(v *agjson.ReasoningOpaque) {
	c := *b.val.(*agjson.ReasoningBlock)
	c.Opaque = &agjson.OpaqueBlob{Kind: v.Kind, Value: v.Value, Provider: v.Provider}
	if v.ItemID != nil {
		c.ItemID = v.ItemID
	}
	b.val = &c
}

func (b *block) startTool(v *agjson.ToolStart) {
	b.val = &agjson.ToolCallBlock{
		ToolCallID: b.call, Name: v.Name, Input: []byte("{}"), ServerName: v.ServerName, ProviderExecuted: v.ProviderExecuted,
		Title: v.Title, ToolMetadata: v.ToolMetadata, ItemID: v.ItemID, UIVisibility: v.UIVisibility,
		ProviderMetadata: v.ProviderMetadata,
	}
}

func (b *block) assembled(v *agjson.ToolArgsAssembled) {
	c := *b.val.(*agjson.ToolCallBlock)
	c.Input = v.Input
	if v.Signature != nil {
		c.Signature = v.Signature
	}
	if v.Title != nil {
		c.Title = v.Title
	}
	c.ToolMetadata = mergeObjects(c.ToolMetadata, v.ToolMetadata)
	c.ProviderMetadata = mergeObjects(c.ProviderMetadata, v.ProviderMetadata)
	b.val = &c
}

// mergeObjects puts v's members over old's; nil is absent.
func mergeObjects[T ~[]byte](old, v T) T {
	switch {
	case v == nil:
		return old
	case old == nil:
		return T(bytes.Clone(v))
	}
	d, err := jsonpatch.New(old)
	if err != nil || d.Merge(v) != nil {
		return T(bytes.Clone(v))
	}
	return T(d.Bytes())
}

// bag is an opaque object that is merged into, REPLACE by key; nothing is kept of what is merged.
type bag struct {
	raw []byte              // nil = absent, or doc holds it
	doc *jsonpatch.Document // from the second merge on
}

func (b *bag) merge(v []byte) {
	if v == nil {
		return
	}
	if b.raw == nil && b.doc == nil {
		b.raw = bytes.Clone(v)
		return
	}
	if b.doc == nil {
		var err error
		if b.doc, err = jsonpatch.New(b.raw); err != nil {
			b.raw = bytes.Clone(v)
			return
		}
		b.raw = nil
	}
	if b.doc.Merge(v) != nil {
		b.doc, b.raw = nil, bytes.Clone(v)
	}
}

func (b *bag) bytes() []byte {
	if b.doc != nil {
		return b.doc.Bytes()
	}
	return b.raw
}
