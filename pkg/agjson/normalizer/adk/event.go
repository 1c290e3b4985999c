package adk

import (
	"github.com/agwire/agwire/pkg/agjson"
)

// event is one frame: an Event of ADK, which is an LlmResponse with what the agents did.
type event struct {
	raw agjson.Value

	invocation, author, branch string
	finish, errorCode          string
	errorMessage               string

	partial, settled          bool // partial:true; partial:false, which only the SDK's own aggregates say
	turnComplete, interrupted bool
	content, parts            agjson.Value // absent unless an object, a list
	actions, usage            agjson.Value
	grounding, feedback       agjson.Value
	inputText, outputText     agjson.Value
	longRunning               agjson.Value
	session                   []string // names of members that are of the live session alone
	rest                      []agjson.Member
	calls, responses, texts   int  // parts of these kinds that the event has
	trailing                  bool // its last part is the result of code
	uncited                   bool // it has a support that no citation says whole
}

// decode reads a frame; false for what is no event. What has another type than the declarations give it is kept with the rest.
func decode(v agjson.Value) (ev event, ok bool) {
	ev.raw = v
	for name, m := range v.Members {
		if !m.Set() {
			continue
		}
		if ev.member(name, m) {
			ok = true
		} else {
			ev.rest = append(ev.rest, agjson.Member{Name: name, Value: m.Raw()})
		}
	}
	for _, p := range ev.parts.Items {
		ev.trailing = p.Get("codeExecutionResult").Set()
		switch {
		case p.Get("functionCall").Set():
			ev.calls++
		case p.Get("functionResponse").Set():
			ev.responses++
		case p.Get("text").Str() != "" && !p.Get("thought").Bool():
			ev.texts++
		}
	}
	return ev, ok
}

// member takes a member that has a place; false for one that has none, or not its type.
func (ev *event) member(name string, m agjson.Value) bool {
	switch name {
	case "id", "timestamp":
		return true
	case "invocationId":
		return text(m, &ev.invocation)
	case "author":
		return text(m, &ev.author)
	case "branch":
		return text(m, &ev.branch)
	case "finishReason":
		return text(m, &ev.finish)
	case "errorCode":
		if m.Kind() == agjson.KindNumber {
			ev.errorCode = string(m.Raw())
			return true
		}
		return text(m, &ev.errorCode)
	case "errorMessage":
		return text(m, &ev.errorMessage)
	case "error": // what the API server says in place of an event
		if m.Kind() == agjson.KindString && ev.raw.Len() == 1 {
			ev.errorCode, ev.errorMessage = "SERVER_ERROR", m.Str()
			return true
		}
	case "partial":
		ev.partial, ev.settled = m.Bool(), m.Kind() == agjson.KindFalse
		return m.BoolPtr() != nil
	case "turnComplete":
		ev.turnComplete = m.Bool()
		return m.BoolPtr() != nil
	case "interrupted":
		ev.interrupted = m.Bool()
		return m.BoolPtr() != nil
	case "content":
		if parts := m.Get("parts"); m.Kind() == agjson.KindObject && (parts.Kind() == agjson.KindList || !parts.Set()) {
			ev.content, ev.parts = m, parts
			return true
		}
	case "actions":
		return object(m, &ev.actions)
	case "usageMetadata":
		return object(m, &ev.usage)
	case "groundingMetadata":
		return object(m, &ev.grounding)
	case "promptFeedback":
		return object(m, &ev.feedback)
	case "inputTranscription":
		return object(m, &ev.inputText)
	case "outputTranscription":
		return object(m, &ev.outputText)
	case "longRunningToolIds":
		ev.longRunning = m
		return m.Kind() == agjson.KindList
	case "goAway", "liveSessionResumptionUpdate":
		ev.session = append(ev.session, name)
		return true
	}
	return false
}

// text takes a string. One that is empty says nothing.
func text(m agjson.Value, into *string) bool {
	*into = m.Str()
	return m.Kind() == agjson.KindString
}

func object(m agjson.Value, into *agjson.Value) bool {
	if m.Kind() != agjson.KindObject {
		return false
	}
	*into = m
	return true
}

// speaks says whether the event has something for a turn.
func (ev *event) speaks() bool {
	return ev.parts.Len() > 0 || ev.errorCode != "" || ev.transcribes()
}

func (ev *event) transcribes() bool { return ev.inputText.Exists() || ev.outputText.Exists() }

// said says whether the event is an answer by itself: text of the model, without calls.
func (ev *event) said() bool {
	return ev.texts > 0 && ev.calls == 0 && ev.responses == 0 && !ev.trailing
}

// long says whether the call of that id runs on after the event.
func (ev *event) long(id string) bool {
	for _, x := range ev.longRunning.Items {
		if x.Str() == id && id != "" {
			return true
		}
	}
	return false
}
