package threads

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/pkg/agjson"
)

func simple(t testing.TB) []agjson.Event {
	return read(t, "../../pkg/agjson/reducer/testdata/streams/two-turns.ndjson")
}

// A message is taken once, in order, in the newest epoch (SPEC §5 INV-SEQ).
func TestTakeOrder(t *testing.T) {
	s := simple(t)
	f := NewFold("t")
	if got, err := f.Take(message(s[3:5])); err != nil || got.Fate != Gap {
		t.Fatalf("a message in the middle: %+v, %v", got, err)
	}
	if got := take(t, f, s[:3]); !got.Began || got.Events != 3 || got.Ended {
		t.Fatalf("%+v", got)
	}
	at := f.Position()
	for _, tc := range []struct {
		m    *bus.EventMessage
		want Fate
	}{
		{message(s[:3]), Skipped}, {message(s[1:3]), Skipped}, {message(s[4:6]), Gap},
		{inEpoch(message(s[3:5]), bus.Epoch{Incarnation: epoch().Incarnation, Seq: 9}), Skipped},
		{inEpoch(message(s[:3]), bus.Epoch{Incarnation: epoch().Incarnation - 1, Seq: 900}), Skipped},
		{inEpoch(message(s[3:5]), bus.Epoch{Incarnation: epoch().Incarnation, Seq: 104}), Gap},
	} {
		if got, err := f.Take(tc.m); err != nil || got.Fate != tc.want {
			t.Fatalf("%+v: %+v, %v", tc.m.EventHeader, got, err)
		}
		if reaches := f.Reaches(tc.m.EventHeader); reaches != (tc.want != Gap) {
			t.Fatalf("%+v: reaches %v", tc.m.EventHeader, reaches)
		}
	}
	if f.Position() != at {
		t.Fatalf("moved to %+v", f.Position())
	}
	take(t, f, s[3:])
	f.Update()
	f.Stored(f.Position().Version)
	newer := inEpoch(message(s[:2]), bus.Epoch{Incarnation: epoch().Incarnation + 1, Seq: 5})
	if got, err := f.Take(newer); err != nil || got.Fate != Folded || !got.Began {
		t.Fatalf("a new epoch: %+v, %v", got, err)
	}
	u := f.Update()
	if !u.Reset || u.Position.Ordinal != 1 || len(f.Result().Messages) != 0 || EpochOf(u.Position.Version) != newer.Epoch {
		t.Fatalf("a new epoch is written as %+v", u)
	}
	f.Stored(snapshot.Version{Incarnation: 1, First: 1, Sequence: 1})
	if !f.Dirty() {
		t.Fatal("a version of another epoch counts as stored")
	}
}

func inEpoch(m *bus.EventMessage, e bus.Epoch) *bus.EventMessage {
	m.Epoch, m.StreamSeq = e, e.Seq+uint64(3*m.Last())
	return m
}

// What is no message of events is refused whole, as poison.
func TestTakePoison(t *testing.T) {
	s := simple(t)
	for name, spoil := range map[string]func(*bus.EventMessage){
		"no JSON":         func(m *bus.EventMessage) { m.Body = append(m.Body, "{\"type\":\n"...) },
		"one event less":  func(m *bus.EventMessage) { m.Count++ },
		"one event more":  func(m *bus.EventMessage) { m.Count-- },
		"another ordinal": func(m *bus.EventMessage) { m.Body = ndjson(s[6:8]) },
		"not of its shape": func(m *bus.EventMessage) {
			m.Body = []byte(`{"type":"text.delta","seq":5}` + "\n" + `{"type":"text.delta","seq":6}`)
		},
		"no header": func(m *bus.EventMessage) { m.Err = bus.ErrPoison },
	} {
		f := NewFold("t")
		take(t, f, s[:5])
		m := message(s[5:7])
		spoil(m)
		if got, err := f.Take(m); !errors.Is(err, bus.ErrPoison) || bus.DispositionOf(err) != bus.Park {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A parked fold stays where it was, while the log goes on.
func TestParkedStaysBehind(t *testing.T) {
	s := simple(t)
	f := NewFold("t")
	take(t, f, s[:6])
	bad := agjson.Event{Seq: 7, ID: "nowhere", TurnID: "t1", Body: &agjson.TextDelta{Delta: "x"}}
	after := agjson.Event{Seq: 8, TurnID: "t1", Body: &agjson.TurnAbort{}}
	take(t, f, []agjson.Event{s[6], bad, after})
	if f.Parked() == "" || f.Position().Ordinal != 6 || f.Position().Sequence != seqOf(8) || !f.Position().OpenTurn {
		t.Fatalf("parked %q at %+v", f.Parked(), f.Position())
	}
	f.Update()
	f.Stored(f.Position().Version)
	take(t, f, []agjson.Event{{Seq: 9, TurnID: "t1", Body: &agjson.TurnAbort{}}})
	if f.Position().Ordinal != 6 || f.Dirty() {
		t.Fatalf("moved to %+v", f.Position())
	}
}

// stored is what a store gives back of a whole update.
func stored(u snapshot.Update) snapshot.Snapshot {
	s := snapshot.Snapshot{
		Position: u.Position, Memory: u.Set[snapshot.Memory].Data, State: u.Set[snapshot.State].Data,
		Live: u.Set[snapshot.Live].Data, Open: u.Set[snapshot.Open].Data,
	}
	for f, v := range u.Set {
		if kind, id, ok := strings.Cut(string(f), ":"); ok {
			list := map[string]*[]snapshot.Item{"m": &s.Messages, "t": &s.Turns, "a": &s.Artifacts}[kind]
			*list = append(*list, snapshot.Item{ID: id, Order: v.Order, Data: v.Data})
		}
	}
	for _, list := range [][]snapshot.Item{s.Messages, s.Turns, s.Artifacts} {
		slices.SortFunc(list, func(a, b snapshot.Item) int { return cmp.Compare(a.Order, b.Order) })
	}
	return s
}

// What is not what Update makes is refused, whatever it is.
func TestRestoreRefuses(t *testing.T) {
	s := simple(t)
	f := NewFold("t")
	take(t, f, s[:33])
	good := func() snapshot.Snapshot {
		f.Forget()
		return stored(f.Update())
	}
	if _, err := Restore("t", good()); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*snapshot.Snapshot){
		"a message":      func(s *snapshot.Snapshot) { s.Messages[0].Data = []byte("{}") },
		"a turn":         func(s *snapshot.Snapshot) { s.Turns[0].Data = []byte("nonsense") },
		"a missing turn": func(s *snapshot.Snapshot) { s.Turns = nil },
		"an artifact":    func(s *snapshot.Snapshot) { s.Artifacts = []snapshot.Item{{Data: []byte("1")}} },
		"the memory":     func(s *snapshot.Snapshot) { s.Memory = []byte("[1]\n") },
		"a memory's event": func(s *snapshot.Snapshot) {
			s.Memory = []byte(`[]` + "\n" + `{"type":"step.start","seq":0,"stepId":"x"}`)
		},
		"the open part": func(s *snapshot.Snapshot) { s.Open = []byte("{}\n") },
		"the live part": func(s *snapshot.Snapshot) { s.Live = []byte("{}\n") },
		"the version":   func(s *snapshot.Snapshot) { s.Position.Incarnation = 1 << 63 },
	} {
		snap := good()
		spoil(&snap)
		if _, err := Restore("t", snap); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	bad := good()
	bad.Open = []byte(`{"type":"text.delta","sequence":0}` + "\n")
	if _, err := storedPair(&bad); err == nil {
		t.Error("a pair of lines without seq is accepted")
	}
	bad.Open = []byte(`{"type":"text.delta","seq":0}`)
	if _, err := storedPair(&bad); err == nil {
		t.Error("a pair of a line without end is accepted")
	}
}
