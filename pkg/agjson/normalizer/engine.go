package normalizer

import (
	"strconv"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// Engine assembles the events of one invoke; a facet holds one and calls its methods. See the package doc for what it
// guarantees. Bodies and raw JSON given to it belong to it. Not safe for concurrent use.
type Engine struct {
	vendor string
	host   Host
	thread string
	base   string // id of the first turn, once it is known

	seq   int64
	out   []agjson.Event
	stats Stats

	turns     map[string]*turn // by the facet's key and by id
	stack     []*turn          // the open ones, in opening order
	last      *turn            // the last top-level one, open or not
	recent    *turn            // the last opened one, open or not
	roots     int              // top-level ones so far
	messages  map[string]*message
	unsealed  []*message // in opening order
	blocks    map[blockKey]*block
	blockIDs  map[string]bool
	whole     map[string]whole // by the facet's id
	calls     map[string]*call
	artifacts map[string]bool
	minted    map[string]int // by prefix, see Derive
}

// NewEngine is the engine of one invoke. The vendor is the second segment of its ext events (SPEC §12).
func NewEngine(vendor string, host Host) *Engine {
	return &Engine{
		vendor: vendor, host: host, thread: host.ThreadID,
		turns: map[string]*turn{}, messages: map[string]*message{}, blocks: map[blockKey]*block{},
		blockIDs: map[string]bool{}, whole: map[string]whole{}, calls: map[string]*call{}, artifacts: map[string]bool{}, minted: map[string]int{},
	}
}

// Base is the engine itself, so that a facet which embeds it has the method that Facet asks for.
func (e *Engine) Base() *Engine { return e }

// Vendor is the name in this engine's ext events.
func (e *Engine) Vendor() string { return e.vendor }

// Drain hands over what was emitted since the last call; nil when nothing was.
func (e *Engine) Drain() []agjson.Event {
	out := e.out
	e.out = nil
	return out
}

// Thread is the thread's id.
func (e *Engine) Thread() string {
	if e.thread == "" {
		e.thread = "thread"
	}
	return e.thread
}

// NameThread is the framework's own name for the thread, taken when the host gave none and nothing was emitted under another.
func (e *Engine) NameThread(native string) {
	if e.thread == "" {
		e.thread = strings.Clone(native)
	}
}

// Derive mints `<prefix>:<kind>:<n>`, n from 0 for each prefix and kind (SPEC §5 INV-BLOCK).
func (e *Engine) Derive(prefix, kind string) string {
	key := prefix + ":" + kind
	n := e.minted[key]
	e.minted[key] = n + 1
	return key + ":" + strconv.Itoa(n)
}

// Qualify makes a framework's id one that no other invoke of the thread can have: `<turn>:<native>`, where the host named the
// invoke or its turn. Without a host's name it is the framework's id.
func (e *Engine) Qualify(native string) string {
	if name := e.hostTurn(); name != "" {
		return name + ":" + native
	}
	return native
}

// again is the next free variant `<id>~<n>` of an id that is taken, n from 2.
func again(id string, taken func(string) bool) string {
	for n := 2; ; n++ {
		if v := id + "~" + strconv.Itoa(n); !taken(v) {
			return v
		}
	}
}

// put stamps seq and appends; nothing else does.
func (e *Engine) put(ev agjson.Event) {
	ev.Seq = e.seq
	e.seq++
	e.stats.Events++
	if e.out == nil {
		e.out = make([]agjson.Event, 0, 1) // most frames say one thing
	}
	e.out = append(e.out, ev)
}

// Emit is the way of every event, those of the methods with a name included: seq is stamped, the owner resolved (explicit
// turnId, else that of the message, else the last opened turn; SPEC §5 INV-OWNER), and what the event needs is opened
// first. ev.TurnID is an id or a facet's key.
func (e *Engine) Emit(ev agjson.Event) {
	switch b := ev.Body.(type) {
	case *agjson.TurnStart:
		e.turnStart(ev, b)
	case *agjson.TurnDone, *agjson.TurnError, *agjson.TurnAbort:
		e.terminal(ev)
	case *agjson.SubagentStart:
		e.subagentStart(ev, b)
	case *agjson.SubagentDone:
		e.subagentDone(ev, b)
	case *agjson.MessageStart:
		e.messageStart(ev, b)
	case *agjson.MessageEnd:
		e.messageEnd(ev, b)
	case *agjson.MessageRemove:
		e.messageRemove(ev)
	case *agjson.TextStart:
		e.blockStart(ev, textKind, b.CandidateIndex)
	case *agjson.TextDelta:
		e.blockDelta(ev, textKind)
	case *agjson.TextEnd:
		e.blockEnd(ev, textKind)
	case *agjson.ReasoningStart:
		e.blockStart(ev, reasoningKind, b.CandidateIndex)
	case *agjson.ReasoningDelta, *agjson.ReasoningOpaque, *agjson.ReasoningOpaqueDelta:
		e.blockDelta(ev, reasoningKind)
	case *agjson.ReasoningEnd:
		e.blockEnd(ev, reasoningKind)
	case *agjson.ToolStart:
		e.toolStart(ev, b)
	case *agjson.ToolArgsDelta:
		e.toolArgs(ev, b.ToolCallID)
	case *agjson.ToolArgsAssembled:
		e.toolArgs(ev, b.ToolCallID)
	case *agjson.ToolDone:
		e.toolDone(ev, b)
	case *agjson.ContentBlock:
		e.contentBlock(ev, b)
	case *agjson.MessageMetadata:
		e.messageMetadata(ev)
	case *agjson.ArtifactStart:
		e.artifactStart(ev, b)
	case *agjson.ArtifactDelta:
		e.artifactPart(ev, b.ArtifactID, false)
	case *agjson.ArtifactEnd:
		e.artifactPart(ev, b.ArtifactID, true)
	case *agjson.SourceEvent, *agjson.Handoff, *agjson.PromptBlocked, *agjson.GuardrailResult, *agjson.AgentCapabilities, *agjson.DisplayRequired:
		e.record(ev)
	case *agjson.MessagesSnapshot:
		e.put(ev)
	default: // live-only ones, state.*, memory.write
		e.mark(&ev)
		e.put(ev)
	}
}

// mark names the turn of an event that needs none: its owner, open or not, else the last opened one.
func (e *Engine) mark(ev *agjson.Event) {
	t := e.owner(ev)
	if t == nil {
		t = e.recent
	}
	ev.TurnID = ""
	if t != nil {
		ev.TurnID = t.id
	}
}

// owner is the turn of an event, open or not; nil when there is none. It opens nothing.
func (e *Engine) owner(ev *agjson.Event) *turn {
	if ev.TurnID != "" {
		return e.turns[ev.TurnID]
	}
	if m := e.messages[ev.MessageID]; m != nil && ev.MessageID != "" {
		return m.turn
	}
	if n := len(e.stack); n > 0 {
		return e.stack[n-1]
	}
	return e.last
}

// record places an event that folds onto the record of its turn.
func (e *Engine) record(ev agjson.Event) {
	t := e.owner(&ev)
	if t == nil {
		t = e.openRoot(ev.TurnID, nil)
	}
	if !t.open {
		e.refuse("closed-turn", ev)
		return
	}
	ev.TurnID = t.id
	e.put(ev)
}
