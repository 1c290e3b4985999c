package vercel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
)

// said is what a stream says, in the order in which it began to.
type said struct {
	texts     []string
	reasoning []string
	calls     []toolCall
}

type toolCall struct {
	id, name, input string   // input as canonical JSON
	results         []string // `ok <json>` or `error <text>`, `denied`
}

func canonical(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// fromEvents reads what was said from events, without the fold.
func fromEvents(events []agjson.Event) said {
	var s said
	var order []string
	kind, text := map[string]bool{}, map[string]string{}
	at := map[string]int{}
	call := func(id string) *toolCall {
		i, ok := at[id]
		if !ok {
			i = len(s.calls)
			at[id] = i
			s.calls = append(s.calls, toolCall{id: id})
		}
		return &s.calls[i]
	}
	removed := map[string]bool{}
	for i := range events {
		if _, ok := events[i].Body.(*agjson.MessageRemove); ok {
			removed[events[i].ID] = true
		}
	}
	for i := range events {
		ev := &events[i]
		if removed[ev.MessageID] {
			continue
		}
		switch b := ev.Body.(type) {
		case *agjson.TextStart:
			order = append(order, ev.ID)
			text[ev.ID] = ""
		case *agjson.ReasoningStart:
			order = append(order, ev.ID)
			text[ev.ID], kind[ev.ID] = "", true
		case *agjson.TextDelta:
			text[ev.ID] += b.Delta
		case *agjson.ReasoningDelta:
			text[ev.ID] += b.Delta
		case *agjson.ToolStart:
			call(b.ToolCallID).name = b.Name
		case *agjson.ToolArgsAssembled:
			call(b.ToolCallID).input = canonical(agtest.Decode(b.Input))
		case *agjson.ToolDone:
			if b.More == nil {
				c := call(b.ToolCallID)
				c.results = append(c.results, result(b))
			}
		}
	}
	for _, id := range order {
		// The halves of a surrogate pair lie in two deltas, and heal in the JSON of the whole.
		whole := agtest.Decode(agjson.Quote(text[id])).(string)
		if kind[id] {
			s.reasoning = append(s.reasoning, whole)
		} else {
			s.texts = append(s.texts, whole)
		}
	}
	return s
}

func result(b *agjson.ToolDone) string {
	switch b.Outcome {
	case agjson.ToolOutcomeError:
		return "error " + *b.ErrorText
	case agjson.ToolOutcomeDenied:
		return "denied"
	}
	if b.StructuredContent != nil {
		return "ok " + canonical(agtest.Decode(b.StructuredContent))
	}
	text := ""
	for _, c := range b.Content {
		text += c.(*agjson.TextBlock).Text
	}
	return "ok " + canonical(text)
}

// fromFrames reads the same from the frames, with a decoder and rules of its own. ok is false for streams of other frames.
func fromFrames(frames []json.RawMessage) (s said, ok bool) {
	var order []string
	kind, text := map[string]bool{}, map[string]string{}
	at := map[string]int{}
	step, resetAt := 0, 0
	failed := map[string]string{}
	call := func(id string) *toolCall {
		i, has := at[id]
		if !has {
			i = len(s.calls)
			at[id] = i
			s.calls = append(s.calls, toolCall{id: id})
		}
		return &s.calls[i]
	}
	for _, raw := range frames {
		var m map[string]any
		if json.Unmarshal(raw, &m) != nil || m["type"] == nil {
			return s, false
		}
		str := func(names ...string) string {
			for _, n := range names {
				if v, ok := m[n].(string); ok {
					return v
				}
			}
			return ""
		}
		typ := str("type")
		id := fmt.Sprintf("%d/%s/%s", step, strings.Split(typ, "-")[0], str("id"))
		switch typ {
		case "start-step":
			step++
			resetAt = len(order)
		case "reset-step":
			step++
			order = order[:resetAt]
		case "text-start", "reasoning-start":
			order = append(order, id)
			kind[id] = typ == "reasoning-start"
		case "text-delta", "reasoning-delta":
			// encoding/json loses lone surrogates, so the raw text of the string is joined instead.
			var d struct{ Delta, Text json.RawMessage }
			_ = json.Unmarshal(raw, &d)
			quoted := string(append(d.Delta, d.Text...))
			text[id] += quoted[1 : len(quoted)-1]
		case "steering-message":
			var d struct {
				Parts []struct{ Text json.RawMessage }
			}
			_ = json.Unmarshal(raw, &d)
			for _, p := range d.Parts {
				order = append(order, id)
				text[id] = string(p.Text[1 : len(p.Text)-1])
			}
		case "tool-input-start":
			call(str("toolCallId", "id")).name = str("toolName")
		case "tool-input-available", "tool-call", "tool-input-error":
			c := call(str("toolCallId"))
			c.name, c.input = str("toolName"), canonical(m["input"])
			if typ == "tool-input-error" {
				c.results = append(c.results, "error "+str("errorText"))
				failed[c.id] = str("errorText")
			}
		case "tool-output-available", "tool-result":
			if m["preliminary"] != true {
				c := call(str("toolCallId"))
				c.results = append(c.results, "ok "+canonical(m["output"]))
			}
		case "tool-output-error", "tool-error":
			c := call(str("toolCallId"))
			why := str("errorText", "error")
			if e, is := m["error"].(map[string]any); is {
				why = "An error occurred."
				if len(e) > 0 {
					why = canonical(e)
				}
			}
			if failed[c.id] != why {
				c.results = append(c.results, "error "+why)
			}
		case "tool-output-denied":
			c := call(str("toolCallId"))
			c.results = append(c.results, "denied")
		}
	}
	for _, id := range order {
		var whole string
		if err := json.Unmarshal([]byte(`"`+text[id]+`"`), &whole); err != nil {
			return s, false
		}
		if kind[id] {
			s.reasoning = append(s.reasoning, whole)
		} else {
			s.texts = append(s.texts, whole)
		}
	}
	return s, true
}

// TestSays: text, reasoning, tool names, inputs and results are those of the recording, once each, in order. Where the
// recording's meta has the truth, or what was read after the run, that is held against it too.
func TestSays(t *testing.T) {
	covered := map[string]int{}
	for _, s := range streams(t) {
		got := fromEvents(run(s))
		if want, ok := fromFrames(s.frames); ok {
			covered["frames"]++
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%s:\n  want %q\n  got  %q", s.name, want, got)
			}
		}
		truth := s.meta.Truth
		if truth.Texts != nil {
			covered["truth.texts"]++
			if !reflect.DeepEqual(truth.Texts, got.texts) {
				t.Errorf("%s: texts %q, want %q", s.name, got.texts, truth.Texts)
			}
		}
		if truth.Reasoning != nil {
			covered["truth.reasoning"]++
			if !reflect.DeepEqual(truth.Reasoning, got.reasoning) {
				t.Errorf("%s: reasoning %q, want %q", s.name, got.reasoning, truth.Reasoning)
			}
			if !bytes.Contains(agtest.NDJSON(run(s)), []byte(`"kind":"signature","value":"`+truth.Signature+`"`)) {
				t.Errorf("%s: the signature is not there", s.name)
			}
		}
		if truth.ToolCalls != nil {
			covered["truth.toolCalls"]++
			for i, c := range truth.ToolCalls {
				want := toolCall{c.ID, c.Name, canonical(agtest.Decode(c.Input)), got.calls[i].results}
				if !reflect.DeepEqual(want, got.calls[i]) {
					t.Errorf("%s: call %q, want %q", s.name, got.calls[i], want)
				}
			}
		}
		checkAfter(t, s, covered)
		checkUsage(t, s, covered)
	}
	t.Logf("streams covered by each: %v", covered)
	for what, n := range map[string]int{
		"frames": 127, "truth.texts": 5, "truth.reasoning": 1, "truth.toolCalls": 3, "after.text": 62, "usage": 50,
	} {
		if covered[what] < n {
			t.Errorf("%s covers %d streams, it was %d", what, covered[what], n)
		}
	}
}

// checkUsage holds the turn's usage against the total of the frames.
func checkUsage(t *testing.T, s stream, covered map[string]int) {
	t.Helper()
	var finish struct {
		TotalUsage struct {
			InputTokens, OutputTokens, TotalTokens json.Number
			InputTokenDetails                      struct{ CacheReadTokens, CacheWriteTokens json.Number }
			OutputTokenDetails                     struct{ ReasoningTokens json.Number }
		}
	}
	raw := s.frames[len(s.frames)-1]
	if json.Unmarshal(raw, &finish) != nil || finish.TotalUsage.TotalTokens == "" {
		return
	}
	covered["usage"]++
	u := finish.TotalUsage
	want := agjson.Usage{
		InputTokens: agjson.Number(u.InputTokens), OutputTokens: agjson.Number(u.OutputTokens), TotalTokens: agjson.Number(u.TotalTokens),
		CacheReadTokens: agjson.Number(u.InputTokenDetails.CacheReadTokens), CacheWriteTokens: agjson.Number(u.InputTokenDetails.CacheWriteTokens),
		ReasoningTokens: agjson.Number(u.OutputTokenDetails.ReasoningTokens),
	}
	var got *agjson.Usage
	events := run(s)
	switch b := events[len(events)-1].Body.(type) {
	case *agjson.TurnDone:
		got = b.Usage
	case *agjson.TurnError:
		got = b.Usage
	}
	if got == nil || !reflect.DeepEqual(want, *got) {
		t.Errorf("%s: usage %+v, want %+v", s.name, got, want)
	}
}

// checkAfter holds the last step's text against the one that the SDK gave after the run.
func checkAfter(t *testing.T, s stream, covered map[string]int) {
	t.Helper()
	events := run(s)
	var want string
	if json.Unmarshal(s.meta.After.Text, &want) == nil && s.meta.After.Text != nil {
		covered["after.text"]++
		last, text := "", map[string]string{}
		for i := range events {
			switch b := events[i].Body.(type) {
			case *agjson.MessageStart:
				if b.Role == agjson.RoleAssistant {
					last = events[i].ID
				}
			case *agjson.TextDelta:
				text[events[i].ID] += b.Delta
			}
		}
		var got string
		for i := range events {
			if _, ok := events[i].Body.(*agjson.TextStart); ok && events[i].MessageID == last {
				got += agtest.Decode(agjson.Quote(text[events[i].ID])).(string)
			}
		}
		if !strings.HasSuffix(got, want) { // a retried stream keeps what failed
			t.Errorf("%s: the last text is %q, want %q", s.name, got, want)
		}
	}
}
