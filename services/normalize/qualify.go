package normalize

import (
	"bytes"
	"strconv"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

type idKind byte

const (
	turnID idKind = iota
	messageID
	blockID
	toolID
)

type idKey struct {
	kind idKind
	id   string
}

// qualifier keeps the ids of one invoke apart from those that the thread's other invokes have opened: the first use of a taken
// id becomes <id>~<turn>, and all later uses in the invoke follow it (SPEC §5 INV-BLOCK; DESIGN §7). What a name becomes
// depends on the thread alone, so that a replayed invoke finds the same names again.
type qualifier struct {
	known   *reducer.Structure
	turn    string // the invoke's own turn, which no other invoke has
	replay  bool   // the events are in the log already
	own     map[idKey]bool
	renamed map[idKey]string
}

func newQualifier(k *reducer.Structure, turn string) *qualifier {
	return &qualifier{known: k, turn: turn, own: map[idKey]bool{}, renamed: map[idKey]string{}}
}

func (q *qualifier) taken(kind idKind, id string) bool {
	switch kind {
	case turnID:
		known, _ := q.known.Turn(id)
		return known
	case messageID:
		return q.known.Message(id)
	case blockID:
		return q.known.Block(id)
	}
	known, _ := q.known.Call(id)
	return known
}

// open is the name of an entity that the event opens.
func (q *qualifier) open(kind idKind, id string) string {
	if id == "" {
		return id
	}
	key := idKey{kind, id}
	if q.own[key] {
		return q.ref(kind, id)
	}
	q.own[key] = true
	if kind == turnID && id == q.turn {
		return id
	}
	if q.replay {
		for name := range q.names(id) {
			if q.taken(kind, name) {
				q.renamed[key] = name
			} else {
				break
			}
		}
		return q.ref(kind, id)
	}
	if !q.taken(kind, id) {
		return id
	}
	for name := range q.names(id) {
		if !q.taken(kind, name) {
			q.renamed[key] = name
			return name
		}
	}
	return id
}

// names yields <id>~<turn>, <id>~<turn>~2 and so on.
func (q *qualifier) names(id string) func(func(string) bool) {
	return func(yield func(string) bool) {
		base := id + "~" + q.turn
		if !yield(base) {
			return
		}
		for n := 2; yield(base + "~" + strconv.Itoa(n)); n++ {
		}
	}
}

// ref is the name of an entity that was opened before, or by another invoke.
func (q *qualifier) ref(kind idKind, id string) string {
	if name, ok := q.renamed[idKey{kind, id}]; ok {
		return name
	}
	return id
}

func (q *qualifier) tool(id *string) { *id = q.ref(toolID, *id) }

func (q *qualifier) toolOf(id *string) *string {
	if id == nil {
		return nil
	}
	s := q.ref(toolID, *id)
	return &s
}

// event renames the ids in ev, whose body nobody else holds.
func (q *qualifier) event(ev *agjson.Event) {
	switch ev.Body.(type) {
	case *agjson.TurnStart, *agjson.SubagentStart:
		ev.TurnID = q.open(turnID, ev.TurnID)
	default:
		ev.TurnID = q.ref(turnID, ev.TurnID)
	}
	switch b := ev.Body.(type) {
	case *agjson.ToolDone:
		if ev.MessageID != "" {
			ev.MessageID = q.open(messageID, ev.MessageID)
		}
		q.tool(&b.ToolCallID)
		return
	case *agjson.MessageStart:
		ev.ID = q.open(messageID, ev.ID)
	case *agjson.MessageEnd, *agjson.MessageRemove:
		ev.ID = q.ref(messageID, ev.ID)
	case *agjson.TextStart, *agjson.ReasoningStart:
		ev.ID = q.open(blockID, ev.ID)
	case *agjson.TextDelta, *agjson.TextEnd, *agjson.ReasoningDelta, *agjson.ReasoningEnd, *agjson.ReasoningOpaque,
		*agjson.ReasoningOpaqueDelta:
		ev.ID = q.ref(blockID, ev.ID)
	case *agjson.ToolStart:
		q.openTool(b)
	case *agjson.ToolArgsDelta:
		q.tool(&b.ToolCallID)
	case *agjson.ToolArgsAssembled:
		q.tool(&b.ToolCallID)
	case *agjson.HitlAsk:
		b.ToolCallID = q.toolOf(b.ToolCallID)
	case *agjson.UISurfaceStart:
		b.ToolCallID = q.toolOf(b.ToolCallID)
	case *agjson.UIDisplayMode:
		b.ToolCallID = q.toolOf(b.ToolCallID)
	case *agjson.SubagentStart:
		b.ParentTurnID = q.ref(turnID, b.ParentTurnID)
	case *agjson.SubagentDone:
		b.ParentTurnID = q.ref(turnID, b.ParentTurnID)
	case *agjson.TurnDone:
		if p, ok := b.Outcome.(*agjson.PausedOutcome); ok {
			for i := range p.Asks {
				p.Asks[i].ToolCallID = q.toolOf(p.Asks[i].ToolCallID)
			}
		}
	}
	ev.MessageID = q.ref(messageID, ev.MessageID)
	if ev.ParentID != "" {
		if name := q.ref(toolID, ev.ParentID); name != ev.ParentID {
			ev.ParentID = name
		} else {
			ev.ParentID = q.ref(messageID, ev.ParentID)
		}
	}
}

// openTool renames a tool call and keeps the provider's spelling beside it, since the provider knows no other.
func (q *qualifier) openTool(b *agjson.ToolStart) {
	provider := b.ToolCallID
	if b.ToolCallID = q.open(toolID, provider); b.ToolCallID == provider {
		return
	}
	inner := bytes.TrimSuffix(bytes.TrimPrefix(b.ProviderMetadata, []byte("{")), []byte("}"))
	bag := append([]byte("{"), inner...)
	if len(bytes.TrimSpace(inner)) > 0 {
		bag = append(bag, ',')
	}
	bag = append(bag, `"agwire":{"toolCallId":`...)
	bag = agjson.AppendString(bag, provider)
	b.ProviderMetadata = append(bag, "}}"...)
}
