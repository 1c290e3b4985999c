package reducer

import (
	"github.com/agwire/agwire/pkg/agjson"
)

// messageContent is what a message says.
type messageContent struct {
	head            agjson.Message // without content and the two bags
	content         []*block
	few             [2]*block // the memory of content while it is so short
	metadata        bag
	messageMetadata bag
	built           *agjson.Message // the value, while nothing has changed since
	touched         uint64          // the open part in which it was copied before its first change
}

func (c *messageContent) add(b *block) {
	if c.content == nil {
		c.content = c.few[:0]
	}
	c.content = append(c.content, b)
}

// value is the message as it is now; it must not be changed, and later pushes do not change it.
func (m *message) value() *agjson.Message {
	c := m.c
	if c.built != nil {
		return c.built
	}
	v := c.head
	v.Content = make([]agjson.Block, len(c.content))
	for i, b := range c.content {
		v.Content[i] = b.value()
	}
	v.Metadata = c.metadata.bytes()
	v.MessageMetadata = c.messageMetadata.bytes()
	c.built = &v
	return c.built
}

func (r *Reducer) messageStart(e effect, b *agjson.MessageStart) {
	r.touch(e.msg, true)
	e.msg.c = r.newContent(agjson.Message{
		ID: e.msg.id, Role: b.Role, TurnID: &e.turn.id, ThreadID: e.turn.rec.threadID(b.ThreadID), CandidateIndex: b.CandidateIndex,
		Extensions: b.Extensions, AgentID: b.AgentID, AgentName: b.AgentName, AgentRole: b.AgentRole, Model: b.Model,
	})
}

// newContent is of a message that is new; nothing of it needs a copy in this open part.
func (r *Reducer) newContent(head agjson.Message) *messageContent {
	c := &messageContent{head: head}
	if !r.track.quiet {
		c.touched = r.track.gen
	}
	return c
}

func (r *Reducer) messagesSnapshot(b *agjson.MessagesSnapshot) {
	for i := range b.Turns {
		r.track.dirtyTurns[b.Turns[i].TurnID] = struct{}{}
		if t := r.s.turns[b.Turns[i].TurnID]; t.rec == nil {
			t.rec = &turnContent{rec: clipped(b.Turns[i])}
		}
	}
	for i := range b.Messages {
		r.track.dirtyMessages[b.Messages[i].ID] = struct{}{}
		if m := r.s.msgs[b.Messages[i].ID]; m.c == nil {
			m.restore(&b.Messages[i])
		}
	}
	for i := range b.Artifacts {
		r.track.dirtyArtifacts[b.Artifacts[i].ArtifactID] = struct{}{}
		if a := r.s.arts[b.Artifacts[i].ArtifactID]; a.c == nil {
			a.restore(&b.Artifacts[i])
		}
	}
	if b.Memory != nil {
		r.restoreMemory(b.Memory)
	}
}

func (m *message) restore(v *agjson.Message) {
	m.c = &messageContent{head: *v, content: make([]*block, len(v.Content))}
	m.c.head.Content, m.c.head.Metadata, m.c.head.MessageMetadata = nil, nil, nil
	m.c.metadata.merge(v.Metadata)
	m.c.messageMetadata.merge(v.MessageMetadata)
	for _, b := range m.nodes {
		m.c.content[b.at] = b
	}
	for i := range m.c.content {
		if m.c.content[i] == nil {
			m.c.content[i] = &block{msg: m}
		}
		m.c.content[i].val = v.Content[i]
	}
}

// toolDone lands the result, wholesale; only _meta of a preliminary survives a result that has none, since it carries a UI
// card.
func (r *Reducer) toolDone(ev *agjson.Event, e effect, b *agjson.ToolDone) {
	if r.touch(e.msg, e.fresh); e.fresh {
		e.msg.c = r.newContent(agjson.Message{
			ID: e.msg.id, Role: agjson.RoleTool, TurnID: &e.turn.id, ThreadID: e.turn.rec.threadID(e.turn.rec.rec.ThreadID), CandidateIndex: b.CandidateIndex,
		})
	}
	v := &agjson.ToolResultBlock{
		ToolCallID: b.ToolCallID, Content: b.Content, Outcome: b.Outcome, StructuredContent: b.StructuredContent, UIData: b.UIData,
		SideData: b.SideData, ErrorText: b.ErrorText, ErrorCode: b.ErrorCode, ProviderMetadata: b.ProviderMetadata,
		ToolMetadata: b.ToolMetadata, Dynamic: b.Dynamic, PendingInput: b.PendingInput, IsError: b.IsError, Meta: ev.Meta,
	}
	if b.More != nil && *b.More {
		v.Preliminary = b.More
	}
	old, again := e.block.val.(*agjson.ToolResultBlock)
	if again && v.Meta == nil {
		v.Meta = old.Meta
	}
	e.block.val = v
	if !again {
		e.msg.c.add(e.block)
	}
}

func ptr[T any](v T) *T { return &v }
