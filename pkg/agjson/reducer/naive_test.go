package reducer_test

import (
	"fmt"
	"slices"
	"sort"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
)

// naive is a second reducer, written for the tests alone from the text of SPEC §5: lists and loops, no index, no care for
// speed. What the text leaves open it decides as doc.go says.
type naive struct {
	last      int64
	lastText  string
	parked    string
	turns     []*naiveTurn
	messages  []*naiveMessage
	artifacts []*naiveArtifact
	memory    []agjson.MemoryRecord
	state     []byte
	clock     int
}

type naiveTurn struct {
	rec    agjson.TurnRecord
	closed bool
}

type naiveMessage struct {
	msg     agjson.Message
	state   string // open, sealed, adopted, restored
	blocks  []*naiveBlock
	born    bool // by tool.done or a snapshot
	pointed bool // the open-message pointer of its (turn, candidate)
}

type naiveBlock struct {
	id, alt string
	time    int    // when it got its ids
	kind    string // text, reasoning: streamed; "" otherwise
	sealed  bool
	parts   map[float64]string
	current float64
	val     agjson.Block
}

type naiveArtifact struct {
	art    agjson.Artifact
	sealed bool
}

func naiveFold(events []agjson.Event) *naive {
	n := &naive{last: -1}
	for i := range events {
		n.push(&events[i])
	}
	return n
}

func (n *naive) push(ev *agjson.Event) {
	_, a := ev.Body.(*agjson.MessagesSnapshot)
	_, b := ev.Body.(*agjson.StateSnapshot)
	text := string(agjson.AppendEvent(nil, ev))
	if !a && !b {
		switch {
		case n.parked != "":
			return
		case ev.Seq > n.last+1:
			n.parked = "gap"
			return
		case ev.Seq == n.last && (ev.Seq != 0 || n.lastText == text):
			return
		}
	} else {
		n.parked = ""
	}
	defer func() {
		if why := recover(); why != nil {
			if _, ok := why.(park); !ok {
				panic(why)
			}
			n.parked = fmt.Sprint(why)
		}
	}()
	n.row(ev)
	n.last = ev.Seq
	if ev.Seq == 0 {
		n.lastText = text
	}
}

type park string

func (n *naive) turn(id string) *naiveTurn {
	for _, t := range n.turns {
		if t.rec.TurnID == id {
			return t
		}
	}
	return nil
}

func (n *naive) message(id string) *naiveMessage {
	for _, m := range n.messages {
		if m.msg.ID == id {
			return m
		}
	}
	return nil
}

// openTurnOf is the turn of a message, which must be open.
func (n *naive) openTurnOf(m *naiveMessage) *naiveTurn {
	if m.msg.TurnID == nil || n.turn(*m.msg.TurnID) == nil {
		panic(park("no owner"))
	}
	t := n.turn(*m.msg.TurnID)
	if t.closed {
		panic(park("closed"))
	}
	return t
}

func (n *naive) owner(ev *agjson.Event) *naiveTurn {
	if ev.TurnID != "" {
		t := n.turn(ev.TurnID)
		if t == nil || t.closed {
			panic(park("turn is not open"))
		}
		return t
	}
	if m := n.message(ev.MessageID); ev.MessageID != "" && m != nil {
		return n.openTurnOf(m)
	}
	var open []*naiveTurn
	for _, t := range n.turns {
		if !t.closed {
			open = append(open, t)
		}
	}
	if len(open) != 1 {
		panic(park("no owner"))
	}
	return open[0]
}

func candidate(n agjson.Number) float64 {
	f, _ := n.Float64()
	return f
}

func (m *naiveMessage) in(turn string, cand agjson.Number) bool {
	return m.msg.TurnID != nil && *m.msg.TurnID == turn && candidate(m.msg.CandidateIndex) == candidate(cand)
}

func (n *naive) target(t *naiveTurn, ev *agjson.Event, cand agjson.Number) *naiveMessage {
	if m := n.message(ev.MessageID); ev.MessageID != "" && m != nil {
		if m.state == "sealed" {
			panic(park("sealed"))
		}
		if m.msg.TurnID != nil && n.turn(*m.msg.TurnID) != nil {
			n.openTurnOf(m)
		}
	}
	for _, m := range n.messages {
		if m.pointed && m.in(t.rec.TurnID, cand) {
			if m.state != "open" {
				panic(park("sealed"))
			}
			return m
		}
	}
	panic(park("no open message"))
}

func (n *naive) openMessage(t *naiveTurn) *naiveMessage {
	var last *naiveMessage
	for _, m := range n.messages {
		if m.pointed && m.state == "open" && *m.msg.TurnID == t.rec.TurnID {
			if candidate(m.msg.CandidateIndex) == 0 {
				return m
			}
			last = m
		}
	}
	return last
}

// open opens or re-opens a turn.
func (n *naive) open(id string) *naiveTurn {
	t := n.turn(id)
	if t == nil {
		t = &naiveTurn{rec: agjson.TurnRecord{TurnID: id}}
		n.turns = append(n.turns, t)
	}
	t.closed = false
	return t
}

func (n *naive) close(t *naiveTurn) {
	t.closed = true
	for _, m := range n.messages {
		if m.msg.TurnID != nil && *m.msg.TurnID == t.rec.TurnID {
			switch {
			case m.state == "open" && m.born:
				m.state = "adopted"
			case m.state == "open":
				m.state = "sealed"
			}
		}
	}
}

// block is the matching block that got its ids last, or first.
func (n *naive) block(first bool, match func(*naiveBlock) bool) (*naiveMessage, *naiveBlock) {
	var fm *naiveMessage
	var fb *naiveBlock
	for _, m := range n.messages {
		for _, b := range m.blocks {
			if match(b) && (fb == nil || (b.time < fb.time) == first) {
				fm, fb = m, b
			}
		}
	}
	return fm, fb
}

func (n *naive) now() int {
	n.clock++
	return n.clock
}

func (n *naive) byID(id string) (*naiveMessage, *naiveBlock) {
	m, b := n.block(false, func(b *naiveBlock) bool { return b.id == id && (id != "" || b.kind != "") })
	if b == nil && id != "" {
		m, b = n.block(false, func(b *naiveBlock) bool { return b.alt == id })
	}
	return m, b
}

func (n *naive) call(id string) (*naiveMessage, *naiveBlock) {
	return n.block(false, func(b *naiveBlock) bool {
		c, ok := b.val.(*agjson.ToolCallBlock)
		return ok && c.ToolCallID == id
	})
}

// result is the first result of the call.
func (n *naive) result(id string) (*naiveMessage, *naiveBlock) {
	return n.block(true, func(b *naiveBlock) bool {
		c, ok := b.val.(*agjson.ToolResultBlock)
		return ok && c.ToolCallID == id
	})
}

func (n *naive) writable(m *naiveMessage) {
	if m.msg.TurnID != nil && n.turn(*m.msg.TurnID) != nil {
		n.openTurnOf(m)
	}
	if m.state != "open" {
		panic(park("sealed"))
	}
}

// streamed is the block that a text or reasoning event names.
func (n *naive) streamed(id, kind string, sealedToo bool) *naiveBlock {
	m, b := n.byID(id)
	if b == nil || b.kind != kind {
		panic(park("no such block"))
	}
	n.writable(m)
	if b.sealed && !sealedToo {
		panic(park("sealed block"))
	}
	return b
}

func merged[T ~[]byte](old, add T) T {
	if add == nil {
		return old
	}
	if old == nil {
		return add
	}
	d, err := jsonpatch.New(slices.Clone([]byte(old)))
	if err != nil {
		panic(err)
	}
	if err := d.Merge(add); err != nil {
		panic(err)
	}
	return T(slices.Clone(d.Bytes()))
}

func (b *naiveBlock) append(part agjson.Number, text string) {
	if part != "" {
		b.current, _ = part.Float64()
	}
	if b.parts == nil {
		b.parts = map[float64]string{}
	}
	b.parts[b.current] += text
	keys := make([]float64, 0)
	for k := range b.parts {
		keys = append(keys, k)
	}
	sort.Float64s(keys)
	all := ""
	for _, k := range keys {
		all += b.parts[k]
	}
	switch v := b.val.(type) {
	case *agjson.TextBlock:
		v.Text = all
	case *agjson.ReasoningBlock:
		v.Text = &all
	}
}

func (n *naive) row(ev *agjson.Event) {
	switch b := ev.Body.(type) {
	case *agjson.TurnStart:
		t := n.open(ev.TurnID)
		t.rec.ThreadID = b.ThreadID
		if b.Trigger != nil {
			t.rec.Trigger = b.Trigger
		}
	case *agjson.SubagentStart:
		known := n.turn(ev.TurnID) != nil
		t := n.open(ev.TurnID)
		if !known {
			t.rec.ThreadID = n.turns[0].rec.ThreadID
			if p := n.turn(b.ParentTurnID); p != nil && p != t {
				t.rec.ThreadID = p.rec.ThreadID
			}
		}
		t.rec.ParentTurnID = &b.ParentTurnID
	case *agjson.SubagentDone:
		t := n.turn(ev.TurnID)
		if t == nil || t.rec.ParentTurnID == nil {
			panic(park("no nested turn"))
		}
		if !t.closed {
			n.close(t)
		}
	case *agjson.TurnDone:
		n.turnDone(ev, b)
	case *agjson.TurnError:
		t := n.owner(ev)
		n.close(t)
		t.rec.Outcome = &agjson.ErrorOutcome{Message: b.Message, Code: b.Code}
		if b.Usage != nil {
			t.rec.Usage = b.Usage
		}
	case *agjson.TurnAbort:
		t := n.owner(ev)
		n.close(t)
		t.rec.Outcome = &agjson.AbortedOutcome{Reason: b.Reason}
	case *agjson.PromptBlocked:
		t := n.owner(ev)
		t.rec.PromptBlocked = &agjson.PromptBlockedRecord{Reason: b.Reason, Safety: b.Safety}
		t.safety(b.Safety)
	case *agjson.GuardrailResult:
		t := n.owner(ev)
		t.rec.Guardrails = append(t.rec.Guardrails, agjson.GuardrailRecord{Target: b.Target, Passed: b.Passed, Action: b.Action, Reason: b.Reason, GuardrailName: b.GuardrailName, Safety: b.Safety})
	case *agjson.AgentCapabilities:
		n.owner(ev).rec.Capabilities = &b.Capabilities
	case *agjson.SourceEvent:
		t := n.owner(ev)
		t.rec.SourceIDs = append(t.rec.SourceIDs, b.SourceID)
		t.rec.Sources = append(t.rec.Sources, agjson.SourceRecord{SourceID: b.SourceID, Source: b.Source, ChunkIndex: b.ChunkIndex, ProviderMetadata: b.ProviderMetadata})
	case *agjson.Handoff:
		t := n.owner(ev)
		t.rec.Handoffs = append(t.rec.Handoffs, agjson.HandoffRecord{Kind: b.Kind, FromAgentID: b.FromAgentID, ToAgentID: b.ToAgentID, ToAgentName: b.ToAgentName})
	case *agjson.DisplayRequired:
		t := n.owner(ev)
		t.rec.DisplayRequired = append(t.rec.DisplayRequired, agjson.DisplayRecord{Provider: b.Provider, HTML: b.HTML})
	case *agjson.MessagesSnapshot:
		n.snapshot(b)
	case *agjson.StateSnapshot:
		n.state = b.Snapshot
	case *agjson.StateDelta:
		n.stateDelta(b.Patch)
	case *agjson.MemoryWrite:
		n.memoryWrite(ev, b)
	default:
		n.messageRow(ev)
	}
}

func (t *naiveTurn) safety(list []agjson.Safety) {
	if list != nil {
		t.rec.Safety = append(append([]agjson.Safety{}, t.rec.Safety...), list...)
	}
}

func (n *naive) turnDone(ev *agjson.Event, b *agjson.TurnDone) {
	t := n.turn(ev.TurnID)
	if t == nil || t.closed {
		panic(park("turn is not open"))
	}
	if b.MessageMetadata != nil {
		m := n.openMessage(t)
		if ev.MessageID != "" {
			m = n.message(ev.MessageID)
		}
		if m == nil {
			panic(park("no message"))
		}
		m.msg.MessageMetadata = merged(m.msg.MessageMetadata, b.MessageMetadata)
	}
	n.close(t)
	t.rec.Outcome, t.rec.FinishReason = b.Outcome, b.FinishReason
	if b.Usage != nil {
		t.rec.Usage = b.Usage
	}
	t.safety(b.Safety)
	if b.TaskState != nil {
		t.rec.TaskState = b.TaskState
	}
	if p, ok := b.Outcome.(*agjson.PausedOutcome); ok {
		t.rec.Asks = p.Asks
	}
}

func (n *naive) messageRow(ev *agjson.Event) {
	switch b := ev.Body.(type) {
	case *agjson.MessageStart:
		t := n.turn(ev.TurnID)
		if t == nil || t.closed || n.message(ev.ID) != nil {
			panic(park("message.start"))
		}
		m := &naiveMessage{state: "open", msg: agjson.Message{ID: ev.ID, Role: b.Role, TurnID: &t.rec.TurnID, ThreadID: &b.ThreadID,
			CandidateIndex: b.CandidateIndex, Extensions: b.Extensions, AgentID: b.AgentID, AgentName: b.AgentName, AgentRole: b.AgentRole, Model: b.Model}}
		n.messages = append(n.messages, m)
		n.point(m)
	case *agjson.MessageEnd:
		m := n.message(ev.ID)
		if m == nil {
			panic(park("no message"))
		}
		n.openTurnOf(m)
		if m.state != "open" || m.born {
			panic(park("sealed"))
		}
		m.state = "sealed"
		if b.Usage != nil {
			m.msg.Usage = b.Usage
		}
	case *agjson.MessageRemove:
		n.remove(ev)
	case *agjson.MessageMetadata:
		m := n.message(ev.MessageID)
		if ev.MessageID == "" {
			m = n.openMessage(n.owner(ev))
		}
		if m == nil {
			panic(park("no message"))
		}
		m.msg.Metadata = merged(m.msg.Metadata, b.Metadata)
	case *agjson.ArtifactStart, *agjson.ArtifactDelta, *agjson.ArtifactEnd:
		n.artifact(ev)
	default:
		n.blockRow(ev)
	}
}

// point moves the open-message pointer of the message's partition to it.
func (n *naive) point(m *naiveMessage) {
	for _, o := range n.messages {
		if o.in(*m.msg.TurnID, m.msg.CandidateIndex) {
			o.pointed = o == m
		}
	}
}

func (n *naive) remove(ev *agjson.Event) {
	for i := 0; i < len(n.messages); i++ {
		m := n.messages[i]
		if ev.ID == "*" && (m.msg.TurnID == nil || *m.msg.TurnID != ev.TurnID) || ev.ID != "*" && m.msg.ID != ev.ID {
			continue
		}
		n.messages = slices.Delete(n.messages, i, i+1)
		i--
		if t := m.msg.TurnID; !m.pointed || n.turn(*t) == nil || n.turn(*t).closed {
			continue
		}
		for _, o := range slices.Backward(n.messages) {
			if ev.ID != "*" && o.in(*m.msg.TurnID, m.msg.CandidateIndex) && o.takesResults() {
				o.pointed, o.state = true, "open"
				break
			}
		}
	}
}

func (m *naiveMessage) takesResults() bool {
	return m.state == "open" || m.state == "adopted" || m.state == "restored" && m.msg.Role == agjson.RoleTool
}

func (n *naive) artifact(ev *agjson.Event) {
	find := func(id string) *naiveArtifact {
		for _, a := range n.artifacts {
			if a.art.ArtifactID == id {
				return a
			}
		}
		return nil
	}
	switch b := ev.Body.(type) {
	case *agjson.ArtifactStart:
		t := n.owner(ev)
		a := find(b.ArtifactID)
		if a == nil {
			a = &naiveArtifact{}
			n.artifacts = append(n.artifacts, a)
		}
		*a = naiveArtifact{art: agjson.Artifact{ArtifactID: b.ArtifactID, TurnID: t.rec.TurnID, ThreadID: b.ThreadID, Name: b.Name, Description: b.Description, Extensions: b.Extensions}}
	case *agjson.ArtifactDelta:
		a := find(b.ArtifactID)
		if a == nil || a.sealed {
			panic(park("no artifact"))
		}
		if !b.Append {
			a.art.Parts = append(a.art.Parts, b.Part)
			return
		}
		if len(a.art.Parts) == 0 {
			panic(park("no part"))
		}
		last, ok := a.art.Parts[len(a.art.Parts)-1].(*agjson.TextBlock)
		add, ok2 := b.Part.(*agjson.TextBlock)
		if !ok || !ok2 {
			panic(park("no text"))
		}
		v := *last
		v.Text += add.Text
		if v.Citations != nil || add.Citations != nil {
			v.Citations = append(append([]agjson.Citation{}, v.Citations...), add.Citations...)
		}
		v.ProviderMetadata, v.Meta = merged(v.ProviderMetadata, add.ProviderMetadata), merged(v.Meta, add.Meta)
		if add.Annotations != nil {
			v.Annotations = add.Annotations
		}
		a.art.Parts[len(a.art.Parts)-1] = &v
	case *agjson.ArtifactEnd:
		a := find(b.ArtifactID)
		if a == nil || a.sealed {
			panic(park("no artifact"))
		}
		a.sealed = true
	}
}

func (n *naive) snapshot(b *agjson.MessagesSnapshot) {
	if b.Turns != nil {
		n.turns = nil
		for _, rec := range b.Turns {
			if n.turn(rec.TurnID) == nil {
				n.turns = append(n.turns, &naiveTurn{rec: rec, closed: rec.Outcome != nil})
			}
		}
	}
	n.messages = nil
	for _, v := range b.Messages {
		if n.message(v.ID) != nil {
			continue
		}
		m := &naiveMessage{msg: v, state: "restored", born: true}
		for _, c := range v.Content {
			nb := &naiveBlock{val: c, time: n.now()}
			if d, ok := c.(*agjson.DataBlock); ok && d.ID != nil {
				nb.alt = *d.ID
			}
			m.blocks = append(m.blocks, nb)
		}
		n.messages = append(n.messages, m)
		if m.msg.TurnID != nil && v.Role != agjson.RoleTool {
			n.point(m)
		}
	}
	if b.Artifacts != nil {
		n.artifacts = nil
		for _, a := range b.Artifacts {
			a.Parts = slices.Clone(a.Parts)
			if !slices.ContainsFunc(n.artifacts, func(o *naiveArtifact) bool { return o.art.ArtifactID == a.ArtifactID }) {
				n.artifacts = append(n.artifacts, &naiveArtifact{art: a})
			}
		}
	}
	if b.Memory != nil {
		n.memory = slices.DeleteFunc(n.memory, func(m agjson.MemoryRecord) bool { return m.Scope == agjson.MemoryScopeThread })
		for _, m := range b.Memory {
			if m.Scope == agjson.MemoryScopeThread {
				n.land(m)
			}
		}
	}
}

func (n *naive) land(rec agjson.MemoryRecord) {
	for i := range n.memory {
		if n.memory[i].Scope == rec.Scope && deref(n.memory[i].Key) == deref(rec.Key) {
			n.memory[i] = rec
			return
		}
	}
	n.memory = append(n.memory, rec)
}

func (n *naive) memoryWrite(ev *agjson.Event, b *agjson.MemoryWrite) {
	if b.Patch == nil {
		rec := agjson.MemoryRecord{Scope: b.Scope, Key: b.Key, Value: b.Value, Reason: b.Reason, Durable: b.Durable}
		if ev.TurnID != "" {
			rec.TurnID = &ev.TurnID
		}
		n.land(rec)
		return
	}
	for i := range n.memory {
		if n.memory[i].Scope == b.Scope && deref(n.memory[i].Key) == deref(b.Key) {
			v, err := jsonpatch.Apply(n.memory[i].Value, b.Patch)
			if err != nil {
				panic(park("patch"))
			}
			n.memory[i].Value = v
			if b.Reason != nil {
				n.memory[i].Reason = b.Reason
			}
			if b.Durable != nil {
				n.memory[i].Durable = b.Durable
			}
			return
		}
	}
	panic(park("no value"))
}

func (n *naive) stateDelta(patch []byte) {
	switch v, _ := agjson.ParseValue(patch); v.Kind() {
	case agjson.KindList:
		if n.state == nil {
			panic(park("no state"))
		}
		s, err := jsonpatch.Apply(n.state, patch)
		if err != nil {
			panic(park("patch"))
		}
		n.state = s
	case agjson.KindObject:
		if n.state == nil {
			n.state = []byte("{}")
		}
		s, err := agjson.ParseValue(n.state)
		if err != nil {
			panic(err)
		}
		if s.Kind() != agjson.KindObject {
			n.state = patch
			return
		}
		for node, add := range v.Members {
			raw := []byte(add.Raw())
			if old := s.Get(node); old.Kind() == agjson.KindObject && add.Kind() == agjson.KindObject {
				raw = merged([]byte(old.Raw()), raw)
			}
			one := append(append(append(agjson.AppendString([]byte("{"), node), ':'), raw...), '}')
			n.state = merged(n.state, one)
		}
	}
}

func (n *naive) fold() agjson.ReduceResult {
	res := agjson.ReduceResult{Messages: []agjson.Message{}, Artifacts: []agjson.Artifact{}, Memory: slices.Clone(n.memory), Turns: []agjson.TurnRecord{}, State: n.state}
	if res.Memory == nil {
		res.Memory = []agjson.MemoryRecord{}
	}
	for _, m := range n.messages {
		v := m.msg
		v.Content = []agjson.Block{}
		for _, b := range m.blocks {
			v.Content = append(v.Content, b.val)
		}
		res.Messages = append(res.Messages, v)
	}
	for _, a := range n.artifacts {
		v := a.art
		if v.Parts == nil {
			v.Parts = []agjson.Block{}
		}
		res.Artifacts = append(res.Artifacts, v)
	}
	for _, t := range n.turns {
		res.Turns = append(res.Turns, t.rec)
	}
	return res
}
