package adk

import (
	"strconv"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// lane is one line of events: that of the run, or that of a branch, in which a parallel agent runs.
type lane struct {
	branch string // "" is the run's own
	turn   string
	closed bool // a branch that has ended

	messages int    // opened so far
	message  string // the one that takes content; "" when none does
	author   string // whose it is
	named    bool   // it names its agent
	behind   bool   // one of the user's was opened after it

	open    *stream           // the block that deltas go to
	said    []segment         // streamed, and not yet said again by a whole event
	whole   map[string]int    // parts of partial events that are whole by themselves, not yet said again
	partial []*call           // calls that only partial events have made
	cites   []citation        // wait for their text block to end
	ground  string            // the last grounding
	carried map[string]string // the last value of each member that has no place of its own

	now      tally  // of the model call
	nowRaw   string // as it came
	counted  bool   // the call has said how it finished
	answered bool   // tools have answered it

	active  bool     // something was said
	done    bool     // what was said last is an answer
	reason  string   // the model's, for stopping
	why     string   // the message beside it
	soft    bool     // the reason is the code of an error, in an event with content
	failure *failure // the last event is one
}

// failure is an event that reports an error instead of content.
type failure struct {
	code    string
	message string
}

// lane finds the lane of an event, and ends the branches that have joined it. A branch becomes a nested turn with its first content.
func (f *facet) lane(ev *event) *lane {
	l := f.lanes[0]
	if ev.branch != "" {
		for _, x := range f.lanes[1:] {
			if x.branch == ev.branch && !x.closed {
				l = x
			}
		}
		if l.branch == "" && (ev.parts.Len() > 0 || ev.errorCode != "") {
			l = f.fork(ev)
		}
		if l.branch == "" {
			ev.rest = append(ev.rest, agjson.Member{Name: "branch", Value: agjson.Quote(ev.branch)})
		}
	}
	if ev.parts.Len() > 0 {
		for i := len(f.lanes) - 1; i > 0; i-- {
			if x := f.lanes[i]; !x.closed && x != l && within(x.branch, l.branch) {
				f.join(x, true)
			}
		}
	}
	return l
}

// within says whether a branch is one of those below another.
func within(branch, of string) bool {
	return of == "" || len(branch) > len(of) && branch[len(of)] == '.' && strings.HasPrefix(branch, of)
}

// fork opens the nested turn of a branch.
func (f *facet) fork(ev *event) *lane {
	parent := f.lanes[0]
	for _, x := range f.lanes[1:] {
		if !x.closed && within(ev.branch, x.branch) && len(x.branch) >= len(parent.branch) {
			parent = x
		}
	}
	key := f.turn + ":" + ev.branch
	start := &agjson.SubagentStart{ParentTurnID: parent.turn}
	if ev.author != "" {
		start.AgentName = new(ev.author)
	}
	f.Emit(agjson.Event{TurnID: key, Body: start})
	l := &lane{branch: ev.branch, turn: f.TurnID(key)}
	f.lanes = append(f.lanes, l)
	return l
}

// speaker opens the message of an event's author, unless it is the one that takes content. Results are no one's.
func (f *facet) speaker(l *lane, ev *event) {
	author := ev.author
	if author == "" || ev.responses > 0 && ev.responses == ev.parts.Len() && l.message != "" {
		author = l.author
	}
	if l.message != "" {
		if author == l.author || l.author == "" && author != "user" {
			l.author = author
			return
		}
		f.leave(l)
	}
	start := &agjson.MessageStart{Role: agjson.RoleAssistant}
	if author == "user" {
		start.Role = agjson.RoleUser
	}
	id := "msg_" + l.turn
	if l.messages++; l.messages > 1 {
		id += ":" + strconv.Itoa(l.messages)
	}
	first := l.branch == "" && l.messages == 1
	l.behind, l.author, l.named = false, author, !first && author != "" && author != "user"
	if l.named {
		start.AgentName = new(author)
	}
	f.heard.close(f)
	l.message = f.OpenMessage(l.turn, id, start)
}

// leave seals the message of an agent when another one takes over. The run's first message names its agent only then: as long
// as there is one agent there is nothing to tell apart.
func (f *facet) leave(l *lane) {
	f.endStream(l)
	if f.spoken.message == l.message {
		f.spoken.close(f)
	}
	if !l.named && l.author != "" && l.author != "user" && f.MessageOpen(l.message) {
		f.Emit(agjson.Event{MessageID: l.message, Body: &agjson.MessageMetadata{
			Metadata: append(append([]byte(`{"agentName":`), agjson.Quote(l.author)...), '}'),
		}})
	}
	f.CloseMessage(l.message, nil)
	l.message = ""
}

// room is the message that takes content.
func (f *facet) room(l *lane) string {
	if l.message == "" {
		f.speaker(l, &event{author: l.author})
	}
	return l.message
}
