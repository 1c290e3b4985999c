package reducer

import (
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// artifactContent is an artifact's record.
type artifactContent struct {
	head  agjson.Artifact // without parts
	parts []agjson.Block  // finished ones, and the last as it began
	join  *joined         // what was joined to the last part; nil before
	built *agjson.Artifact
}

// joined is a text part that others are joined to.
type joined struct {
	text      []byte
	citations []agjson.Citation
	pm, meta  bag
	last      agjson.TextBlock // as it began, with the annotations that came last
}

func (j *joined) add(b *agjson.TextBlock) {
	j.text = append(j.text, b.Text...)
	if b.Citations != nil && j.citations == nil {
		j.citations = []agjson.Citation{}
	}
	j.citations = append(j.citations, b.Citations...)
	j.pm.merge(b.ProviderMetadata)
	j.meta.merge(b.Meta)
	if b.Annotations != nil {
		j.last.Annotations = b.Annotations
	}
}

func (j *joined) value(text string) *agjson.TextBlock {
	v := j.last
	v.Text, v.Citations = text, slices.Clip(j.citations)
	v.ProviderMetadata, v.Meta = agjson.Opaque(j.pm.bytes()), j.meta.bytes()
	return &v
}

func (a *artifact) value() *agjson.Artifact {
	c := a.c
	if c.built != nil {
		return c.built
	}
	v := c.head
	v.Parts = append(make([]agjson.Block, 0, len(c.parts)), c.parts...)
	if c.join != nil {
		v.Parts[len(v.Parts)-1] = c.join.value(alias(c.join.text))
	}
	c.built = &v
	return c.built
}

func (a *artifact) restore(v *agjson.Artifact) {
	a.c = &artifactContent{head: *v, parts: slices.Clone(v.Parts)}
	a.c.head.Parts = nil
}

func (r *Reducer) artifactStart(e effect, b *agjson.ArtifactStart) {
	e.art.c = &artifactContent{head: agjson.Artifact{
		ArtifactID: e.art.id, TurnID: e.art.turn, ThreadID: b.ThreadID, Name: b.Name, Description: b.Description,
		Extensions: b.Extensions,
	}}
}

func (c *artifactContent) delta(b *agjson.ArtifactDelta) {
	c.built = nil
	if !b.Append {
		c.finish()
		c.parts = append(c.parts, b.Part)
		return
	}
	if c.join == nil {
		last := c.parts[len(c.parts)-1].(*agjson.TextBlock)
		c.join = &joined{last: *last}
		c.join.add(last)
	}
	c.join.add(b.Part.(*agjson.TextBlock))
}

// finish gives the last part, if others were joined to it, memory of its own size.
func (c *artifactContent) finish() {
	if c.join != nil {
		c.parts[len(c.parts)-1] = c.join.value(strings.Clone(alias(c.join.text)))
		c.join = nil
	}
}

// memoryContent is a memory record without its value.
type memoryContent struct {
	head agjson.MemoryRecord
}

func (m *memory) value() agjson.MemoryRecord {
	v := m.c.head
	v.Value = m.doc.Bytes()
	return v
}

// memoryWrite makes the record anew where it has a value; a patch changes the value and what it says beside.
func (r *Reducer) memoryWrite(ev *agjson.Event, e effect, b *agjson.MemoryWrite) {
	m := e.mem
	if b.Patch == nil {
		m.c = &memoryContent{head: agjson.MemoryRecord{Scope: m.scope, Key: b.Key, Reason: b.Reason, Durable: b.Durable}}
		if ev.TurnID != "" {
			m.c.head.TurnID = ptr(ev.TurnID)
		}
		return
	}
	head := m.c.head
	if b.Reason != nil {
		head.Reason = b.Reason
	}
	if b.Durable != nil {
		head.Durable = b.Durable
	}
	m.c = &memoryContent{head: head}
}

func (r *Reducer) restoreMemory(list []agjson.MemoryRecord) {
	for i := range list {
		v := &list[i]
		if v.Scope != agjson.MemoryScopeThread {
			continue
		}
		key := memoryKey{scope: v.Scope}
		if v.Key != nil {
			key.key = *v.Key
		}
		if m := r.s.memory[key]; m != nil {
			m.c = &memoryContent{head: *v}
			m.c.head.Value = nil
		}
	}
}
