package claude_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
)

// said is what a stream says, one line each, in the order of the whole frames: texts, thoughts, calls and results.
//
// It reads the frames with encoding/json and by a rule of its own: whole assistant and user frames alone, in both modes,
// since the SDK promises one for every block that holds. So it shares nothing with the mapper.
func said(t testing.TB, frames []json.RawMessage) []string {
	t.Helper()
	var out []string
	for _, raw := range frames {
		var f struct {
			Type    string
			Message json.RawMessage
		}
		if err := json.Unmarshal(raw, &f); err != nil {
			t.Fatal(err)
		}
		var m struct{ Content json.RawMessage }
		var blocks []struct {
			Type, Text, Thinking, Signature, Data, ID, Name string
			Input, Content                                  json.RawMessage
			ToolUseID                                       string `json:"tool_use_id"`
		}
		if f.Type != "assistant" && f.Type != "user" || json.Unmarshal(f.Message, &m) != nil || json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			switch {
			case b.Type == "text" && f.Type == "assistant":
				out = append(out, "text "+b.Text)
			case b.Type == "thinking":
				out = append(out, "thought "+b.Thinking+" "+b.Signature)
			case b.Type == "redacted_thinking":
				out = append(out, "thought  "+b.Data)
			case strings.HasSuffix(b.Type, "tool_use"):
				out = append(out, "call "+b.ID+" "+b.Name+" "+canonical(b.Input))
			case strings.HasSuffix(b.Type, "tool_result"):
				out = append(out, "result "+b.ToolUseID+" "+plainText(b.Content))
			}
		}
	}
	return out
}

func canonical(raw json.RawMessage) string {
	b, _ := json.Marshal(agtest.Decode(raw))
	return string(b)
}

func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []struct{ Type, Text string }
	_ = json.Unmarshal(raw, &list)
	for _, b := range list {
		if b.Type == "text" {
			s += b.Text
		}
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
				if m.Role == agjson.RoleAssistant {
					out = append(out, "text "+b.Text)
				}
			case *agjson.ReasoningBlock:
				text, opaque := "", ""
				if b.Text != nil {
					text = *b.Text
				}
				if b.Opaque != nil {
					opaque = string(b.Opaque.Value)
				}
				out = append(out, "thought "+text+" "+opaque)
			case *agjson.ToolCallBlock:
				out = append(out, "call "+b.ToolCallID+" "+b.Name+" "+canonical(b.Input))
			case *agjson.ToolResultBlock:
				text := ""
				for _, c := range b.Content {
					if x, ok := c.(*agjson.TextBlock); ok {
						text += x.Text
					}
				}
				out = append(out, "result "+b.ToolCallID+" "+text)
			}
		}
	}
	return out
}

// TestSaid: every stream's fold says what its whole frames say, once each; in order within the main loop, and, where agents run side by
// side, in any order between them.
func TestSaid(t *testing.T) {
	inOrder, sorted := 0, 0
	for _, s := range streams(t) {
		want, got := said(t, s.frames), folded(agtest.CheckFold(t, run(s.frames)))
		if strings.HasPrefix(s.name, "subagent") {
			slices.Sort(want)
			slices.Sort(got)
			sorted++
		} else {
			inOrder++
		}
		if !slices.Equal(want, got) {
			t.Errorf("%s:\nwant\n%s\ngot\n%s", s.name, strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	}
	t.Logf("%d streams in order, %d in any order between agents", inOrder, sorted)
	if inOrder < 70 || sorted < 4 {
		t.Errorf("covers fewer streams than it did")
	}
}

// TestManyInvokes: invokes of one thread never collide, one after the other or at once (SPEC §8.0 host obligation 2), and a resumed
// session goes on.
func TestManyInvokes(t *testing.T) {
	var all [][]agjson.Event
	for _, s := range streams(t) {
		// The fake model gives every tool call of one scenario the same id; a real one never does, and the log renames them.
		if !strings.Contains(strings.Join(said(t, s.frames), "\n"), "call ") {
			for range 2 {
				h := host
				h.TurnID = fmt.Sprintf("turn-%d", len(all))
				all = append(all, agtest.Run(newWith(h), s.frames))
			}
		}
	}
	one := agtest.CheckFold(t, slices.Concat(all...))
	var mixed []agjson.Event
	for i := 0; len(mixed) < len(slices.Concat(all...)); i++ {
		for _, events := range all {
			if i < len(events) {
				ev := events[i]
				ev.Seq = int64(len(mixed))
				mixed = append(mixed, ev)
			}
		}
	}
	both := agtest.CheckFold(t, mixed)
	a, b := folded(one), folded(both)
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) || len(a) == 0 {
		t.Error("interleaved invokes fold to something else")
	}
}
