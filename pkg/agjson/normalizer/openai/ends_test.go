package openai_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// TestEnds: the last terminal of every stream is what became of the run.
func TestEnds(t *testing.T) {
	covered := map[string]int{}
	for _, s := range streams(t) {
		events := run(s.frames)
		var last agjson.Body
		for i := range events {
			switch b := events[i].Body.(type) {
			case *agjson.TurnDone:
				last = b
			case *agjson.TurnError, *agjson.TurnAbort:
				last = b
			}
		}
		kind, detail := endOf(last)
		want, wantDetail := "success", ""
		switch {
		case s.meta.Ended.Error != nil:
			want, wantDetail = "error", s.meta.Ended.Error.Message
			if s.name == "response_failed" { // the stream has said why before
				wantDetail = "Rate limit reached"
			}
		case s.name == "approval_agent_as_tool.1_interrupted": // no frame says that it waits
			want, wantDetail = "abort", "stream-truncated"
		case len(s.meta.After.Interruptions) > 0:
			want = "paused"
			for _, i := range s.meta.After.Interruptions {
				wantDetail += i.RawItem.CallID + " "
			}
		case s.meta.After.FinalOutput == nil:
			want, wantDetail = "abort", "stream-truncated"
		}
		covered[want]++
		if kind != want || detail != wantDetail {
			t.Errorf("%s ends in %s %q, want %s %q", s.name, kind, detail, want, wantDetail)
		}
	}
	t.Logf("%v", covered)
	for what, n := range map[string]int{"success": 35, "error": 12, "paused": 2, "abort": 3} {
		if covered[what] < n {
			t.Errorf("%d streams end in %s, it was %d", covered[what], what, n)
		}
	}
}

func endOf(b agjson.Body) (kind, detail string) {
	switch b := b.(type) {
	case *agjson.TurnError:
		return "error", b.Message
	case *agjson.TurnAbort:
		return "abort", *b.Reason
	case *agjson.TurnDone:
		switch o := b.Outcome.(type) {
		case *agjson.SuccessOutcome:
			return "success", ""
		case *agjson.PausedOutcome:
			for _, a := range o.Asks {
				detail += *a.ToolCallID + " "
			}
			return "paused", detail
		case *agjson.ErrorOutcome:
			return "error", o.Message
		}
	}
	return "none", ""
}

// TestUsage: the turns' usage adds up to what the SDK counts for the run, where it counts no other runs.
func TestUsage(t *testing.T) {
	covered := 0
	for _, s := range streams(t) {
		if s.meta.After.Usage.Requests == 0 || strings.Contains(s.name, "agent_as_tool") || strings.Contains(s.name, ".2_") || strings.HasPrefix(s.name, "session") {
			continue
		}
		covered++
		var in, total int64
		for _, ev := range run(s.frames) {
			var u *agjson.Usage
			switch b := ev.Body.(type) {
			case *agjson.TurnDone:
				u = b.Usage
			case *agjson.TurnError:
				u = b.Usage
			}
			if u != nil {
				n, _ := u.InputTokens.Int64()
				m, _ := u.TotalTokens.Int64()
				in, total = in+n, total+m
				if u.Cumulative == nil || *u.Cumulative {
					t.Errorf("%s: a response's usage is no running total", s.name)
				}
			}
		}
		if w := s.meta.After.Usage; in != w.InputTokens || total != w.TotalTokens {
			t.Errorf("%s: %d input and %d total tokens, want %d and %d", s.name, in, total, w.InputTokens, w.TotalTokens)
		}
	}
	if covered < 37 {
		t.Errorf("only %d streams", covered)
	}
}

// invoke runs a stream as the invoke of a turn.
func invoke(s stream, turn string) []agjson.Event {
	return agtest.Run(newWith(normalizer.Host{ThreadID: "th", TurnID: turn}), s.frames)
}

// TestResume: a run that waits for an approval is paused; the one that resumes it begins with the results of its calls, which land in the
// new turn, and ends.
func TestResume(t *testing.T) {
	byName := map[string]stream{}
	for _, s := range streams(t) {
		byName[s.name] = s
	}
	for first, second := range map[string]string{
		"approval.1_interrupted":               "approval.2_resumed",
		"shell_approval.1_interrupted":         "shell_approval.2_rejected",
		"approval_agent_as_tool.1_interrupted": "approval_agent_as_tool.2_resumed",
	} {
		a, b := byName[first], byName[second]
		r := agtest.CheckFold(t, slices.Concat(invoke(a, "T1"), invoke(b, "T2")))
		want := slices.Concat(said(t, a.frames), said(t, b.frames))
		if got := folded(r); !slices.Equal(want, got) {
			t.Errorf("%s:\n want %q\n got  %q", second, want, got)
		}
		for _, m := range r.Messages {
			for _, b := range m.Content {
				if res, ok := b.(*agjson.ToolResultBlock); ok && m.TurnID != nil && *m.TurnID == "T2" && m.ID != "T2:"+res.ToolCallID+":result" {
					t.Errorf("the result of %s is in message %s", res.ToolCallID, m.ID)
				}
			}
		}
		if n := len(r.Turns); n != 2 {
			t.Fatalf("%s: %d turns", second, n)
		}
		if kind := r.Turns[1].Outcome.Type(); kind != "success" {
			t.Errorf("%s ends in %s", second, kind)
		}
		if kind := r.Turns[0].Outcome.Type(); kind != "paused" && !strings.Contains(first, "agent_as_tool") {
			t.Errorf("%s ends in %s", first, kind)
		}
	}
}

// TestHostTellsInterruptions: an approval that an inner agent asks for is in no frame; a host that hands on result.interruptions as the
// SDK's own run items makes the run paused all the same.
func TestHostTellsInterruptions(t *testing.T) {
	for _, s := range streams(t) {
		if s.name != "approval_agent_as_tool.1_interrupted" {
			continue
		}
		item := fmt.Appendf(nil, `{"type":"run_item_stream_event","name":"tool_approval_requested","item":{"type":"tool_approval_item","rawItem":{"type":"function_call","callId":%q,"name":"x"}}}`,
			s.meta.After.Interruptions[0].RawItem.CallID)
		events := run(append(slices.Clone(s.frames), item))
		agtest.CheckStream(t, events)
		if kind, detail := endOf(events[len(events)-1].Body); kind != "paused" || detail != "call_NEST " {
			t.Errorf("ends in %s %s", kind, detail)
		}
	}
}

// TestManyInvokes: invokes of one thread never collide, one after the other or at once (SPEC §8.0 host obligation 2).
func TestManyInvokes(t *testing.T) {
	var all [][]agjson.Event
	for i, s := range streams(t) {
		h := fmt.Sprintf("turn-%d", i)
		events := invoke(s, h)
		if strings.Contains(s.name, ".2_re") { // answers calls of the one before
			all[len(all)-1] = append(all[len(all)-1], events...)
			continue
		}
		all = append(all, events)
		// The fake model gives every tool call of one scenario the same id; a real one never does, and the log renames them.
		if lines := strings.Join(said(t, s.frames), "\n"); !strings.Contains(lines, "call ") && !strings.Contains(lines, "hosted ") {
			all = append(all, invoke(s, h+"-again"))
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
	if !slices.Equal(a, b) || len(a) < 100 {
		t.Errorf("interleaved invokes fold to something else: %d and %d lines", len(a), len(b))
	}
}
