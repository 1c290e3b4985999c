package snapshot_test

import (
	"errors"
	"testing"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
)

// A void thread is listed and not stored; nothing older brings it back, its own version and newer ones do.
func TestVoid(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s := open(t, srv, nil)
		ctx, th := t.Context(), fresh()
		apply := func(u snapshot.Update, want snapshot.Outcome) {
			t.Helper()
			if res, err := s.Apply(ctx, th, u); err != nil || res.Outcome != want {
				t.Fatalf("apply: %v, %v; want %v", res.Outcome, err, want)
			}
		}
		void := func(first, seq uint64, want snapshot.Outcome) {
			t.Helper()
			if res, err := s.Void(ctx, th, at(version(first, seq))); err != nil || res.Outcome != want {
				t.Fatalf("void: %v, %v; want %v", res.Outcome, err, want)
			}
		}
		isVoid := func() {
			t.Helper()
			if _, err := s.Load(ctx, th); !errors.Is(err, snapshot.ErrVoid) || !errors.Is(err, snapshot.ErrNotFound) {
				t.Fatalf("load: %v", err)
			}
			if got, err := s.Positions(ctx, []string{th}); err != nil || len(got) != 0 {
				t.Fatalf("positions: %v, %v", got, err)
			}
			got, err := s.Survey(ctx, []string{th})
			if err != nil || got[th].Condition != snapshot.Void || got[th].Position.UpdatedAt.IsZero() {
				t.Fatalf("survey: %+v, %v", got[th], err)
			}
			page, err := s.List(ctx, "", 10, th)
			if err != nil || len(page.Entries) != 1 || page.Entries[0].Stored || page.Entries[0].Position.OpenTurn {
				t.Fatalf("list: %+v, %v", page.Entries, err)
			}
		}
		void(10, 20, snapshot.Applied) // before anything is stored
		isVoid()
		apply(whole(version(10, 19)), snapshot.Stale)
		apply(difference(version(10, 20), version(10, 21)), snapshot.Rebase)
		isVoid()
		apply(whole(version(10, 20)), snapshot.Applied)
		void(10, 19, snapshot.Stale)
		if snap, err := s.Load(ctx, th); err != nil || snap.Position.Sequence != 20 {
			t.Fatalf("load: %v", err)
		}
		void(10, 30, snapshot.Applied)
		void(10, 30, snapshot.Applied)
		void(10, 29, snapshot.Stale)
		isVoid()
		apply(whole(version(40, 40)), snapshot.Applied) // a new epoch
		void(40, 41, snapshot.Applied)
		if res, err := s.Delete(ctx, th, snapshot.Mark{Incarnation: inc, Sequence: 35}); err != nil || res.Outcome != snapshot.Stale {
			t.Fatalf("delete of what was before: %v, %v", res.Outcome, err)
		}
		if res, err := s.Delete(ctx, th, snapshot.Mark{Incarnation: inc, Sequence: 50}); err != nil || res.Outcome != snapshot.Applied {
			t.Fatalf("delete: %v, %v", res.Outcome, err)
		}
		void(40, 60, snapshot.Deleted)
		if _, err := s.Load(ctx, th); !errors.Is(err, snapshot.ErrDeleted) {
			t.Fatalf("load: %v", err)
		}
		void(60, 61, snapshot.Applied)
		isVoid()
		if _, err := s.Void(ctx, th, snapshot.Position{}); err == nil {
			t.Error("a position that is none is accepted")
		}
	})
}
