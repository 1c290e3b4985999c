package snapshot_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
)

// A reducer that goes on notices when less is recorded than it recorded, and then nothing is written over the loss.
func TestContinue(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s, ctx := open(t, srv, nil), t.Context()
		mark := func(i, seq uint64) snapshot.Mark { return snapshot.Mark{Incarnation: i, Sequence: seq} }
		none := snapshot.Mark{}
		lose := func(context.Context) { srv.Client().Del(ctx, srv.Prefix+"progress:{3}") }
		back := func(context.Context) { srv.Client().Set(ctx, srv.Prefix+"progress:{3}", "7 5", 0) }
		spoil := func(context.Context) { srv.Client().Set(ctx, srv.Prefix+"progress:{3}", "what", 0) }
		for i, step := range []struct {
			before         func(context.Context)
			from, to, want snapshot.Mark
			lost           bool
		}{
			{nil, mark(inc, 1), mark(inc, 9), none, true},
			{nil, none, mark(inc, 9), mark(inc, 9), false},
			{nil, mark(inc, 9), mark(inc, 10), mark(inc, 10), false},
			{nil, mark(inc, 9), mark(inc, 10), mark(inc, 10), false}, // again
			{nil, none, mark(inc, 4), mark(inc, 10), false},          // another is further
			{nil, mark(inc, 11), mark(inc, 12), mark(inc, 10), true},
			{lose, mark(inc, 10), mark(inc, 12), none, true},
			{nil, mark(inc, 10), mark(inc, 12), none, true},
			{back, mark(inc, 10), mark(inc, 12), mark(7, 5), true},
			{nil, mark(7, 5), mark(inc, 12), mark(inc, 12), false},
			{spoil, mark(inc, 12), mark(inc, 13), none, true},
			{nil, none, mark(inc, 2), mark(inc, 2), false},
		} {
			if step.before != nil {
				step.before(ctx)
			}
			got, err := s.Continue(ctx, 3, step.from, step.to)
			if got != step.want || errors.Is(err, snapshot.ErrLost) != step.lost || !step.lost && err != nil {
				t.Fatalf("step %d: %v, %v", i, got, err)
			}
			if now, err := s.Progress(ctx, 3); now != step.want && !errors.Is(err, snapshot.ErrNotFound) {
				t.Fatalf("step %d: recorded is %v, %v", i, now, err)
			}
		}
		for _, bad := range [][2]snapshot.Mark{{none, none}, {mark(1, 2), mark(1, 1)}, {mark(0, 1), mark(1, 1)}} {
			if _, err := s.Continue(ctx, 3, bad[0], bad[1]); err == nil || errors.Is(err, snapshot.ErrLost) {
				t.Errorf("from %v to %v: %v", bad[0], bad[1], err)
			}
		}
		if _, err := s.Continue(ctx, -1, none, mark(1, 1)); err == nil {
			t.Error("a negative shard is accepted")
		}
	})
}

// A survey finds what is lost without reading it.
func TestSurvey(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s, raw, ctx := open(t, srv, nil), srv.Client(), t.Context()
		v := version(7, 40)
		want, all := map[string]snapshot.Condition{}, []string{}
		for _, tc := range []struct {
			want snapshot.Condition
			hurt func(key, thread string)
		}{
			{snapshot.Whole, func(string, string) {}},
			{snapshot.Missing, func(key, _ string) { raw.Del(ctx, key) }},
			{snapshot.Missing, func(key, _ string) { raw.HDel(ctx, key, "position") }},
			{snapshot.Missing, func(key, _ string) { raw.HSet(ctx, key, "position", "what is this") }},
			{snapshot.Damaged, func(key, _ string) { raw.HSet(ctx, key, "x", "y") }},
			{snapshot.Damaged, func(key, _ string) {
				for f := range content(v) {
					raw.HDel(ctx, key, string(f))
					return
				}
			}},
			{snapshot.Gone, func(_, thread string) {
				if _, err := s.Delete(ctx, thread, v.Mark()); err != nil {
					t.Fatal(err)
				}
			}},
		} {
			th := fresh()
			if err := follow(ctx, s, th, []snapshot.Version{v}); err != nil {
				t.Fatal(err)
			}
			tc.hurt(srv.Prefix+"t:{"+th+"}", th)
			want[th] = tc.want
			all = append(all, th)
		}
		got, err := s.Survey(ctx, all)
		if err != nil || len(got) != len(all) {
			t.Fatalf("%d of %d, %v", len(got), len(all), err)
		}
		for _, th := range all {
			st := got[th]
			if st.Condition != want[th] {
				t.Errorf("thread %q: condition %d, want %d", th, st.Condition, want[th])
			}
			if known := st.Condition == snapshot.Whole || st.Condition == snapshot.Damaged; known && st.Position != at(v) || !known && st.Position != (snapshot.Position{}) {
				t.Errorf("thread %q: position %+v", th, st.Position)
			}
		}
		if _, err := s.Survey(ctx, []string{""}); err == nil {
			t.Error("an empty thread id is accepted")
		}
	})
}
