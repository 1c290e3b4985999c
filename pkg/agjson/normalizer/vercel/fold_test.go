package vercel_test

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/vercel"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// TestFold: every recorded stream folds without parking to what was reviewed. One that goes on with an earlier invoke (`.2_…`)
// folds after it.
func TestFold(t *testing.T) {
	var before *reducer.Reducer
	for _, s := range streams(t) {
		h := host
		r := reducer.New()
		if strings.Contains(s.name, ".2_") {
			r, h.TurnID = before, "U"
		}
		for _, ev := range agtest.Run(vercel.New(h), s.frames) {
			if r.Push(ev); r.Parked() != "" {
				t.Fatalf("%s: %s", s.name, r.Parked())
			}
		}
		before = r
		res := r.Result()
		raw := agjson.AppendReduceResult(nil, &res)
		if err := agjson.Check("AgReduceResult", agjson.Producer, raw); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		agtest.Golden(t, filepath.Join("testdata", "frames", s.name+".result.json"), append(raw, '\n'))
	}
}

// TestCasesFold: so do the cases written by hand, in which only a result without a call may park.
func TestCasesFold(t *testing.T) {
	paths, _ := filepath.Glob("testdata/cases/*.ndjson")
	for _, path := range paths {
		if strings.HasSuffix(path, ".events.ndjson") {
			continue
		}
		if why := parks(agtest.Run(vercel.New(host), agtest.Lines(t, path))); why != "" {
			t.Errorf("%s: %s", path, why)
		}
	}
}

// parks is why a strict fold of the events parks, results of calls of earlier invokes left out: whether those are there only
// the thread's log knows.
func parks(events []agjson.Event) string {
	r := reducer.New()
	calls := map[string]bool{}
	seq := int64(0)
	for _, ev := range events {
		switch b := ev.Body.(type) {
		case *agjson.ToolStart:
			calls[b.ToolCallID] = true
		case *agjson.ToolDone:
			if !calls[b.ToolCallID] {
				continue
			}
		}
		ev.Seq = seq
		seq++
		if r.Push(ev); r.Parked() != "" {
			return r.Parked()
		}
	}
	return ""
}

// TestHostileFolds: nor does what comes of a mutated stream park a fold.
func TestHostileFolds(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		events := agtest.Run(vercel.New(host), hostile(all).Draw(t, "frames"))
		if why := parks(events); why != "" {
			t.Fatalf("%s\n%s", why, agtest.NDJSON(events))
		}
	})
}

// TestApprovalAcrossInvokes: the resumed turn answers the paused one, whose calls get their results in it.
func TestApprovalAcrossInvokes(t *testing.T) {
	for _, s := range streams(t) {
		if !strings.HasSuffix(s.name, "tool_approval.1_requested") {
			continue
		}
		r := reducer.Fold(run(s))
		resumed := strings.Replace(s.name, ".1_requested", ".2_responded", 1)
		for _, ev := range agtest.Run(vercel.New(normalizer.Host{ThreadID: "th", TurnID: "U"}), agtest.Lines(t, filepath.Join("testdata", "frames", resumed+".ndjson"))) {
			r.Push(ev)
		}
		if r.Parked() != "" {
			t.Fatalf("%s: %s", resumed, r.Parked())
		}
		res := r.Result()
		if o, ok := res.Turns[0].Outcome.(*agjson.PausedOutcome); !ok || len(o.Asks) != 2 {
			t.Errorf("%s: outcome %v", s.name, res.Turns[0].Outcome)
		}
		if _, ok := res.Turns[1].Outcome.(*agjson.SuccessOutcome); !ok {
			t.Errorf("%s: outcome %v", resumed, res.Turns[1].Outcome)
		}
		got := map[string]agjson.ToolOutcome{}
		for _, m := range res.Messages {
			for _, b := range m.Content {
				if b, ok := b.(*agjson.ToolResultBlock); ok {
					got[b.ToolCallID+" in "+string(m.Role)] = b.Outcome
				}
			}
		}
		if got["call_AP1 in tool"] != agjson.ToolOutcomeOk || got["call_AP2 in tool"] != agjson.ToolOutcomeDenied || got["call_AP3 in assistant"] != agjson.ToolOutcomeOk {
			t.Errorf("%s: results %v", resumed, got)
		}
	}
}
