package snapshot_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
)

// pages reads the whole index; between is called after every page.
func pages(ctx context.Context, s *snapshot.Store, limit int, prefix string, between func()) ([]snapshot.Entry, error) {
	var all []snapshot.Entry
	for cursor := ""; ; {
		page, err := s.List(ctx, cursor, limit, prefix)
		if err != nil {
			return nil, err
		}
		if len(page.Entries) > limit {
			return nil, fmt.Errorf("a page of %d, want at most %d", len(page.Entries), limit)
		}
		all = append(all, page.Entries...)
		if page.Next == "" {
			return all, nil
		}
		cursor = page.Next
		between()
	}
}

func instant(n int) time.Time { return time.UnixMicro(1_800_000_000_000_000 + int64(n)) }

// Any activities, with many ties, are listed in order, each once, for every page size and prefix.
func TestListOrder(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		ctx, round := t.Context(), 0
		rapid.Check(t, func(rt *rapid.T) {
			round++
			s := open(t, srv, func(o *snapshot.Options) { o.Prefix = fmt.Sprintf("%s%d:", srv.Prefix, round) })
			id := rapid.StringOfN(rapid.SampledFrom([]rune("abAB\x00{}éß\u200b𝄞~")), 1, 6, -1)
			active := rapid.MapOfN(id, rapid.IntRange(0, 4), 0, 60).Draw(rt, "threads")
			touch := map[string]time.Time{}
			type entry struct {
				thread string
				at     int
			}
			var want []entry
			prefix := rapid.SampledFrom([]string{"", "", "a", "é", "{"}).Draw(rt, "prefix")
			for th, n := range active {
				touch[th] = instant(n)
				if strings.HasPrefix(th, prefix) {
					want = append(want, entry{th, n})
				}
			}
			slices.SortFunc(want, func(a, b entry) int {
				return cmp.Or(cmp.Compare(b.at, a.at), strings.Compare(b.thread, a.thread))
			})
			if err := s.Touch(ctx, touch); err != nil {
				rt.Fatal(err)
			}
			if n, err := s.Count(ctx); err != nil || n != int64(len(active)) {
				rt.Fatalf("count %d, %v; want %d", n, err, len(active))
			}
			got, err := pages(ctx, s, rapid.IntRange(1, 9).Draw(rt, "limit"), prefix, func() {})
			if err != nil {
				rt.Fatal(err)
			}
			if len(got) != len(want) {
				rt.Fatalf("%d entries, want %d", len(got), len(want))
			}
			for i, e := range got {
				if e.Thread != want[i].thread || !e.Active.Equal(instant(want[i].at)) || e.Stored {
					rt.Fatalf("entry %d is %+v, want %v", i, e, want[i])
				}
			}
		})
	})
}

// While threads become active between pages, the others are neither left out nor repeated, and none is listed twice.
func TestListUnderUpdates(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		ctx, round := t.Context(), 0
		rapid.Check(t, func(rt *rapid.T) {
			round++
			s := open(t, srv, func(o *snapshot.Options) { o.Prefix = fmt.Sprintf("%s%d:", srv.Prefix, round) })
			n := rapid.IntRange(1, 60).Draw(rt, "threads")
			touch := map[string]time.Time{}
			for i := range n {
				touch[fmt.Sprintf("t%02d", i)] = instant(rapid.IntRange(0, 8).Draw(rt, "activity"))
			}
			if err := s.Touch(ctx, touch); err != nil {
				rt.Fatal(err)
			}
			moved, clock := map[string]bool{}, 100
			got, err := pages(ctx, s, rapid.IntRange(1, 7).Draw(rt, "limit"), "", func() {
				more := map[string]time.Time{}
				for range rapid.IntRange(0, 3).Draw(rt, "updates") {
					clock++
					th := fmt.Sprintf("t%02d", rapid.IntRange(0, n+5).Draw(rt, "thread")) // some are new
					moved[th], more[th] = true, instant(clock)
				}
				if err := s.Touch(ctx, more); err != nil {
					rt.Fatal(err)
				}
			})
			if err != nil {
				rt.Fatal(err)
			}
			seen := map[string]int{}
			for _, e := range got {
				seen[e.Thread]++
			}
			for th := range touch {
				if seen[th] > 1 || seen[th] == 0 && !moved[th] {
					rt.Fatalf("%s is listed %d times", th, seen[th])
				}
			}
		})
	})
}

// The same with real writers beside the reader.
func TestListBesideWriters(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s := open(t, srv, nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for i := range 60 {
			if err := follow(ctx, s, fmt.Sprintf("still %d", i), []snapshot.Version{version(1, 1+uint64(i/10))}); err != nil {
				t.Fatal(err)
			}
		}
		var g errgroup.Group
		for w := range 3 {
			g.Go(func() error {
				for seq := uint64(10); ctx.Err() == nil; seq++ {
					err := follow(ctx, s, fmt.Sprintf("busy %d %d", w, seq%10), []snapshot.Version{version(1, seq)})
					if err != nil && ctx.Err() == nil {
						return err
					}
				}
				return nil
			})
		}
		for range 20 {
			got, err := pages(ctx, s, 7, "", func() {})
			if err != nil {
				t.Fatal(err)
			}
			seen, still := map[string]bool{}, 0
			for _, e := range got {
				if seen[e.Thread] || !e.Stored || e.Position.Sequence == 0 {
					t.Fatalf("listed twice, or without its position: %+v", e)
				}
				if seen[e.Thread] = true; strings.HasPrefix(e.Thread, "still") {
					still++
				}
			}
			if still != 60 {
				t.Fatalf("%d of 60 threads that did not change", still)
			}
		}
		cancel()
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
	})
}

// The index tells what is stored: a wiped thread can be rebuilt, a deleted one is hidden and then forgotten.
func TestListTellsWhatIsStored(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s, ctx := open(t, srv, nil), t.Context()
		kept, wiped, ghost := "kept", "wiped", "ghost"
		for _, th := range []string{kept, wiped, ghost} {
			if err := follow(ctx, s, th, []snapshot.Version{version(1, 5)}); err != nil {
				t.Fatal(err)
			}
		}
		srv.Client().Del(ctx, srv.Prefix+"t:{wiped}")
		if _, err := s.Delete(ctx, ghost, version(1, 5).Mark()); err != nil {
			t.Fatal(err)
		}
		// A writer that had been admitted before the deletion raises the thread after it.
		if err := s.Touch(ctx, map[string]time.Time{ghost: at(version(1, 6)).UpdatedAt}); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Count(ctx); err != nil || n != 3 {
			t.Fatalf("count: %d, %v", n, err)
		}
		page, err := s.List(ctx, "", 10, "")
		if err != nil || len(page.Entries) != 2 || page.Next != "" {
			t.Fatalf("page: %+v, %v", page, err)
		}
		for _, e := range page.Entries {
			if e.Stored != (e.Thread == kept) || e.Stored && e.Position != at(version(1, 5)) {
				t.Errorf("entry: %+v", e)
			}
		}
		if n, err := s.Count(ctx); err != nil || n != 2 {
			t.Errorf("count after the listing: %d, %v", n, err)
		}
		// An older activity does not lower one.
		if err := s.Touch(ctx, map[string]time.Time{kept: instant(0)}); err != nil {
			t.Fatal(err)
		}
		if page, err = s.List(ctx, "", 10, kept); err != nil || !page.Entries[0].Active.Equal(at(version(1, 5)).UpdatedAt) {
			t.Errorf("lowered: %+v, %v", page, err)
		}
		// A rewritten index: every write names the thread again, also one that changes nothing.
		srv.Client().Del(ctx, srv.Prefix+"index")
		if _, err := s.Apply(ctx, kept, difference(version(1, 4), version(1, 5))); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Count(ctx); err != nil || n != 1 {
			t.Errorf("count after the index was lost: %d, %v", n, err)
		}
	})
}

func TestListArguments(t *testing.T) {
	t.Parallel()
	s, ctx := open(t, redistest.New(t), nil), t.Context()
	for _, cursor := range []string{"!", "eA", "MDE6eA", "LTE6eA", "MTo", "MTr_"} {
		if _, err := s.List(ctx, cursor, 1, ""); !errors.Is(err, snapshot.ErrCursor) {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
	for _, limit := range []int{0, -1, snapshot.MaxPage + 1} {
		if _, err := s.List(ctx, "", limit, ""); err == nil {
			t.Errorf("limit %d accepted", limit)
		}
	}
	if err := s.Touch(ctx, map[string]time.Time{"x": {}}); err == nil {
		t.Error("no time accepted")
	}
	if err := s.Touch(ctx, map[string]time.Time{"": instant(1)}); err == nil {
		t.Error("no thread accepted")
	}
	if page, err := s.List(ctx, "", 5, ""); err != nil || len(page.Entries) != 0 || page.Next != "" {
		t.Errorf("empty index: %+v, %v", page, err)
	}
}

// A prefix that few threads have is looked for in steps: pages may be empty, the cursor leads on.
func TestListRarePrefix(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s, ctx := open(t, srv, nil), t.Context()
		touch := map[string]time.Time{"rare": instant(0)}
		for i := range 10_500 {
			touch[fmt.Sprintf("common %d", i)] = instant(1 + i/100)
		}
		if err := s.Touch(ctx, touch); err != nil {
			t.Fatal(err)
		}
		page, err := s.List(ctx, "", 10, "rare")
		if err != nil || len(page.Entries) != 0 || page.Next == "" {
			t.Fatalf("first step: %+v, %v", page, err)
		}
		page, err = s.List(ctx, page.Next, 10, "rare")
		if err != nil || len(page.Entries) != 1 || page.Next != "" {
			t.Fatalf("second step: %+v, %v", page, err)
		}
	})
}

// The index follows the writes: a refused one lowers nothing, a deletion removes, a late writer leaves no trace, and what
// is newer than a removal stays.
func TestIndexFollowsWrites(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s, ctx, th := open(t, srv, nil), t.Context(), "thread"
		count := func(want int64) {
			t.Helper()
			if n, err := s.Count(ctx); err != nil || n != want {
				t.Fatalf("count %d, %v; want %d", n, err, want)
			}
		}
		if err := follow(ctx, s, th, []snapshot.Version{version(1, 9)}); err != nil {
			t.Fatal(err)
		}
		res, err := s.Apply(ctx, th, whole(version(1, 4)))
		expect(t, res, err, snapshot.Stale, version(1, 9))
		page, err := s.List(ctx, "", 5, "")
		if err != nil || len(page.Entries) != 1 || !page.Entries[0].Active.Equal(at(version(1, 9)).UpdatedAt) {
			t.Fatalf("after a stale write: %+v, %v", page, err)
		}
		if _, err := s.Delete(ctx, th, version(1, 9).Mark()); err != nil {
			t.Fatal(err)
		}
		count(0)
		res, err = s.Apply(ctx, th, whole(version(1, 8)))
		expect(t, res, err, snapshot.Deleted, snapshot.Version{})
		count(0)
		// As if a new life had just been raised: the late writer does not take it down.
		if err := s.Touch(ctx, map[string]time.Time{th: at(version(20, 20)).UpdatedAt}); err != nil {
			t.Fatal(err)
		}
		res, err = s.Apply(ctx, th, whole(version(1, 9)))
		expect(t, res, err, snapshot.Deleted, snapshot.Version{})
		count(1)
	})
}
