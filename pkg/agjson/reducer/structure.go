package reducer

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
)

// Structure is the fold without the content: which turns are open, which messages sealed, which ids taken, and the values
// that patches are judged against (state, memory). A Reducer has one inside and asks it about every event, so what a
// Structure admits a Reducer folds, and what it refuses parks a Reducer.
//
// The zero Structure is not ready; use NewStructure. It is not safe for concurrent use.
type Structure struct {
	last   int64  // seq of the last event taken; -1 before the first
	parked string // why it waits for a snapshot; "" while live

	first   *agjson.Event     // the last event that had seq 0, unless that was a snapshot
	digest  [sha256.Size]byte // of the one before an import
	turns   map[string]*turn
	order   []*turn // in the order of the turn records
	open    []*turn // in no order
	busy    int     // unsealed messages and preliminary results of open turns
	groups  map[string]*group
	msgs    map[string]*message
	all     []*message        // in the order of their creation, with nil where one was removed
	holes   int               // how many of those
	blocks  map[string]*block // by their own ids
	alts    idIndex           // by the id inside a data block
	calls   idIndex
	results idIndex
	serial  uint64 // count of blocks entered in those
	arts    map[string]*artifact
	artSeq  []*artifact // in the order of the records
	memory  map[memoryKey]*memory
	memSeq  []*memory
	state   *jsonpatch.Document // nil = none

	lastBlock *block     // the block of the last delta, since the next is likely to be for it
	gone      []*message // scratch for effect.gone
	count     uint64     // turns, messages and artifacts made so far
}

type memoryKey struct {
	scope agjson.MemoryScope
	key   string
}

// turn is what the fold knows of a turn beside its record.
type turn struct {
	id       string
	parent   string // "" = a top-level turn
	nested   bool
	order    uint64
	closed   bool
	paused   bool     // closed by an outcome that asks
	openAt   int      // index in Structure.open
	unsealed int      // open messages
	waiting  int      // preliminary results
	pending  []*block // results that were preliminary since the turn was opened
	parts    []partition
	part     [1]partition // the memory of parts while there is but one
	group    *group
	rec      *turnContent // nil in a Structure by itself
}

// partition is (turn, candidate), SPEC §5 message partitioning.
type partition struct {
	candidate string
	target    *message   // the most recently opened message; nil = none
	stack     []*message // messages that came to be in it, oldest first; sealed and removed ones are passed over
}

// group is the messages of one turnId, whether or not that turn is known.
type group struct {
	id    string
	msgs  []*message // with nil where one was removed
	holes int
}

type seal uint8

const (
	started  seal = iota // opened by message.start, takes blocks
	sealed               // message.end has come
	adopted              // born by tool.done.messageId: takes results that name it, and blocks only after a revert
	restored             // from a snapshot: like adopted when its role is tool, else sealed
)

type message struct {
	id      string
	turn    *turn // nil = of no turn that is known
	group   *group
	at      int // index in group.msgs
	rank    int // index in Structure.all
	order   uint64
	cand    string
	seal    seal
	tool    bool // its role is tool
	born    bool // by tool.done, or by a snapshot: it has no message.start, so no message.end
	removed bool
	nodes   []*block  // blocks that ids lead to
	node    [2]*block // the memory of the first two nodes
	c       *messageContent
}

type blockKind uint8

const (
	atomicBlock blockKind = iota // came whole, by content.block or a snapshot
	textBlock
	reasoningBlock
	callBlock
	resultBlock
)

type block struct {
	kind    blockKind
	sealed  bool
	waiting bool // a preliminary result
	id      string
	alt     string // the id inside a data block, where the event had another
	call    string // toolCallId of a call or a result
	msg     *message
	at      int    // place in a restored message's content
	noted   bool   // is among msg.nodes
	serial  uint64 // rank among those that share an id; 0 = released
	old     bool   // a preliminary result of a turn that was closed since, or from a snapshot: no bar to a boundary
	blockContent
}

type artifact struct {
	id     string
	turn   string
	order  uint64
	sealed bool
	last   string // type of the last part; "" = no part yet
	c      *artifactContent
}

type memory struct {
	memoryKey
	doc *jsonpatch.Document
	c   *memoryContent
}

// NewStructure is a Structure before the first event.
func NewStructure() *Structure {
	s := &Structure{last: -1}
	s.turns = map[string]*turn{}
	s.clearMessages()
	return s
}

func (s *Structure) clearMessages() {
	s.groups = map[string]*group{}
	s.msgs = map[string]*message{}
	s.all, s.holes = nil, 0
	s.blocks = map[string]*block{}
	s.alts, s.calls, s.results = nil, nil, nil
	s.lastBlock = nil
}

// Seq is the seq of the last event taken, -1 before the first.
func (s *Structure) Seq() int64 { return s.last }

// Parked says why a snapshot is needed; "" while live (SPEC §5 INV-SEQ).
func (s *Structure) Parked() string { return s.parked }

// Boundary says whether a snapshot may be cut after the last event taken: no open turn has an unsealed message or a
// preliminary result.
func (s *Structure) Boundary() bool { return s.busy == 0 }

// OpenTurn reports whether a turn is open.
func (s *Structure) OpenTurn() bool { return len(s.open) > 0 }

// Turn says whether the turn is known, and whether it is open.
func (s *Structure) Turn(id string) (known, open bool) {
	t := s.turns[id]
	return t != nil, t != nil && !t.closed
}

// Message says whether the message is there.
func (s *Structure) Message(id string) bool { return s.msgs[id] != nil }

// Block says whether a block of the id is there.
func (s *Structure) Block(id string) bool { return s.find(id) != nil }

// Call says whether a tool call is there, and whether it has its final result.
func (s *Structure) Call(id string) (known, done bool) {
	r := s.results.oldest(id)
	return s.calls.newest(id) != nil, r != nil && !r.waiting
}

// Admit says why the event would park the fold; "" when it would not. It changes nothing.
func (s *Structure) Admit(ev *agjson.Event) (reason string) {
	if s.parked != "" && !unparks(ev) {
		return s.parked
	}
	_, reason = s.step(ev, true)
	return reason
}

// Apply takes the event, or parks.
func (s *Structure) Apply(ev *agjson.Event) {
	if s.parked != "" && !unparks(ev) {
		return
	}
	if _, reason := s.step(ev, false); reason != "" {
		s.park(ev, reason)
	}
}

func (s *Structure) park(ev *agjson.Event, reason string) {
	kind := "no body"
	if ev.Body != nil {
		kind = ev.Body.Type()
	}
	s.parked = "event " + strconv.FormatInt(ev.Seq, 10) + " (" + kind + "): " + reason
}

// unparks says whether the event ends a park (SPEC §5 INV-SEQ).
func unparks(ev *agjson.Event) bool {
	switch ev.Body.(type) {
	case *agjson.MessagesSnapshot, *agjson.StateSnapshot:
		return true
	}
	return false
}

// candidateKey is the candidate of a partition; absent is 0.
func candidateKey(n agjson.Number) string {
	if n == "" || n == "0" {
		return ""
	}
	if i, err := n.Int64(); err == nil {
		if i == 0 {
			return ""
		}
		return string(agjson.IntNumber(i))
	}
	return strings.Clone(string(n))
}

const (
	noTurn       = "its turn was never opened"
	closedTurn   = "its turn is closed"
	noOwner      = "no turn owns it"
	noMessage    = "no message is open to take it"
	sealedTarget = "its message is sealed"
	noSuch       = "what it names is not there"
)

// owner is the turn that an event belongs to: its turnId, else its messageId's, else the sole open turn (SPEC §5
// INV-OWNER, §4 per-turn routing). It must be open.
func (s *Structure) owner(ev *agjson.Event) (*turn, string) {
	if ev.TurnID != "" {
		t := s.turns[ev.TurnID]
		switch {
		case t == nil:
			return nil, noTurn
		case t.closed:
			return nil, closedTurn
		}
		return t, ""
	}
	if ev.MessageID != "" {
		if m := s.msgs[ev.MessageID]; m != nil {
			return m.liveTurn()
		}
	}
	if len(s.open) == 1 {
		return s.open[0], ""
	}
	return nil, noOwner
}

func (m *message) liveTurn() (*turn, string) {
	switch {
	case m.turn == nil:
		return nil, noOwner
	case m.turn.closed:
		return nil, closedTurn
	}
	return m.turn, ""
}

// target is the message that a new block goes to: the most recently opened one of the event's (turn, candidate).
func (s *Structure) target(ev *agjson.Event, candidate agjson.Number) (*message, string) {
	t, reason := s.owner(ev)
	if reason != "" {
		return nil, reason
	}
	return s.targetIn(t, ev, candidate)
}

func (s *Structure) targetIn(t *turn, ev *agjson.Event, candidate agjson.Number) (*message, string) {
	if ev.MessageID != "" {
		if m := s.msgs[ev.MessageID]; m != nil && (m.seal == sealed || m.turn != nil && m.turn.closed) {
			return nil, sealedTarget
		}
	}
	p := t.partition(candidateKey(candidate), false)
	switch {
	case p == nil || p.target == nil:
		return nil, noMessage
	case p.target.seal != started:
		return nil, sealedTarget
	}
	return p.target, ""
}

func (t *turn) partition(candidate string, add bool) *partition {
	for i := range t.parts {
		if t.parts[i].candidate == candidate {
			return &t.parts[i]
		}
	}
	if !add {
		return nil
	}
	if t.parts == nil {
		t.parts = t.part[:0]
	}
	t.parts = append(t.parts, partition{candidate: candidate})
	return &t.parts[len(t.parts)-1]
}

// openMessage is the open message of a turn: candidate 0's, else the one opened last (SPEC §5 turn.done, message.metadata).
func (t *turn) openMessage() *message {
	var found *message
	for i := range t.parts {
		m := t.parts[i].target
		if m == nil || m.seal != started {
			continue
		}
		if t.parts[i].candidate == "" {
			return m
		}
		if found == nil || m.rank > found.rank {
			found = m
		}
	}
	return found
}
