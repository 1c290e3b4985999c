package reducer_test

import (
	"github.com/agwire/agwire/pkg/agjson"
)

func (n *naive) blockRow(ev *agjson.Event) {
	create := func(kind string, cand agjson.Number, v agjson.Block) {
		m := n.target(n.owner(ev), ev, cand)
		if _, b := n.byID(ev.ID); b != nil {
			panic(park("block id taken"))
		}
		nb := &naiveBlock{id: ev.ID, kind: kind, val: v, current: -1e308, time: n.now()}
		nb.append("", "")
		m.blocks = append(m.blocks, nb)
	}
	switch b := ev.Body.(type) {
	case *agjson.TextStart:
		create("text", b.CandidateIndex, &agjson.TextBlock{ProviderMetadata: b.ProviderMetadata, Meta: ev.Meta})
	case *agjson.TextDelta:
		nb := n.streamed(ev.ID, "text", false)
		nb.append("", b.Delta)
		v := nb.val.(*agjson.TextBlock)
		v.ProviderMetadata = merged(v.ProviderMetadata, b.ProviderMetadata)
	case *agjson.TextEnd:
		nb := n.streamed(ev.ID, "text", false)
		nb.sealed = true
		v := nb.val.(*agjson.TextBlock)
		v.ProviderMetadata = merged(v.ProviderMetadata, b.ProviderMetadata)
		if b.Citations != nil {
			v.Citations = b.Citations
		}
	case *agjson.ReasoningStart:
		if _, nb := n.byID(ev.ID); nb == nil || nb.kind != "reasoning" || b.PartIndex == "" {
			create("reasoning", b.CandidateIndex, &agjson.ReasoningBlock{})
		}
		nb := n.streamed(ev.ID, "reasoning", false)
		nb.append(b.PartIndex, "")
		v := nb.val.(*agjson.ReasoningBlock)
		v.ProviderMetadata, v.Meta = merged(v.ProviderMetadata, b.ProviderMetadata), merged(v.Meta, ev.Meta)
		if b.ItemID != nil {
			v.ItemID = b.ItemID
		}
	case *agjson.ReasoningDelta:
		nb := n.streamed(ev.ID, "reasoning", false)
		nb.append(b.PartIndex, b.Delta)
		v := nb.val.(*agjson.ReasoningBlock)
		v.ProviderMetadata = merged(v.ProviderMetadata, b.ProviderMetadata)
	case *agjson.ReasoningEnd:
		nb := n.streamed(ev.ID, "reasoning", false)
		nb.sealed = true
		v := nb.val.(*agjson.ReasoningBlock)
		v.ProviderMetadata = merged(v.ProviderMetadata, b.ProviderMetadata)
		if b.Provider != nil {
			v.Provider = b.Provider
		}
	case *agjson.ReasoningOpaque:
		v := n.streamed(ev.ID, "reasoning", true).val.(*agjson.ReasoningBlock)
		v.Opaque = &agjson.OpaqueBlob{Kind: b.Kind, Value: b.Value, Provider: b.Provider}
		if b.ItemID != nil {
			v.ItemID = b.ItemID
		}
	case *agjson.ReasoningOpaqueDelta:
		n.streamed(ev.ID, "reasoning", true)
	default:
		n.toolRow(ev)
	}
}

func (n *naive) toolRow(ev *agjson.Event) {
	switch b := ev.Body.(type) {
	case *agjson.ToolStart:
		m := n.target(n.owner(ev), ev, b.CandidateIndex)
		if _, c := n.call(b.ToolCallID); c != nil {
			panic(park("call id taken"))
		}
		m.blocks = append(m.blocks, &naiveBlock{time: n.now(), val: &agjson.ToolCallBlock{ToolCallID: b.ToolCallID, Name: b.Name, Input: []byte("{}"),
			ServerName: b.ServerName, ProviderExecuted: b.ProviderExecuted, Title: b.Title, ToolMetadata: b.ToolMetadata, ItemID: b.ItemID,
			UIVisibility: b.UIVisibility, ProviderMetadata: b.ProviderMetadata}})
	case *agjson.ToolArgsDelta:
		m, c := n.call(b.ToolCallID)
		if c == nil {
			panic(park("no call"))
		}
		n.writable(m)
	case *agjson.ToolArgsAssembled:
		m, c := n.call(b.ToolCallID)
		if c == nil {
			panic(park("no call"))
		}
		n.writable(m)
		v := *c.val.(*agjson.ToolCallBlock)
		v.Input = b.Input
		if b.Signature != nil {
			v.Signature = b.Signature
		}
		if b.Title != nil {
			v.Title = b.Title
		}
		v.ToolMetadata, v.ProviderMetadata = merged(v.ToolMetadata, b.ToolMetadata), merged(v.ProviderMetadata, b.ProviderMetadata)
		c.val = &v
	case *agjson.ToolDone:
		n.toolDone(ev, b)
	case *agjson.ContentBlock:
		n.contentBlock(ev, b)
	}
}

func (n *naive) toolDone(ev *agjson.Event, b *agjson.ToolDone) {
	cm, _ := n.call(b.ToolCallID)
	t := n.doneOwner(ev, cm)
	v := &agjson.ToolResultBlock{ToolCallID: b.ToolCallID, Content: b.Content, Outcome: b.Outcome, StructuredContent: b.StructuredContent,
		UIData: b.UIData, SideData: b.SideData, ErrorText: b.ErrorText, ErrorCode: b.ErrorCode, ProviderMetadata: b.ProviderMetadata,
		ToolMetadata: b.ToolMetadata, Dynamic: b.Dynamic, PendingInput: b.PendingInput, IsError: b.IsError, Meta: ev.Meta}
	if b.More != nil && *b.More {
		v.Preliminary = b.More
	}
	if m, r := n.result(b.ToolCallID); r != nil {
		old := r.val.(*agjson.ToolResultBlock)
		n.openTurnOf(m)
		if old.Preliminary == nil || !*old.Preliminary || !m.takesResults() || ev.MessageID != "" && ev.MessageID != m.msg.ID {
			panic(park("no preliminary result"))
		}
		if v.Meta == nil {
			v.Meta = old.Meta
		}
		r.val = v
		return
	}
	m := n.message(ev.MessageID)
	switch {
	case ev.MessageID == "":
		m = n.target(t, ev, b.CandidateIndex)
	case m == nil:
		m = &naiveMessage{state: "adopted", born: true, msg: agjson.Message{ID: ev.MessageID, Role: agjson.RoleTool, TurnID: &t.rec.TurnID, ThreadID: ptr(t.rec.ThreadID), CandidateIndex: b.CandidateIndex}}
		n.messages = append(n.messages, m)
	case m.msg.TurnID == nil || *m.msg.TurnID != t.rec.TurnID || !m.takesResults():
		panic(park("not to land there"))
	}
	m.blocks = append(m.blocks, &naiveBlock{time: n.now(), val: v})
}

func ptr[T any](v T) *T { return &v }

func (n *naive) doneOwner(ev *agjson.Event, call *naiveMessage) (t *naiveTurn) {
	defer func() {
		if why := recover(); why == park("no owner") && call != nil {
			t = n.openTurnOf(call)
		} else if why != nil {
			panic(why)
		}
	}()
	return n.owner(ev)
}

func (n *naive) contentBlock(ev *agjson.Event, b *agjson.ContentBlock) {
	d, _ := b.Block.(*agjson.DataBlock)
	if b.Transient != nil && *b.Transient || d != nil && d.Transient != nil && *d.Transient {
		return
	}
	nb := &naiveBlock{id: ev.ID, val: b.Block, time: n.now()}
	if d != nil && d.ID != nil {
		nb.alt = *d.ID
	}
	var om *naiveMessage
	var old *naiveBlock
	switch c, isCall := b.Block.(*agjson.ToolCallBlock); {
	case ev.ID != "":
		om, old = n.byID(ev.ID)
	case nb.alt != "":
		om, old = n.byID(nb.alt)
	case isCall:
		om, old = n.call(c.ToolCallID)
	}
	if old == nil {
		m := n.target(n.owner(ev), ev, b.CandidateIndex)
		m.blocks = append(m.blocks, nb)
		return
	}
	n.owner(ev)
	n.writable(om)
	if nb.id == "" {
		nb.id = old.id
	}
	*old = *nb
}
