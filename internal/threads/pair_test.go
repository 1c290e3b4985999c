package threads

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

func open(t testing.TB, srv *redistest.Server) *snapshot.Store {
	t.Helper()
	s, err := snapshot.New(snapshot.Options{URL: srv.URL, Prefix: srv.Prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sorted is a result with its memory as a set: which scope comes first is lost in a pair.
func sorted(res agjson.ReduceResult) []byte {
	res.Memory = slices.Clone(res.Memory)
	key := func(m agjson.MemoryRecord) string {
		if m.Key == nil {
			return ""
		}
		return *m.Key
	}
	slices.SortFunc(res.Memory, func(a, b agjson.MemoryRecord) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(key(a), key(b)))
	})
	return agjson.AppendReduceResult(nil, &res)
}

func sortedText(t testing.TB, data []byte) []byte {
	t.Helper()
	res, err := agjson.DecodeReduceResult(data)
	if err != nil {
		t.Fatal(err)
	}
	return sorted(res)
}

func same(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if at, ok := jsonpatch.Difference(got, want); !ok {
		t.Fatalf("%s: differs at %s\n got %.1500s\nwant %.1500s", what, at, got, want)
	}
}

func decodePair(t testing.TB, p Pair) []agjson.Event {
	t.Helper()
	var raw []json.RawMessage
	if err := json.Unmarshal(p.Events, &raw); err != nil {
		t.Fatalf("the pair is no list: %v", err)
	}
	events := make([]agjson.Event, len(raw))
	for i, r := range raw {
		var err error
		if events[i], err = agjson.Decode(r); err != nil {
			t.Fatal(err)
		}
	}
	return events
}

// Whatever is written, event by event, each time only what changed: what is stored then gives the pair that the fold gives, to
// the byte, and a fold that goes on from it is the same; so is the one of a joining reader (SPEC §5 INV-FOLD, §10.2).
func TestEveryCut(t *testing.T) {
	redistest.EachOwned(t, func(t *testing.T, srv *redistest.Server) {
		store := open(t, srv)
		for n, s := range streams(t) {
			thread := fmt.Sprintf("thread %d", n)
			whole := sorted(reducer.Fold(s.events).Result())
			f := NewFold(thread)
			for k := range s.events {
				what := fmt.Sprintf("%s at %d", s.name, k)
				take(t, f, s.events[k:k+1])
				if why := f.Parked(); why != "" {
					t.Fatalf("%s: parked: %s", what, why)
				}
				write(t, store, thread, f)
				stored, err := store.Load(t.Context(), thread)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				pair, err := storedPair(&stored)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if want := foldPair(f); !bytes.Equal(pair.Events, want.Events) {
					t.Fatalf("%s: pair\n got %.3000s\nwant %.3000s", what, pair.Events, want.Events)
				} else if pair.Cursor != want.Cursor || pair.StreamSeq != want.StreamSeq || pair.Open != want.Open {
					t.Fatalf("%s: pair stands at %+v, the fold at %+v", what, pair.Cursor, want.Cursor)
				}
				if len(s.events) > 100 && k%7 != 0 {
					continue // the rest costs the square of the length
				}
				events := decodePair(t, pair)
				if last := events[len(events)-1].Seq; last != int64(k) || events[0].Seq < 0 || pair.Cursor.Ordinal != last {
					t.Fatalf("%s: seqs are %d to %d, the cursor %d", what, events[0].Seq, last, pair.Cursor.Ordinal)
				}
				reader := reducer.Fold(append(events, s.events[k+1:]...))
				if why := reader.Parked(); why != "" {
					t.Fatalf("%s: a reader parks: %s", what, why)
				}
				same(t, what+", a reader", sorted(reader.Result()), whole)
				result, err := storedResult(thread, &stored)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				same(t, what+", the result", sortedText(t, result), sorted(f.Result()))
				restored, err := Restore(thread, stored)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if restored.Dirty() || restored.Position() != f.Position() || restored.Epoch() != f.Epoch() {
					t.Fatalf("%s: restored at %+v, not %+v", what, restored.Position(), f.Position())
				}
				if k%14 == 0 {
					f = restored // and goes on
				}
			}
		}
	})
}

// write stores what has changed.
func write(t testing.TB, store *snapshot.Store, thread string, f *Fold) {
	t.Helper()
	if !f.Dirty() {
		t.Fatal("nothing to write")
	}
	res, err := store.Apply(t.Context(), thread, f.Update())
	if err != nil || res.Outcome != snapshot.Applied {
		t.Fatalf("write: %v, %v", res.Outcome, err)
	}
	f.Stored(res.Stored.Version)
	if f.Dirty() {
		t.Fatal("written, and dirty still")
	}
}

// Only what changed is written.
func TestUpdateIsSmall(t *testing.T) {
	s := read(t, "../../pkg/agjson/reducer/testdata/streams/two-turns.ndjson")
	f := NewFold("t")
	for k := range s {
		take(t, f, s[k:k+1])
		u := f.Update()
		f.Stored(u.Position.Version)
		if u.Reset != (k == 0) {
			t.Fatalf("at %d: reset %v", k, u.Reset)
		}
		want := -1
		switch s[k].Body.(type) {
		case *agjson.TextDelta, *agjson.ReasoningDelta, *agjson.ToolArgsDelta:
			want = 1 // the open part
		case *agjson.StateSnapshot, *agjson.StateDelta, *agjson.MemoryWrite, *agjson.ArtifactDelta, *agjson.HitlAsk, *agjson.UISurfaceUpdate:
			want = 1
		}
		if n := len(u.Set) + len(u.Delete); want >= 0 && n != want {
			t.Errorf("at %d (%s): %d fields change", k, s[k].Body.Type(), n)
		}
	}
}
