package agtest

import (
	"fmt"
	"strings"
)

// idClass says what an event's member names: ids of one class are renamed together. "" is a member that is no id, or one
// that the specification or the provider spells and that must be equal.
func idClass(typ, member string) string {
	switch member {
	case "turnId", "parentTurnId":
		return "turn"
	case "threadId":
		return "thread"
	case "messageId":
		return "message"
	case "stepId":
		return "step"
	case "parentId":
		return "block"
	case "id":
		switch {
		case strings.HasPrefix(typ, "message."):
			return "message"
		case strings.HasPrefix(typ, "step."):
			return "step"
		case strings.HasPrefix(typ, "text."), strings.HasPrefix(typ, "reasoning."):
			return "block"
		}
	}
	return ""
}

// renamer holds the bijection of ids found so far.
type renamer struct {
	there, back map[string]string
}

// SameEvents compares two streams of decoded events: the same types in the same order, the same members and values, ids equal up
// to a consistent renaming. Equal in any case are tool-call ids, and `<toolCallId>:result` and `<turnId>:denials` in their
// parts. Members of ext events other than the envelope's are no ids. It answers "" or the first difference.
func SameEvents(want, got []Object) string {
	r := renamer{map[string]string{}, map[string]string{}}
	for i := range min(len(want), len(got)) {
		if d := r.event(want[i], got[i]); d != "" {
			return fmt.Sprintf("event %d: %s\n  want %s\n  got  %s", i, d, show(want[i]), show(got[i]))
		}
	}
	switch n, m := len(want), len(got); {
	case n < m:
		return fmt.Sprintf("want %d events, got %d, the first too many: %s", n, m, show(got[n]))
	case n > m:
		return fmt.Sprintf("want %d events, got %d, the first missing: %s", n, m, show(want[m]))
	}
	return ""
}

func (r renamer) event(want, got Object) string {
	typ, _ := want["type"].(string)
	if g, _ := got["type"].(string); g != typ {
		return fmt.Sprintf("want a %s, got a %s", typ, g)
	}
	renamed := Clone(got).(Object)
	for _, k := range keys(want, got) {
		class := idClass(typ, k)
		w, okW := want[k].(string)
		g, okG := got[k].(string)
		if class == "" || !okW || !okG {
			continue
		}
		if d := r.pair(class, w, g); d != "" {
			return "/" + k + ": " + d
		}
		renamed[k] = w
	}
	return Diff(want, renamed)
}

func (r renamer) pair(class, want, got string) string {
	for _, suffix := range []string{":result", ":denials"} {
		w, inW := strings.CutSuffix(want, suffix)
		g, inG := strings.CutSuffix(got, suffix)
		switch {
		case class != "message" || !inW && !inG:
			continue
		case !inW || !inG:
			return fmt.Sprintf("want %q, got %q", want, got)
		case suffix == ":denials":
			return r.pair("turn", w, g)
		case w != g:
			return fmt.Sprintf("want %q, got %q", want, got)
		}
		return ""
	}
	there, back := class+"\x00"+want, class+"\x00"+got
	if old, ok := r.there[there]; ok && old != got {
		return fmt.Sprintf("%q was %q before, now %q", want, old, got)
	}
	if old, ok := r.back[back]; ok && old != want {
		return fmt.Sprintf("%q stood for %q before, now for %q", got, old, want)
	}
	r.there[there], r.back[back] = got, want
	return ""
}
