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
	text  []byte          // the last part's text, once something was joined to it; nil before
	built *agjson.Artifact
}

func (a *artifact) value() *agjson.Artifact {
	c := a.c
	if c.built != nil {
		return c.built
	}
	v := c.head
	v.Parts = append(make([]agjson.Block, 0, len(c.parts)), c.parts...)
	if c.text != nil {
		last := *c.parts[len(c.parts)-1].(*agjson.TextBlock)
		last.Text = alias(c.text)
		v.Parts[len(v.Parts)-1] = &last
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
	last := c.parts[len(c.parts)-1].(*agjson.TextBlock)
	add := b.Part.(*agjson.TextBlock)
	if c.text == nil {
		c.text = append(make([]byte, 0, 2*(len(last.Text)+len(add.Text))), last.Text...)
	}
	c.text = append(c.text, add.Text...)
	if add.Citations == nil && add.ProviderMetadata == nil && add.Annotations == nil && add.Meta == nil {
		return
	}
	joined := *last
	joined.Citations = append(joined.Citations[:len(joined.Citations):len(joined.Citations)], add.Citations...)
	joined.ProviderMetadata = mergeObjects(joined.ProviderMetadata, add.ProviderMetadata)
	joined.Meta = mergeObjects(joined.Meta, add.Meta)
	if add.Annotations != nil {
		joined.Annotations = add.Annotations
	}
	c.parts[len(c.parts)-1] = &joined
}

// finish turns the joined text of the last part into a part of its own size.
func (c *artifactContent) finish() {
	if c.text == nil {
		return
	}
	last := *c.parts[len(c.parts)-1].(*agjson.TextBlock)
	last.Text = strings.Clone(alias(c.text))
	c.parts[len(c.parts)-1] = &last
	c.text = nil
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
