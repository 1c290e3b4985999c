package claude

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// vendor is the namespace of this facet's ext events (SPEC §12).
const vendor = "anthropic"

// New is a Normalizer of one query() of the Claude Agent SDK, or one run of its CLI.
func New(host normalizer.Host) *normalizer.Runner {
	return normalizer.Run(&facet{
		Engine:  normalizer.NewEngine(vendor, host),
		lanes:   map[string]*lane{},
		frames:  map[string][]string{},
		denied:  map[string]denial{},
		results: map[string]bool{},
	})
}

type facet struct {
	*normalizer.Engine
	session string
	lanes   map[string]*lane // by parent_tool_use_id; "" is the main loop
	order   []*lane          // in the order of their first frame
	frames  map[string][]string
	denied  map[string]denial // system/permission_denied by tool_use_id, until it finds its result
	notices []string          // the keys of denied, in order
	failure *failure          // an API error that waits for the result
	refusal string            // category of the refusal that the result will report
	results map[string]bool   // uuids of result frames
	summary bool              // a compact_boundary waits for its summary
}

// failure is an assistant frame that reports an API error.
type failure struct {
	code    string
	message string
	turn    string
}

// lane is one agent of the query: the main loop, or a subagent, by the tool call that spawned it.
type lane struct {
	spawn string   // the tool call; "" for the main loop
	turn  string   // its turn
	calls []string // of it, to find what a subagent belongs to
	msg   *message // the one being built of whole frames; nil
	flow  *message // the one being streamed; nil
	done  *message // the last streamed one, which whole frames may still confirm
	apart bool     // it runs in the background
}

// Frame maps one SDKMessage.
func (f *facet) Frame(v agjson.Value) {
	if s := v.Get("session_id").Str(); s != "" && f.session == "" {
		f.session = strings.Clone(s)
		f.NameThread(s)
	}
	switch v.Get("type").Str() {
	case "assistant":
		f.assistant(v)
	case "stream_event":
		f.streamEvent(v)
	case "user":
		f.user(v)
	case "result":
		f.result(v)
	case "system":
		f.system(v)
	case "control_request":
		f.controlRequest(v)
	case "":
		f.Unparsed(v)
	default:
		f.carry(v.Get("type").Str(), v)
	}
}

// End closes what waits for a frame that did not come.
func (f *facet) End() {
	for _, l := range f.order {
		f.flushMessages(l)
	}
	for _, id := range f.notices {
		if d, ok := f.denied[id]; ok {
			f.emitExt(agjson.Value{}, "frame",
				agjson.Member{Name: "kind", Value: agjson.Quote("permission_denied")},
				agjson.Member{Name: "frame", Value: d.frame})
		}
	}
	if f.failure != nil && f.TurnOpen(f.failure.turn) {
		f.endSubagents(&agjson.TurnAbort{Reason: new("parent-ended")})
		f.CloseTurn(f.failure.turn, f.failure.terminal(nil))
	}
}

// HostTerminal ends the turn with what the SDK threw; what an API error frame said before names it better.
func (f *facet) HostTerminal(h normalizer.HostError) {
	for _, l := range f.order {
		f.closeMessages(l)
	}
	if f.failure != nil && f.TurnOpen(f.failure.turn) {
		end := f.failure.terminal(h.Usage)
		f.endSubagents(&agjson.TurnAbort{Reason: new("parent-ended")})
		f.CloseTurn(f.failure.turn, end)
		f.failure = nil
	}
	f.HostError(h)
}

// root is the open top-level turn, opened if need be.
func (f *facet) root() string {
	if id := f.RootTurn(); id != "" {
		return id
	}
	key := ""
	if f.session != "" && !f.Opened() {
		key = "turn_" + f.session
	}
	return f.OpenTurn(key, nil)
}

// lane is the agent that a frame is of, with its turn open. A subagent's turn opens here.
func (f *facet) lane(v agjson.Value) *lane {
	spawn := v.Get("parent_tool_use_id").Str()
	l := f.lanes[spawn]
	if l == nil {
		l = &lane{spawn: strings.Clone(spawn)}
		f.lanes[l.spawn] = l
		f.order = append(f.order, l)
	}
	if spawn == "" {
		l.turn = f.root()
		return l
	}
	if !f.TurnOpen(l.turn) {
		f.openSubagent(l, v)
	}
	return l
}

// openSubagent opens the nested turn of a lane, under the turn of the call that spawned it. Where that call is not of this
// invoke, the parent is a label (SPEC §8 item 16).
func (f *facet) openSubagent(l *lane, v agjson.Value) {
	parent := "turn_" + l.spawn
	id := f.Qualify(parent + ":" + l.spawn)
	if p := f.callLane(l.spawn); p != nil {
		parent = p.turn
		id = parent + ":" + l.spawn
		f.sealExecuted(p)
	}
	l.turn = f.SubagentStart(id, &agjson.SubagentStart{
		ParentTurnID: parent,
		AgentID:      v.Get("agent_id").StrPtr(),
		AgentName:    v.Get("subagent_type").StrPtr(),
	})
	if l.apart {
		f.Detach(l.turn)
	}
}

// callLane is the lane that made a tool call; nil when none did.
func (f *facet) callLane(id string) *lane {
	for _, l := range f.order {
		for _, c := range l.calls {
			if c == id {
				return l
			}
		}
	}
	return nil
}

// endSubagents ends the nested turns that are open, innermost first, but those in the background.
func (f *facet) endSubagents(end agjson.Body) {
	for i := len(f.order) - 1; i >= 0; i-- {
		if l := f.order[i]; l.spawn != "" && !l.apart && f.TurnOpen(l.turn) {
			f.closeMessages(l)
			f.SubagentDone(l.turn, end)
		}
	}
}

// carry passes a frame on whole, as the vendor's own (SPEC §8 item 22).
func (f *facet) carry(kind string, v agjson.Value) {
	f.emitExt(v, "frame",
		agjson.Member{Name: "kind", Value: agjson.Quote(kind)},
		agjson.Member{Name: "frame", Value: v.Raw()})
}

// emitExt says ext.anthropic.<key> of the turn that the frame is of.
func (f *facet) emitExt(v agjson.Value, key string, members ...agjson.Member) {
	turn := f.RootTurn()
	for _, name := range []string{"parent_tool_use_id", "tool_use_id"} {
		if l := f.lanes[v.Get(name).Str()]; l != nil && l.spawn != "" && f.TurnOpen(l.turn) {
			turn = l.turn
			break
		}
	}
	f.Emit(agjson.Event{TurnID: turn, Body: &agjson.Ext{Name: "ext." + vendor + "." + key, Members: members}})
}
