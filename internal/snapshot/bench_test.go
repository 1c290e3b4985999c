package snapshot_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
)

// thread is a thread of n messages of 2 KiB each, in turns of ten.
func thread(n int) snapshot.Update {
	u := snapshot.Update{Position: at(version(1, 1)), Reset: true, Set: map[snapshot.Field]snapshot.Value{}}
	text := bytes.Repeat([]byte("0123456789abcdef"), 128)
	for i := range n {
		u.Set[snapshot.Message(fmt.Sprintf("msg-%04d", i))] = snapshot.Value{Order: uint64(i), Data: text}
		if i%10 == 0 {
			u.Set[snapshot.Turn(fmt.Sprintf("turn-%03d", i/10))] = snapshot.Value{Order: uint64(i / 10), Data: text[:200]}
		}
	}
	u.Set[snapshot.Open] = snapshot.Value{Data: text[:500]}
	return u
}

func apply(b *testing.B, s *snapshot.Store, u snapshot.Update) {
	b.Helper()
	res, err := s.Apply(b.Context(), "t", u)
	if err != nil || res.Outcome != snapshot.Applied {
		b.Fatalf("%v, %v", res.Outcome, err)
	}
}

// One message of a thread of 500 changes: by field, as this package writes it, and as one string, which it does not (its encoding
// is not counted).
func BenchmarkUpdate500(b *testing.B) {
	srv := redistest.New(b)
	s := open(b, srv, nil)
	full := thread(500)
	b.Run("fieldwise", func(b *testing.B) {
		start := full
		start.Position = at(version(uint64(b.N)<<20, uint64(b.N)<<20)) // an epoch of this run
		apply(b, s, start)
		last := start.Position.Version
		b.ReportAllocs()
		for b.Loop() {
			next := last
			next.Sequence++
			apply(b, s, snapshot.Update{Position: at(next), Base: last, Set: map[snapshot.Field]snapshot.Value{
				snapshot.Message("msg-0499"): full.Set[snapshot.Message("msg-0499")],
				snapshot.Open:                full.Set[snapshot.Open],
			}})
			last = next
		}
	})
	b.Run("one-string", func(b *testing.B) {
		raw, ctx := srv.Client(), b.Context()
		var all []byte
		for _, v := range full.Set {
			all = append(all, v.Data...)
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := raw.Set(ctx, srv.Prefix+"string", all, 0).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("reset", func(b *testing.B) {
		u := full
		u.Position = at(snapshot.Version{Incarnation: inc + 1, First: uint64(b.N) << 20, Sequence: uint64(b.N) << 20})
		b.ReportAllocs()
		for b.Loop() {
			u.Position.Sequence++
			apply(b, s, u)
		}
	})
}

func BenchmarkLoad500(b *testing.B) {
	s := open(b, redistest.New(b), nil)
	apply(b, s, thread(500))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Load(b.Context(), "t"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList50(b *testing.B) {
	s := open(b, redistest.New(b), nil)
	for i := range 1000 {
		if err := follow(b.Context(), s, fmt.Sprintf("t%d", i), []snapshot.Version{version(1, uint64(i+1))}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if page, err := s.List(b.Context(), "", 50, ""); err != nil || len(page.Entries) != 50 {
			b.Fatal(err)
		}
	}
}
