package adk_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/adk"
)

// frame is as much of an event as the extractor reads.
type frame struct {
	Author, Branch string
	Partial        bool
	Content        struct {
		Parts []part
	}
	Actions struct {
		RequestedAuthConfigs map[string]json.RawMessage
	}
}

type part struct {
	Text         *string
	Thought      bool
	FunctionCall *struct {
		ID, Name string
		Args     json.RawMessage
	}
	FunctionResponse *struct {
		ID, Name string
		Response json.RawMessage
	}
	ExecutableCode      *struct{ Code string }
	CodeExecutionResult *struct{ Output string }
	InlineData          *struct{ MimeType, Data string }
	FileData            *struct{ FileURI string }
}

// said is what a stream says, one line each, in order.
//
// It reads the frames with encoding/json and by a rule of its own: the whole events alone, since the SDK stores those and sends
// them to the model, and of the partial ones only what no whole event says again; of several results of a call the last. So it
// shares nothing with the mapper.
func said(t testing.TB, raws []json.RawMessage) []string {
	t.Helper()
	frames := make([]frame, len(raws))
	again := map[string]bool{} // calls that whole events make, by line and by id
	last := map[string]int{}   // frame of a call's last result
	for i, raw := range raws {
		if err := json.Unmarshal(raw, &frames[i]); err != nil {
			t.Fatal(err)
		}
		for _, p := range frames[i].Content.Parts {
			if fc := p.FunctionCall; fc != nil && !frames[i].Partial {
				again[fc.Name+canonical(fc.Args)], again[fc.ID] = true, true
			}
			if fr := p.FunctionResponse; fr != nil {
				last[fr.ID] = i
			}
		}
	}
	var out []string
	twice := map[string]bool{}  // ids of calls that a whole event makes under another
	tail := map[string]string{} // text of partial events, by author
	for i, f := range frames {
		for _, p := range f.Content.Parts {
			switch {
			case p.Text != nil && f.Partial:
				if !p.Thought {
					tail[f.Author] += *p.Text
				}
			case p.Text != nil && p.Thought:
				out = append(out, "thought "+*p.Text)
			case p.Text != nil:
				out = append(out, "text "+*p.Text)
				tail[f.Author] = ""
			case p.FunctionCall != nil:
				fc := p.FunctionCall
				if f.Partial && again[fc.Name+canonical(fc.Args)] {
					twice[fc.ID] = !again[fc.ID]
				} else if fc.Name != "" && fc.Name != "adk_request_confirmation" && fc.Name != "adk_request_credential" {
					out = append(out, "call "+fc.Name+" "+canonical(fc.Args))
				}
			case p.FunctionResponse != nil:
				fr := p.FunctionResponse
				if f.Actions.RequestedAuthConfigs[fr.ID] == nil && last[fr.ID] == i && !twice[fr.ID] {
					out = append(out, "result "+resultOf(t, fr.Response))
				}
			case p.ExecutableCode != nil:
				out = append(out, "code "+p.ExecutableCode.Code)
			case p.CodeExecutionResult != nil:
				out = append(out, "output "+p.CodeExecutionResult.Output)
			case p.InlineData != nil:
				out = append(out, "media "+p.InlineData.Data)
			case p.FileData != nil:
				out = append(out, "media "+p.FileData.FileURI)
			}
		}
	}
	for _, text := range tail {
		if text != "" {
			out = append(out, "text "+text)
		}
	}
	return out
}

func canonical(raw json.RawMessage) string {
	if raw == nil {
		return "{}"
	}
	b, _ := json.Marshal(agtest.Decode(raw))
	return string(b)
}

// resultOf is the text of a wrapped text or error, else the JSON.
func resultOf(t testing.TB, raw json.RawMessage) string {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"result", "error"} {
		var s string
		if len(m) == 1 && m[k] != nil && json.Unmarshal(m[k], &s) == nil {
			return s
		}
	}
	return canonical(raw)
}

// folded is the same of a fold.
func folded(r agjson.ReduceResult) []string {
	var out []string
	for _, m := range r.Messages {
		for _, b := range m.Content {
			switch b := b.(type) {
			case *agjson.TextBlock:
				out = append(out, "text "+b.Text)
			case *agjson.ReasoningBlock:
				text := ""
				if b.Text != nil {
					text = *b.Text
				}
				out = append(out, "thought "+text)
			case *agjson.ToolCallBlock:
				out = append(out, "call "+b.Name+" "+canonical(b.Input))
			case *agjson.ToolResultBlock:
				out = append(out, "result "+resultText(b))
			case *agjson.CodeBlock:
				out = append(out, "code "+b.Code)
			case *agjson.CodeResultBlock:
				out = append(out, "output "+b.Output)
			case *agjson.ImageBlock:
				out = append(out, "media "+source(b.Source))
			case *agjson.AudioBlock:
				out = append(out, "media "+source(b.Source))
			case *agjson.FileBlock:
				out = append(out, "media "+source(b.Source))
			}
		}
	}
	return out
}

func resultText(b *agjson.ToolResultBlock) (s string) {
	for _, c := range b.Content {
		switch c := c.(type) {
		case *agjson.TextBlock:
			s += c.Text
		case *agjson.DataBlock:
			s += canonical(c.Data)
		}
	}
	return s
}

func source(s agjson.Source) string {
	switch s := s.(type) {
	case *agjson.Base64Source:
		return s.Data
	case *agjson.URLSource:
		return s.URL
	}
	return ""
}

// TestSaid: every stream's fold says what its frames say, once each and in order.
func TestSaid(t *testing.T) {
	checked, byTruth := 0, 0
	for _, s := range streams(t) {
		got := folded(agtest.CheckFold(t, run(s.frames)))
		if s.meta.Truth != nil {
			byTruth++
			checkTruth(t, s, got)
		}
		if s.name == "live.bidi" { // is transcriptions, which TestLive checks
			continue
		}
		checked++
		want := said(t, s.frames)
		if s.name == "tools_parallel.progressive" { // where tools run before the whole event names the calls: results apart
			want, got = apart(want), apart(got)
		}
		if !slices.Equal(want, got) {
			t.Errorf("%s:\nwant\n%s\ngot\n%s", s.name, strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	}
	t.Logf("%d streams by the extractor, %d of them by their truth too", checked, byTruth)
	if checked < 81 || byTruth < 11 {
		t.Error("covers fewer streams than it did")
	}
}

// apart puts the results after all else.
func apart(lines []string) []string {
	slices.SortStableFunc(lines, func(a, b string) int {
		x, y := strings.HasPrefix(a, "result "), strings.HasPrefix(b, "result ")
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	})
	return lines
}

func checkTruth(t *testing.T, s stream, got []string) {
	t.Helper()
	var want []string
	add := func(kind, text string) {
		if text != "" {
			want = append(want, kind+" "+text)
		}
	}
	add("thought", s.meta.Truth.Reasoning)
	for _, x := range s.meta.Truth.Texts {
		add("text", x)
	}
	for _, c := range s.meta.Truth.ToolCalls {
		add("call", c.Name+" "+canonical(c.Input))
	}
	i := 0
	for _, line := range got {
		if i < len(want) && line == want[i] {
			i++
		}
	}
	if i < len(want) {
		t.Errorf("%s: not said, or not in order: %s", s.name, want[i])
	}
}

// TestLive: what was heard is the user's, what was spoken the agent's, each as one text (SPEC §2 agjson/transcription).
func TestLive(t *testing.T) {
	for _, s := range streams(t) {
		if s.name != "live.bidi" {
			continue
		}
		var got []string
		r := agtest.CheckFold(t, run(s.frames))
		for _, m := range r.Messages {
			for _, b := range m.Content {
				if b, ok := b.(*agjson.TextBlock); ok {
					got = append(got, fmt.Sprintf("%s %s %s", m.Role, b.Text, b.Meta))
				}
			}
		}
		want := []string{
			`user hallo welt {"agjson/transcription":{"role":"input","kind":"transcription"}}`,
			`assistant Guten Tag {"agjson/transcription":{"role":"output","kind":"transcription"}}`,
			`assistant Guten  `, `assistant Zweiter Zug `,
		}
		if !slices.Equal(want, got) {
			t.Errorf("%q", got)
		}
		if _, ok := r.Turns[0].Outcome.(*agjson.AbortedOutcome); !ok || len(r.Turns) != 2 {
			t.Errorf("turns %+v", r.Turns)
		}
	}
}

// TestState: the session's state after the run is what the state deltas make of it.
func TestState(t *testing.T) {
	checked := 0
	for _, s := range streams(t) {
		if len(s.meta.After.SessionState) == 0 {
			continue
		}
		checked++
		got := map[string]json.RawMessage{}
		for _, ev := range run(s.frames) {
			if b, ok := ev.Body.(*agjson.StateDelta); ok {
				if err := json.Unmarshal(b.Patch, &got); err != nil {
					t.Fatal(err)
				}
			}
		}
		for k, v := range s.meta.After.SessionState {
			if canonical(got[k]) != canonical(v) {
				t.Errorf("%s: state %s is %s, want %s", s.name, k, got[k], v)
			}
		}
	}
	if checked < 7 {
		t.Errorf("only %d streams leave a state", checked)
	}
}

// outcomes are how the recorded runs end, those apart that are a plain success.
var outcomes = map[string]string{
	"aborted.sse": "aborted stream-truncated", "prompt_blocked.sse": "aborted stream-truncated",
	"interrupted.sse": "aborted interrupted", "interrupted_no_content.sse": "aborted interrupted", "live.bidi": "aborted interrupted",
	"auth_request.none": "paused auth auth", "auth_request.sse": "paused auth auth",
	"confirmation.1_requested": "paused approval", "confirmation_parallel_payload.1_requested": "paused approval approval",
	"confirmation_rejected.1_requested": "paused approval", "long_running.1": "paused form", "request_input.1": "paused form",
	"workflow_request_input.1":                      "paused form",
	"confirmation_parallel_payload.2_answered_both": "error IntentMismatchError", "tool_streamed_args.progressive": "error Error",
	"error_from_llm_response.sse": "error RESOURCE_EXHAUSTED", "stream_error_chunk.sse": "error UNKNOWN_ERROR", "llm_call_limit.sse": "error UNKNOWN_ERROR",
	"http_429.none": "error 429", "http_429.sse": "error 429", "http_500.none": "error 500", "http_500.sse": "error 500",
	"finish_max_tokens.none": "error MAX_TOKENS", "finish_max_tokens.sse": "error MAX_TOKENS",
	"finish_safety.none": "error SAFETY", "finish_safety.sse": "error SAFETY", "prompt_blocked.none": "error PROHIBITED_CONTENT",
	"malformed_function_call.none": "error MALFORMED_FUNCTION_CALL", "malformed_function_call.sse": "error MALFORMED_FUNCTION_CALL",
}

// TestOutcomes: a run that was cut, interrupted, refused or waits is never a success (SPEC §8 item 17).
func TestOutcomes(t *testing.T) {
	for _, s := range streams(t) {
		want := outcomes[s.name]
		if want == "" {
			want = "success"
		}
		if got := outcome(agtest.CheckFold(t, run(s.frames)).Turns[0]); got != want {
			t.Errorf("%s ends as %q, want %q", s.name, got, want)
		}
	}
}

func outcome(r agjson.TurnRecord) string {
	switch o := r.Outcome.(type) {
	case *agjson.SuccessOutcome:
		return "success"
	case *agjson.ErrorOutcome:
		return "error " + *o.Code
	case *agjson.AbortedOutcome:
		return "aborted " + *o.Reason
	case *agjson.PausedOutcome:
		out := "paused"
		for _, a := range o.Asks {
			out += " " + string(a.Kind)
		}
		return out
	}
	return "none"
}

// TestResume: the second invoke of a conversation folds after the first, answers its calls, and collides with nothing.
func TestResume(t *testing.T) {
	var first []agjson.Event
	pairs := 0
	for _, s := range streams(t) {
		base, leg, ok := strings.Cut(s.name, ".")
		switch {
		case !ok || leg[0] < '1' || leg[0] > '2':
			continue
		case leg[0] == '1':
			first = agtest.Run(adk.New(normalizer.Host{ThreadID: "th", TurnID: "T1"}), s.frames)
			continue
		}
		pairs++
		second := agtest.Run(adk.New(normalizer.Host{ThreadID: "th", TurnID: "T2"}), s.frames)
		r := agtest.CheckFold(t, slices.Concat(first, second))
		if len(r.Turns) != 2 {
			t.Errorf("%s: %d turns", s.name, len(r.Turns))
		}
		results := 0
		for _, m := range r.Messages {
			for _, b := range m.Content {
				if b, ok := b.(*agjson.ToolResultBlock); ok && m.TurnID != nil && *m.TurnID == "T2" {
					results++
					if p, ok := r.Turns[0].Outcome.(*agjson.PausedOutcome); !ok || *p.Asks[0].ToolCallID != b.ToolCallID {
						t.Errorf("%s: the result of %s was not asked for", s.name, b.ToolCallID)
					}
				}
			}
		}
		if strings.HasPrefix(base, "confirmation") && len(s.frames) > 1 && results != 1 {
			t.Errorf("%s: %d results", s.name, results)
		}
	}
	if pairs < 7 {
		t.Errorf("only %d pairs", pairs)
	}
}

// TestManyInvokes: invokes of one thread never collide, one after the other or at once (SPEC §8.0 host obligation 2).
func TestManyInvokes(t *testing.T) {
	var all [][]agjson.Event
	calls := map[string]bool{}
	for _, s := range streams(t) {
		events := agtest.Run(adk.New(normalizer.Host{ThreadID: "th", TurnID: fmt.Sprintf("turn-%d", len(all))}), s.frames)
		if !duplicate(calls, events) { // the fake model gives an id again; a real one never does, and the log renames it
			all = append(all, events)
		}
	}
	flat := slices.Concat(all...)
	var mixed []agjson.Event
	for i := 0; len(mixed) < len(flat); i++ {
		for _, events := range all {
			if i < len(events) {
				ev := events[i]
				ev.Seq = int64(len(mixed))
				mixed = append(mixed, ev)
			}
		}
	}
	a, b := folded(agtest.CheckFold(t, flat)), folded(agtest.CheckFold(t, mixed))
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) || len(a) < 100 {
		t.Error("interleaved invokes fold to something else")
	}
}

// duplicate says whether the events make a call that is in seen, and enters theirs.
func duplicate(seen map[string]bool, events []agjson.Event) bool {
	for _, ev := range events {
		if b, ok := ev.Body.(*agjson.ToolStart); ok {
			if seen[b.ToolCallID] {
				return true
			}
			seen[b.ToolCallID] = true
		}
	}
	return false
}
