package adk

import (
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// actions maps what the agents did beside talking: state, handoffs, and, as they came, those that no event has a word for. The SDK
// puts empty ones on every event; they are said with what is said once and whole, and not with every token.
func (f *facet) actions(l *lane, ev *event, fresh bool) {
	a := ev.actions
	quiet := ev.partial || !ev.content.Exists() || ev.parts.Len() > 0 && !fresh
	if d := a.Get("stateDelta"); d.Kind() == agjson.KindObject && (d.Len() > 0 || !quiet) {
		f.Emit(agjson.Event{TurnID: l.turn, Body: &agjson.StateDelta{Patch: d.Raw()}})
	}
	if to := a.Get("transferToAgent"); to.Kind() == agjson.KindString {
		h := &agjson.Handoff{Kind: agjson.HandoffKindTransfer, ToAgentName: new(to.Str())}
		if ev.author != "" {
			h.FromAgentID = new(ev.author)
		}
		f.Emit(agjson.Event{TurnID: l.turn, Body: h})
	}
	if a.Get("escalate").Bool() {
		h := &agjson.Handoff{Kind: agjson.HandoffKindEscalate}
		if ev.author != "" {
			h.FromAgentID = new(ev.author)
		}
		f.Emit(agjson.Event{TurnID: l.turn, Body: h})
	}
	rest := actionsRest(ev, ev.responses == 0)
	if quiet {
		rest = filled(rest)
	}
	if raw := normalizer.Object(rest...); raw != nil {
		f.ProviderRaw(f.room(l), vendor, raw)
	}
}

// actionsRest are the actions that actions and asked leave over. skipSummarization is of a result, where there is one.
func actionsRest(ev *event, skip bool) []agjson.Member {
	rest := without(ev.actions)
	kept := rest[:0]
	for _, m := range rest {
		v := string(m.Value)
		switch m.Name {
		case "stateDelta", "requestedAuthConfigs", "requestedToolConfirmations":
			if v[0] == '{' {
				continue
			}
		case "transferToAgent":
			if v[0] == '"' {
				continue
			}
		case "escalate":
			if v == "true" || v == "false" {
				continue
			}
		case "skipSummarization":
			if v == "false" || v == "true" && !skip {
				continue
			}
		}
		kept = append(kept, m)
	}
	return kept
}

// filled leaves out empty containers.
func filled(list []agjson.Member) []agjson.Member {
	kept := list[:0]
	for _, m := range list {
		if v := string(m.Value); v != "{}" && v != "[]" {
			kept = append(kept, m)
		}
	}
	return kept
}

// carry keeps the members of an event that have no place of their own (SPEC §8 item 23), where they are new: most repeat from one
// event to the next. Those of a live session that say nothing of the turn are carried beside it.
func (f *facet) carry(l *lane, ev *event) {
	if len(ev.session) > 0 {
		f.Carry(ev.session[0], ev.raw)
	}
	if len(ev.rest) == 0 || ev.failed() {
		return
	}
	if l.carried == nil {
		l.carried = map[string]string{}
	}
	kept := ev.rest[:0]
	for _, m := range ev.rest {
		if v := string(m.Value); l.carried[m.Name] != v {
			l.carried[m.Name] = v
			kept = append(kept, m)
		}
	}
	if raw := normalizer.Object(kept...); raw != nil {
		f.ProviderRaw(f.room(l), vendor, raw)
	}
}
