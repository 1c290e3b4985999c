package snapshot_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"reflect"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open gives a store on the server; change may adapt its options.
func open(t testing.TB, srv *redistest.Server, change func(*snapshot.Options)) *snapshot.Store {
	t.Helper()
	opts := snapshot.Options{URL: srv.URL, Prefix: srv.Prefix}
	if change != nil {
		change(&opts)
	}
	s, err := snapshot.New(opts)
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

// inc is more than a float64 holds exactly, as real incarnations are.
const inc = 1_790_000_000_123_456_789

func version(first, seq uint64) snapshot.Version {
	return snapshot.Version{Incarnation: inc, First: first, Sequence: seq}
}

// at is the position of a version: everything in it follows from the version, as in a real fold.
func at(v snapshot.Version) snapshot.Position {
	return snapshot.Position{
		Version:   v,
		Ordinal:   int64(v.Sequence - v.First),
		Cursor:    fmt.Sprintf("%d.%d-%d", v.Incarnation, v.First, v.Sequence-v.First),
		UpdatedAt: time.UnixMicro(1_800_000_000_000_000 + int64(v.Incarnation%1000)*1_000_000 + int64(v.Sequence)*1000).UTC(),
		OpenTurn:  v.Sequence%2 == 1,
	}
}

// content is the fold of a version: field k comes, changes and goes every k+1 sequences, differently in every epoch.
func content(v snapshot.Version) map[snapshot.Field]snapshot.Value {
	out := map[snapshot.Field]snapshot.Value{}
	names := []snapshot.Field{snapshot.Open, snapshot.Live, snapshot.State, snapshot.Memory}
	for k := range 12 {
		age := v.Sequence / uint64(k+1)
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %d %d %d", v.Incarnation, v.First, k, age)
		sum := h.Sum64()
		if sum%3 == 0 {
			continue
		}
		f := snapshot.Message("m " + strconv.Itoa(k))
		switch {
		case k < len(names):
			f = names[k]
		case k == 5:
			f = snapshot.Turn("t:\xff\x00")
		case k == 6:
			f = snapshot.Artifact("")
		}
		data := []byte(fmt.Sprintf("%d\x00\xff\r\n%x", k, sum))
		value := snapshot.Value{Order: uint64(20 - k), Data: data}
		out[f] = value
	}
	return out
}

func whole(v snapshot.Version) snapshot.Update {
	return snapshot.Update{Position: at(v), Set: content(v), Reset: true}
}

func difference(from, to snapshot.Version) snapshot.Update {
	u := snapshot.Update{Position: at(to), Base: from, Set: content(to)}
	for f, v := range content(from) {
		now, still := u.Set[f]
		if !still {
			u.Delete = append(u.Delete, f)
		} else if reflect.DeepEqual(v, now) {
			delete(u.Set, f)
		}
	}
	return u
}

// fields turns a snapshot back into what was written.
func fields(s snapshot.Snapshot) map[snapshot.Field]snapshot.Value {
	out := map[snapshot.Field]snapshot.Value{}
	many := func(items []snapshot.Item, name func(string) snapshot.Field) {
		for _, it := range items {
			out[name(it.ID)] = snapshot.Value{Order: it.Order, Data: it.Data}
		}
	}
	many(s.Messages, snapshot.Message)
	many(s.Turns, snapshot.Turn)
	many(s.Artifacts, snapshot.Artifact)
	for f, data := range map[snapshot.Field][]byte{snapshot.Memory: s.Memory, snapshot.State: s.State,
		snapshot.Live: s.Live, snapshot.Open: s.Open} {
		if data != nil {
			out[f] = snapshot.Value{Data: data}
		}
	}
	return out
}

// same fails unless the snapshot is exactly the fold of the version it claims, in order.
func same(t interface {
	Helper()
	Fatalf(string, ...any)
}, s snapshot.Snapshot) {
	t.Helper()
	want := maps.Clone(content(s.Position.Version))
	for _, f := range []snapshot.Field{snapshot.Memory, snapshot.State, snapshot.Live, snapshot.Open} {
		if v, ok := want[f]; ok {
			v.Order = 0 // single parts have none
			want[f] = v
		}
	}
	if got := fields(s); !reflect.DeepEqual(got, want) {
		t.Fatalf("fields of %v:\n got %v\nwant %v", s.Position.Version, got, want)
	}
	if want := at(s.Position.Version); !reflect.DeepEqual(s.Position, want) {
		t.Fatalf("position: got %+v, want %+v", s.Position, want)
	}
	for i := 1; i < len(s.Messages); i++ {
		if s.Messages[i-1].Order > s.Messages[i].Order {
			t.Fatalf("messages out of order: %d before %d", s.Messages[i-1].Order, s.Messages[i].Order)
		}
	}
}

var threads atomic.Int64

// fresh is a thread id that no other test uses, with what is awkward in a Redis key.
func fresh() string {
	odd := []string{"", "}", "{", "{}", " ", "é", "\x00", "*"}
	return odd[rand.IntN(len(odd))] + "thread-" + strconv.FormatInt(threads.Add(1), 10)
}
