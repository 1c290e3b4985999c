package openai_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// frame is what the extractor reads of a frame.
type frame struct {
	Type, Name string
	Data       struct {
		Type, Delta string
		Response    struct{ Output []output }
		Event       struct {
			Choices []struct {
				Delta struct {
					Alternative string `json:"reasoning_content"`
				}
			}
		}
	}
	Item struct{ RawItem output }
}

// output is an item as the SDK spells it.
type output struct {
	Type, ID, CallID, Name, Text, Refusal string
	Arguments, Action, Actions, Output    json.RawMessage
	Content, RawContent                   json.RawMessage
	EncryptedContent                      string `json:"encrypted_content"`
	ProviderData                          struct {
		EncryptedContent string `json:"encrypted_content"`
		Content          []output
		Arguments        json.RawMessage
	}
}

// said is what a stream says, one line each, in order: texts, thoughts, calls and results.
//
// It reads the frames with encoding/json and by a rule of its own: what the SDK's response_done says at the end of a response, which
// the mapper uses only where nothing was streamed, and the results of run items. Of a response that never completed it takes
// the deltas.
func said(t testing.TB, frames []json.RawMessage) []string {
	t.Helper()
	var out []string
	var partial output
	alt, search := "", ""
	flush := func() {
		if partial.Text != "" {
			out = append(out, "text "+partial.Text)
		}
		partial = output{}
	}
	for _, raw := range frames {
		var f frame
		if err := json.Unmarshal(raw, &f); err != nil {
			var number *json.UnmarshalTypeError // a member of another shape, in a frame of another kind
			if !errors.As(err, &number) {
				t.Fatal(err)
			}
		}
		switch {
		case f.Data.Type == "response_started":
			flush()
		case f.Data.Type == "output_text_delta":
			partial.Text += f.Data.Delta
		case len(f.Data.Event.Choices) > 0:
			alt += f.Data.Event.Choices[0].Delta.Alternative
		case f.Data.Type == "response_done":
			partial = output{}
			for _, o := range f.Data.Response.Output {
				if o.Type == "tool_search_call" {
					search = o.ID
				}
				if o.Type == "tool_search_output" {
					o.ID = search
				}
				out = append(out, o.lines()...)
			}
			if alt != "" {
				out = slices.Insert(out, 1, "thought "+alt+" ")
				alt = ""
			}
		case f.Name == "tool_output" || f.Name == "handoff_occurred":
			out = append(out, "result "+f.Item.RawItem.CallID+" "+plainText(f.Item.RawItem.Output))
		}
	}
	flush()
	return out
}

func (o output) parts(raw json.RawMessage) (s string) {
	var list []output
	_ = json.Unmarshal(raw, &list)
	for _, p := range list {
		s += p.Text + p.Refusal
	}
	return s
}

// lines are what one item says.
func (o output) lines() []string {
	call := func(id, name string, input json.RawMessage) string {
		return "call " + id + " " + name + " " + canonical(input)
	}
	switch o.Type {
	case "message":
		return []string{"text " + o.parts(o.Content)}
	case "reasoning":
		s := o.parts(o.Content) + o.parts(o.RawContent)
		for _, c := range o.ProviderData.Content {
			s += c.Text
		}
		return []string{"thought " + s + " " + o.ProviderData.EncryptedContent}
	case "compaction":
		return []string{"compaction " + o.EncryptedContent}
	case "function_call":
		var args string
		_ = json.Unmarshal(o.Arguments, &args)
		if args == "" {
			args = "{}"
		}
		return []string{call(o.CallID, o.Name, json.RawMessage(args))}
	case "shell_call":
		return []string{call(o.CallID, "builtin:shell", o.Action)}
	case "computer_call":
		if o.Actions != nil {
			o.Action = o.Actions
		}
		return []string{call(o.CallID, "builtin:computer", o.Action)}
	case "tool_search_call":
		return []string{call(o.ID, "builtin:tool_search", o.Arguments)}
	case "tool_search_output":
		return []string{"result " + o.ID + " "}
	case "hosted_tool_call":
		result := "result " + o.ID + " "
		if o.Name == "mcp_call" {
			result += plainText(o.Output)
		}
		return []string{"hosted " + o.ID + " " + o.Name, result}
	}
	return []string{"?" + o.Type}
}

func canonical(raw json.RawMessage) string {
	b, _ := json.Marshal(agtest.Decode(raw))
	return string(b)
}

// plainText is the text of a tool's output, of whatever shape.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var one struct{ Text string }
	if json.Unmarshal(raw, &one) == nil {
		return one.Text
	}
	var list []struct{ Text, Stdout, Stderr string }
	_ = json.Unmarshal(raw, &list)
	for _, b := range list {
		s += b.Text + b.Stdout + b.Stderr
	}
	return s
}

// folded is the same of a fold.
func folded(r agjson.ReduceResult) []string {
	var out []string
	for _, m := range r.Messages {
		for _, b := range m.Content {
			switch b := b.(type) {
			case *agjson.TextBlock:
				out = append(out, "text "+heal(b.Text))
			case *agjson.ReasoningBlock:
				opaque := ""
				if b.Opaque != nil {
					opaque = string(b.Opaque.Value)
				}
				out = append(out, "thought "+heal(*b.Text)+" "+opaque)
			case *agjson.CompactionBlock:
				out = append(out, "compaction "+string(b.Opaque.Value))
			case *agjson.ToolCallBlock:
				if b.ProviderExecuted != nil {
					out = append(out, "hosted "+b.ToolCallID+" "+b.Name)
				} else {
					out = append(out, "call "+b.ToolCallID+" "+b.Name+" "+canonical(b.Input))
				}
			case *agjson.ToolResultBlock:
				text := ""
				for _, c := range b.Content {
					if x, ok := c.(*agjson.TextBlock); ok {
						text += x.Text
					}
				}
				out = append(out, "result "+b.ToolCallID+" "+heal(text))
			}
		}
	}
	return out
}

// heal joins the halves of surrogate pairs that lay in two deltas.
func heal(s string) string { return agtest.Decode(agjson.Quote(s)).(string) }

// TestSaid: every stream's fold says what its responses say, once each, in order. Where the recording has the truth, or what was read
// after the run, that is held against it too.
func TestSaid(t *testing.T) {
	covered := map[string]int{}
	for _, s := range streams(t) {
		covered["frames"]++
		want, got := said(t, s.frames), folded(resumed(t, s))
		if !slices.Equal(want, got) {
			t.Errorf("%s:\n want %q\n got  %q", s.name, want, got)
		}
		for _, text := range s.meta.Truth.Texts {
			covered["truth.texts"]++
			if !slices.Contains(got, "text "+text) {
				t.Errorf("%s does not say %q", s.name, text)
			}
		}
		if whole := strings.Join(s.meta.Truth.Reasoning, ""); whole != "" {
			covered["truth.reasoning"]++
			if !slices.Contains(got, "thought "+whole+" "+s.meta.Truth.Encrypted) {
				t.Errorf("%s does not think %q", s.name, whole)
			}
		}
		for _, c := range s.meta.Truth.ToolCalls {
			covered["truth.toolCalls"]++
			if !slices.Contains(got, "call "+c.ID+" "+c.Name+" "+canonical(c.Input)) {
				t.Errorf("%s does not call %s", s.name, c.ID)
			}
		}
		if raw := s.meta.After.FinalOutput; raw != nil {
			covered["after.finalOutput"]++
			text := plainText(raw)
			if raw[0] != '"' {
				text = canonical(raw)
			}
			last := got[len(got)-1]
			if _, said, _ := strings.Cut(last, " "); !strings.HasSuffix(last, " "+text) && canonicalText(said) != text {
				t.Errorf("%s ends in %q, its output is %q", s.name, last, text)
			}
		}
	}
	t.Logf("streams covered by each: %v", covered)
	for what, n := range map[string]int{"frames": 52, "truth.texts": 2, "truth.reasoning": 1, "truth.toolCalls": 1, "after.finalOutput": 35} {
		if covered[what] < n {
			t.Errorf("%s covers %d streams, it was %d", what, covered[what], n)
		}
	}
}

func canonicalText(s string) string {
	if json.Valid([]byte(s)) {
		return canonical(json.RawMessage(s))
	}
	return ""
}

// resumed folds a stream without what it answers of an earlier run's calls making the fold park: it is given those calls.
func resumed(t *testing.T, s stream) agjson.ReduceResult {
	t.Helper()
	events := run(s.frames)
	made := map[string]bool{}
	var before []agjson.Event
	for i := range events {
		switch b := events[i].Body.(type) {
		case *agjson.ToolStart:
			made[b.ToolCallID] = true
		case *agjson.ToolDone:
			if !made[b.ToolCallID] {
				made[b.ToolCallID] = true
				before = append(before, agjson.Event{TurnID: "before", Body: &agjson.ToolStart{ToolCallID: b.ToolCallID, Name: "before"}})
			}
		}
	}
	if len(before) == 0 {
		return agtest.CheckFold(t, events)
	}
	n := normalizer.NewEngine("openai", normalizer.Host{ThreadID: "th", TurnID: "before"})
	for _, ev := range before {
		n.Emit(ev)
	}
	n.Flush()
	r := agtest.CheckFold(t, slices.Concat(n.Drain(), events))
	r.Messages = r.Messages[1:]
	return r
}
