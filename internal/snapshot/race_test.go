package snapshot_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
)

// follow folds versions one after the other as a reducer does: differences while they are taken, the whole when not.
func follow(ctx context.Context, s *snapshot.Store, thread string, versions []snapshot.Version) error {
	var base snapshot.Version
	for _, v := range versions {
		u := whole(v)
		if base != (snapshot.Version{}) && base.SameEpoch(v) && base.Compare(v) < 0 {
			u = difference(base, v)
		}
		res, err := s.Apply(ctx, thread, u)
		if err == nil && res.Outcome == snapshot.Rebase {
			res, err = s.Apply(ctx, thread, whole(v))
		}
		if err != nil {
			return err
		}
		switch res.Outcome {
		case snapshot.Applied, snapshot.Unchanged:
			base = v
		case snapshot.Stale:
			if res.Stored.Compare(v) <= 0 {
				return fmt.Errorf("%v refused though only %v is stored", v, res.Stored.Version)
			}
		default:
			return fmt.Errorf("outcome %v", res.Outcome)
		}
	}
	return nil
}

// Writers that race with any versions, whole or by difference, always leave the newest, and at no moment a mixture.
func TestRacingWriters(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s := open(t, srv, nil)
		rapid.Check(t, func(rt *rapid.T) {
			one := rapid.Custom(func(rt *rapid.T) snapshot.Version {
				first := rapid.SampledFrom([]uint64{3, 9, 10, 100}).Draw(rt, "first")
				return snapshot.Version{
					Incarnation: inc + rapid.SampledFrom([]uint64{0, 0, 0, 1}).Draw(rt, "incarnation"),
					First:       first,
					Sequence:    first + rapid.Uint64Range(0, 30).Draw(rt, "sequence"),
				}
			})
			writers := rapid.SliceOfN(rapid.SliceOfN(one, 1, 12), 2, 5).Draw(rt, "writers")
			th, newest := fresh(), snapshot.Version{}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			writing, wctx := errgroup.WithContext(ctx)
			for i, versions := range writers {
				if i%2 == 0 { // most are in order, as a real reducer is; the rest are not
					slices.SortFunc(versions, snapshot.Version.Compare)
				}
				for _, v := range versions {
					if v.Compare(newest) > 0 {
						newest = v
					}
				}
				writing.Go(func() error { return follow(wctx, s, th, versions) })
			}
			reading, rctx := errgroup.WithContext(ctx)
			reading.Go(func() error { return watch(rctx, s, th) })
			if err := writing.Wait(); err != nil {
				rt.Fatal(err)
			}
			cancel()
			if err := reading.Wait(); err != nil {
				rt.Fatal(err)
			}
			snap, err := s.Load(t.Context(), th)
			if err != nil || snap.Position.Version != newest {
				rt.Fatalf("stored %v, want %v: %v", snap.Position.Version, newest, err)
			}
			same(rt, snap)
		})
	})
}

// watch reads until the context ends: versions only rise, and each is whole.
func watch(ctx context.Context, s *snapshot.Store, thread string) error {
	var seen snapshot.Version
	for {
		snap, err := s.Load(ctx, thread)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, snapshot.ErrNotFound):
			continue
		case err != nil:
			return err
		case snap.Position.Compare(seen) < 0:
			return fmt.Errorf("went back from %v to %v", seen, snap.Position.Version)
		}
		seen = snap.Position.Version
		f := &failure{}
		if same(f, snap); f.err != nil {
			return f.err
		}
	}
}

type failure struct{ err error }

func (f *failure) Helper() {}
func (f *failure) Fatalf(format string, args ...any) {
	f.err = cmp.Or(f.err, fmt.Errorf(format, args...))
}

// machine is the store beside a model of it.
type machine struct {
	t       *testing.T
	s       *snapshot.Store
	srv     *redistest.Server
	thread  string
	stored  snapshot.Version // zero = nothing
	dead    snapshot.Mark    // tombstone; zero = none
	damaged bool             // a field was lost since the last reset
	shards  int              // the first of the machine's own
	highest map[int]snapshot.Mark
}

func (m *machine) draw(rt *rapid.T) snapshot.Version {
	first := rapid.Uint64Range(1, 12).Draw(rt, "first")
	return snapshot.Version{
		Incarnation: inc + rapid.Uint64Range(0, 1).Draw(rt, "incarnation"),
		First:       first,
		Sequence:    first + rapid.Uint64Range(0, 6).Draw(rt, "ahead"),
	}
}

// admits says what a whole write of v must come to.
func (m *machine) admits(v snapshot.Version) snapshot.Outcome {
	begun := snapshot.Mark{Incarnation: v.Incarnation, Sequence: v.First}
	switch {
	case m.dead != (snapshot.Mark{}) && begun.Compare(m.dead) <= 0:
		return snapshot.Deleted
	case v.Compare(m.stored) < 0:
		return snapshot.Stale
	}
	return snapshot.Applied
}

func (m *machine) Reset(rt *rapid.T) {
	v := m.draw(rt)
	want := m.admits(v)
	res, err := m.s.Apply(m.t.Context(), m.thread, whole(v))
	if err != nil || res.Outcome != want {
		rt.Fatalf("reset to %v: %v, %v; want %v", v, res.Outcome, err, want)
	}
	if want == snapshot.Applied {
		m.stored, m.dead, m.damaged = v, snapshot.Mark{}, false
	}
}

func (m *machine) Change(rt *rapid.T) {
	to := m.draw(rt)
	from := to
	if m.stored.SameEpoch(to) && rapid.Bool().Draw(rt, "on what is stored") {
		from.Sequence = m.stored.Sequence
	} else {
		from.Sequence = rapid.Uint64Range(to.First, to.Sequence).Draw(rt, "base")
	}
	if from.Sequence >= to.Sequence {
		rt.Skip("no difference")
	}
	want := m.admits(to)
	switch {
	case want != snapshot.Applied:
	case m.stored == (snapshot.Version{}), m.damaged:
		want = snapshot.Rebase
	case m.stored == to:
		want = snapshot.Unchanged
	case m.stored != from:
		want = snapshot.Rebase
	}
	res, err := m.s.Apply(m.t.Context(), m.thread, difference(from, to))
	if err != nil || res.Outcome != want {
		rt.Fatalf("change %v to %v: %v, %v; want %v", from, to, res.Outcome, err, want)
	}
	if want == snapshot.Applied {
		m.stored = to
	}
}

func (m *machine) Delete(rt *rapid.T) {
	through := m.draw(rt).Mark()
	want := snapshot.Applied
	begun := snapshot.Mark{Incarnation: m.stored.Incarnation, Sequence: m.stored.First}
	if m.stored != (snapshot.Version{}) && begun.Compare(through) > 0 {
		want = snapshot.Stale
	}
	res, err := m.s.Delete(m.t.Context(), m.thread, through)
	if err != nil || res.Outcome != want {
		rt.Fatalf("delete through %v: %v, %v; want %v", through, res.Outcome, err, want)
	}
	if want == snapshot.Applied {
		m.stored, m.damaged = snapshot.Version{}, false
		if through.Compare(m.dead) > 0 {
			m.dead = through
		}
	}
}

// Lose takes a field away behind the store's back, never the position: without it nothing tells which version was there.
func (m *machine) Lose(rt *rapid.T) {
	all := content(m.stored)
	if m.stored == (snapshot.Version{}) || m.damaged || len(all) == 0 {
		rt.Skip("nothing to lose")
	}
	var names []string
	for f := range all {
		names = append(names, string(f))
	}
	slices.Sort(names)
	name := rapid.SampledFrom(names).Draw(rt, "field")
	if n := m.srv.Client().HDel(m.t.Context(), m.srv.Prefix+"t:{"+m.thread+"}", name).Val(); n != 1 {
		rt.Fatalf("field %q was not there", name)
	}
	m.damaged = true
}

func (m *machine) Advance(rt *rapid.T) {
	shard, to := rapid.IntRange(0, 1).Draw(rt, "shard"), m.draw(rt).Mark()
	if to.Compare(m.highest[shard]) > 0 {
		m.highest[shard] = to
	}
	got, err := m.s.Advance(m.t.Context(), m.shards+shard, to)
	if err != nil || got != m.highest[shard] {
		rt.Fatalf("advance to %v: %v, %v; want %v", to, got, err, m.highest[shard])
	}
}

func (m *machine) Check(rt *rapid.T) {
	snap, err := m.s.Load(m.t.Context(), m.thread)
	at, posErr := m.s.Positions(m.t.Context(), []string{m.thread})
	_, known := at[m.thread]
	switch alive := m.stored != (snapshot.Version{}); {
	case posErr != nil || known != alive || known && at[m.thread].Version != m.stored:
		rt.Fatalf("positions: %v, %v; want %v", at, posErr, m.stored)
	case m.damaged:
		if !errors.Is(err, snapshot.ErrIncomplete) {
			rt.Fatalf("a damaged thread: %v", err)
		}
	case m.dead != (snapshot.Mark{}):
		if !errors.Is(err, snapshot.ErrDeleted) {
			rt.Fatalf("a deleted thread: %v", err)
		}
	case !alive:
		if !errors.Is(err, snapshot.ErrNotFound) || errors.Is(err, snapshot.ErrDeleted) {
			rt.Fatalf("no thread: %v", err)
		}
	case err != nil || snap.Position.Version != m.stored:
		rt.Fatalf("load: %v, %v; want %v", snap.Position.Version, err, m.stored)
	default:
		same(rt, snap)
	}
}

// The store answers as a model of it does, whatever comes in whatever order.
func TestModel(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s := open(t, srv, nil)
		rapid.Check(t, func(rt *rapid.T) {
			m := &machine{t: t, s: s, srv: srv, thread: fresh(), shards: int(1000 * threads.Add(1)), highest: map[int]snapshot.Mark{}}
			rt.Repeat(map[string]func(*rapid.T){
				"reset": m.Reset, "change": m.Change, "delete": m.Delete, "lose": m.Lose, "advance": m.Advance, "": m.Check,
			})
		})
	})
}

// A writer that lost a race is told, and what it then writes whole is right again.
func TestDifferenceOnForeignBase(t *testing.T) {
	t.Parallel()
	s, th := open(t, redistest.New(t), nil), fresh()
	a, b := rand.Uint64N(50)+10, rand.Uint64N(50)+70
	if err := follow(t.Context(), s, th, []snapshot.Version{version(1, a), version(1, b)}); err != nil {
		t.Fatal(err)
	}
	// The other has folded on from a without having stored b.
	res, err := s.Apply(t.Context(), th, difference(version(1, a), version(1, b+9)))
	expect(t, res, err, snapshot.Rebase, version(1, b))
	res, err = s.Apply(t.Context(), th, whole(version(1, b+9)))
	expect(t, res, err, snapshot.Applied, version(1, b+9))
	stands(t, s, th, version(1, b+9))
}
