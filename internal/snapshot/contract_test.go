package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
)

// expect fails unless a write had the outcome, and left the version stored.
func expect(t *testing.T, res snapshot.Result, err error, want snapshot.Outcome, stored snapshot.Version) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if res.Outcome != want || res.Stored.Version != stored {
		t.Fatalf("outcome %v with %v stored, want %v with %v", res.Outcome, res.Stored.Version, want, stored)
	}
}

func stands(t *testing.T, s *snapshot.Store, thread string, want snapshot.Version) {
	t.Helper()
	snap, err := s.Load(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	if snap.Position.Version != want {
		t.Fatalf("stored version %v, want %v", snap.Position.Version, want)
	}
	same(t, snap)
}

func TestApply(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s, ctx, none := open(t, srv, nil), t.Context(), snapshot.Version{}
		if err := s.Ping(ctx); err != nil {
			t.Fatal(err)
		}
		th := fresh()
		if _, err := s.Load(ctx, th); !errors.Is(err, snapshot.ErrNotFound) || errors.Is(err, snapshot.ErrDeleted) {
			t.Fatalf("load of nothing: %v", err)
		}
		apply := func(u snapshot.Update, want snapshot.Outcome, stored snapshot.Version) {
			t.Helper()
			res, err := s.Apply(ctx, th, u)
			expect(t, res, err, want, stored)
		}
		apply(difference(version(5, 6), version(5, 7)), snapshot.Rebase, none) // nothing there to change
		apply(whole(version(5, 7)), snapshot.Applied, version(5, 7))
		stands(t, s, th, version(5, 7))
		apply(difference(version(5, 7), version(5, 12)), snapshot.Applied, version(5, 12))
		stands(t, s, th, version(5, 12))
		apply(difference(version(5, 7), version(5, 12)), snapshot.Unchanged, version(5, 12)) // its answer was lost
		apply(difference(version(5, 7), version(5, 11)), snapshot.Stale, version(5, 12))
		apply(whole(version(5, 11)), snapshot.Stale, version(5, 12))
		apply(difference(version(5, 11), version(5, 13)), snapshot.Rebase, version(5, 12)) // not made against 12
		stands(t, s, th, version(5, 12))

		// Another epoch wins by having begun later, and the older one never comes back.
		apply(whole(version(20, 20)), snapshot.Applied, version(20, 20))
		apply(whole(version(5, 400)), snapshot.Stale, version(20, 20))
		apply(difference(version(5, 12), version(5, 400)), snapshot.Stale, version(20, 20))
		stands(t, s, th, version(20, 20))
		// Another life of the stream wins with a lower sequence. The incarnations differ below a float64's precision.
		reborn := snapshot.Version{Incarnation: inc + 1, First: 1, Sequence: 1}
		apply(whole(reborn), snapshot.Applied, reborn)
		apply(whole(version(500, 501)), snapshot.Stale, reborn)
		stands(t, s, th, reborn)
		// Numbers are compared as numbers: 9 before 10, and the largest of all.
		last := snapshot.Version{Incarnation: math.MaxUint64, First: 9, Sequence: 9}
		apply(whole(last), snapshot.Applied, last)
		top := snapshot.Version{Incarnation: math.MaxUint64, First: 9, Sequence: 10}
		apply(difference(last, top), snapshot.Applied, top)
		top.First, top.Sequence = math.MaxUint64, math.MaxUint64
		if _, err := s.Apply(ctx, th, snapshot.Update{Position: snapshot.Position{Version: top,
			UpdatedAt: time.Unix(2_000_000_000, 0)}, Reset: true}); err != nil {
			t.Fatal(err)
		}
		snap, err := s.Load(ctx, th)
		if err != nil || snap.Position.Version != top || len(fields(snap)) != 0 {
			t.Fatalf("an empty thread: %+v, %v", snap, err)
		}
	})
}

func TestOrder(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s, th := open(t, srv, nil), fresh()
		u := snapshot.Update{Position: at(version(1, 1)), Reset: true, Set: map[snapshot.Field]snapshot.Value{}}
		var want []string
		for i := range 300 {
			id := fmt.Sprintf("%03d", (i*7)%300)
			u.Set[snapshot.Message(id)] = snapshot.Value{Order: uint64(i) << 40, Data: []byte(id)}
			want = append(want, id)
		}
		for i := range 20 { // equal orders: by id
			u.Set[snapshot.Turn(string(rune('a'+i)))] = snapshot.Value{Order: 3}
		}
		if _, err := s.Apply(t.Context(), th, u); err != nil {
			t.Fatal(err)
		}
		snap, err := s.Load(t.Context(), th)
		if err != nil {
			t.Fatal(err)
		}
		var got, turns []string
		for _, it := range snap.Messages {
			got = append(got, it.ID)
		}
		for _, it := range snap.Turns {
			turns = append(turns, it.ID)
		}
		if !slices.Equal(got, want) || !slices.IsSorted(turns) || len(turns) != 20 {
			t.Fatalf("messages %q\nturns %q", got, turns)
		}
	})
}

func TestTombstone(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s, ctx, none := open(t, srv, nil), t.Context(), snapshot.Version{}
		th := fresh()
		apply := func(u snapshot.Update, want snapshot.Outcome, stored snapshot.Version) {
			t.Helper()
			res, err := s.Apply(ctx, th, u)
			expect(t, res, err, want, stored)
		}
		remove := func(through uint64, want snapshot.Outcome, stored snapshot.Version) {
			t.Helper()
			res, err := s.Delete(ctx, th, snapshot.Mark{Incarnation: inc, Sequence: through})
			expect(t, res, err, want, stored)
		}
		listed := func(want bool) {
			t.Helper()
			page, err := s.List(ctx, "", 100, "")
			if err != nil {
				t.Fatal(err)
			}
			got := slices.ContainsFunc(page.Entries, func(e snapshot.Entry) bool { return e.Thread == th })
			if got != want {
				t.Fatalf("listed: %v, want %v", got, want)
			}
		}
		apply(whole(version(5, 50)), snapshot.Applied, version(5, 50))
		listed(true)
		remove(60, snapshot.Applied, none)
		listed(false)
		if _, err := s.Load(ctx, th); !errors.Is(err, snapshot.ErrDeleted) || !errors.Is(err, snapshot.ErrNotFound) {
			t.Fatalf("load of a deleted thread: %v", err)
		}
		// A late writer has older versions, and may even have newer ones of the old epoch.
		apply(whole(version(5, 49)), snapshot.Deleted, none)
		apply(difference(version(5, 50), version(5, 51)), snapshot.Deleted, none)
		apply(whole(version(5, 5000)), snapshot.Deleted, none)
		apply(whole(version(60, 60)), snapshot.Deleted, none)
		apply(whole(snapshot.Version{Incarnation: inc - 1, First: 900, Sequence: 900}), snapshot.Deleted, none)
		listed(false)
		// An older deletion does not shorten a newer one.
		remove(10, snapshot.Applied, none)
		apply(whole(version(55, 55)), snapshot.Deleted, none)
		// What begins after the deletion lives, whole; a late deletion does not touch it.
		apply(difference(version(61, 61), version(61, 62)), snapshot.Rebase, none)
		apply(whole(version(61, 61)), snapshot.Applied, version(61, 61))
		remove(60, snapshot.Stale, version(61, 61))
		stands(t, s, th, version(61, 61))
		listed(true)
		// A deletion takes a thread that went on past the mark, if it began before.
		apply(difference(version(61, 61), version(61, 70)), snapshot.Applied, version(61, 70))
		remove(65, snapshot.Applied, none)
		apply(difference(version(61, 70), version(61, 71)), snapshot.Deleted, none)
		listed(false)
	})
}

func TestTombstoneExpires(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s := open(t, srv, func(o *snapshot.Options) { o.TombstoneTTL = 300 * time.Millisecond })
		ctx, th := t.Context(), fresh()
		if _, err := s.Delete(ctx, th, snapshot.Mark{Incarnation: inc, Sequence: 9}); err != nil {
			t.Fatal(err)
		}
		srv.Pass(300 * time.Millisecond)
		redistest.Eventually(t, "the tombstone is gone", func() bool {
			_, err := s.Load(ctx, th)
			return errors.Is(err, snapshot.ErrNotFound) && !errors.Is(err, snapshot.ErrDeleted)
		})
		// A new life over a tombstone does not inherit its end.
		long := fresh()
		if _, err := s.Delete(ctx, long, snapshot.Mark{Incarnation: inc, Sequence: 9}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Apply(ctx, long, whole(version(10, 10))); err != nil {
			t.Fatal(err)
		}
		if ttl := srv.Client().PTTL(ctx, srv.Prefix+"t:{"+long+"}").Val(); ttl > 0 {
			t.Fatalf("a living thread expires in %v", ttl)
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s := open(t, srv, func(o *snapshot.Options) { o.MaxValue, o.MaxSnapshot, o.MaxFields = 4<<20, 6<<20, 50 })
		ctx, th := t.Context(), fresh()
		big := func(n int) snapshot.Value { return snapshot.Value{Data: bytes.Repeat([]byte{'x'}, n)} }
		update := func(seq uint64, set map[snapshot.Field]snapshot.Value) error {
			u := snapshot.Update{Position: at(version(1, seq)), Set: set, Reset: seq == 1}
			if !u.Reset {
				u.Base = version(1, seq-1)
			}
			res, err := s.Apply(ctx, th, u)
			if err == nil && res.Outcome != snapshot.Applied {
				t.Fatalf("outcome %v", res.Outcome)
			}
			return err
		}
		if err := update(1, map[snapshot.Field]snapshot.Value{snapshot.Message("a"): big(4 << 20)}); err != nil {
			t.Fatalf("a value at the limit: %v", err)
		}
		var tooLarge *snapshot.TooLargeError
		err := update(2, map[snapshot.Field]snapshot.Value{snapshot.Message("b"): big(4<<20 + 1), snapshot.Open: big(1)})
		if !errors.Is(err, snapshot.ErrTooLarge) || !errors.As(err, &tooLarge) || tooLarge.Field != snapshot.Message("b") {
			t.Fatalf("a value over the limit: %v", err)
		}
		// Together over the limit of a thread: only the server knows what is there already.
		err = update(2, map[snapshot.Field]snapshot.Value{snapshot.Message("b"): big(3 << 20), snapshot.Open: big(1)})
		if !errors.As(err, &tooLarge) || tooLarge.What != "snapshot" || tooLarge.Size < 7<<20 {
			t.Fatalf("a thread over the limit: %v", err)
		}
		many := map[snapshot.Field]snapshot.Value{}
		for i := range 51 {
			many[snapshot.Turn(fmt.Sprint(i))] = big(1)
		}
		if err := update(2, many); !errors.As(err, &tooLarge) || tooLarge.What != "fields" {
			t.Fatalf("too many fields: %v", err)
		}
		snap, err := s.Load(ctx, th)
		if err != nil || snap.Position.Version != version(1, 1) || len(fields(snap)) != 1 {
			t.Fatalf("a refused update left something: %v", err)
		}
		// Replacing makes room: what a value replaces does not count, nor what the same update deletes.
		if err := update(2, map[snapshot.Field]snapshot.Value{snapshot.Message("a"): big(3 << 20)}); err != nil {
			t.Fatal(err)
		}
		res, err := s.Apply(ctx, th, snapshot.Update{Position: at(version(1, 3)), Base: version(1, 2),
			Delete: []snapshot.Field{snapshot.Message("a"), snapshot.Message("never there")},
			Set:    map[snapshot.Field]snapshot.Value{snapshot.Message("c"): big(4 << 20)}})
		expect(t, res, err, snapshot.Applied, version(1, 3))
		if snap, err := s.Load(ctx, th); err != nil || len(snap.Messages) != 1 || len(snap.Messages[0].Data) != 4<<20 {
			t.Fatalf("after replacing: %v", err)
		}
	})
}

func TestMalformedArguments(t *testing.T) {
	t.Parallel()
	s, ctx := open(t, redistest.New(t), nil), t.Context()
	good := func() snapshot.Update { return difference(version(3, 4), version(3, 9)) }
	for name, bad := range map[string]func(*snapshot.Update){
		"no incarnation":       func(u *snapshot.Update) { u.Position.Incarnation = 0 },
		"sequence below first": func(u *snapshot.Update) { u.Position.Sequence = 2 },
		"negative ordinal":     func(u *snapshot.Update) { u.Position.Ordinal = -1 },
		"cursor":               func(u *snapshot.Update) { u.Position.Cursor = strings.Repeat("x", 513) },
		"no time":              func(u *snapshot.Update) { u.Position.UpdatedAt = time.Time{} },
		"no base":              func(u *snapshot.Update) { u.Base = snapshot.Version{} },
		"base of other epoch":  func(u *snapshot.Update) { u.Base.First = 1 },
		"base not older":       func(u *snapshot.Update) { u.Base.Sequence = 9 },
		"reset with base":      func(u *snapshot.Update) { u.Reset = true; u.Delete = nil },
		"reset with deletions": func(u *snapshot.Update) {
			u.Reset, u.Base, u.Delete = true, snapshot.Version{}, []snapshot.Field{snapshot.Open}
		},
		"unknown field": func(u *snapshot.Update) { u.Set["x:1"] = snapshot.Value{} },
		"position":      func(u *snapshot.Update) { u.Set["position"] = snapshot.Value{} },
		"tombstone":     func(u *snapshot.Update) { u.Delete = append(u.Delete, "tombstone") },
		"set and deleted": func(u *snapshot.Update) {
			u.Set["m:x"], u.Delete = snapshot.Value{}, append(u.Delete, "m:x")
		},
		"deleted twice": func(u *snapshot.Update) { u.Delete = append(u.Delete, "m:x", "m:x") },
	} {
		u := good()
		bad(&u)
		if _, err := s.Apply(ctx, "x", u); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, th := range []string{"", "\xff", strings.Repeat("x", 257)} {
		_, loadErr := s.Load(ctx, th)
		_, applyErr := s.Apply(ctx, th, good())
		_, deleteErr := s.Delete(ctx, th, snapshot.Mark{Incarnation: 1, Sequence: 1})
		_, positionsErr := s.Positions(ctx, []string{th})
		if loadErr == nil || applyErr == nil || deleteErr == nil || positionsErr == nil {
			t.Errorf("thread %q accepted", th)
		}
	}
	if _, err := s.Delete(ctx, "x", snapshot.Mark{}); err == nil {
		t.Error("a deletion through nothing is accepted")
	}
}
