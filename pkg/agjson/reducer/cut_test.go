package reducer_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

type stream struct {
	name   string
	events []agjson.Event
}

// streams are those of the vectors and of the corpus, and the project's own.
func streams(t testing.TB) []stream {
	t.Helper()
	var out []stream
	own, err := filepath.Glob("testdata/streams/*.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range own {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var raw []json.RawMessage
		for line := range strings.Lines(string(data)) {
			raw = append(raw, json.RawMessage(line))
		}
		out = append(out, stream{path, decodeAll(t, raw)})
	}
	if len(out) == 0 {
		t.Error("no streams of the project's own")
	}
	dir := vectors(t)
	if dir == "" {
		return out
	}
	for _, name := range []string{"reduce.ndjson", "reduce-random.ndjson"} {
		lines(t, filepath.Join(dir, name), func(n int, v vector) {
			out = append(out, stream{fmt.Sprintf("%s:%d", name, n), decodeAll(t, v.Events)})
		})
	}
	corpus, err := filepath.Glob(filepath.Join(dir, "corpus/*/*.agjson.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range corpus {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var raw []json.RawMessage
		if err := json.Unmarshal(data, &raw); err != nil {
			t.Fatal(err)
		}
		out = append(out, stream{path, decodeAll(t, raw)})
	}
	return out
}

// resultText is the result as JSON; a memory is a set keyed by scope and key, so it is sorted where asked.
func resultText(res agjson.ReduceResult, sortMemory bool) []byte {
	if sortMemory {
		res.Memory = slices.Clone(res.Memory)
		slices.SortFunc(res.Memory, func(a, b agjson.MemoryRecord) int {
			return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(deref(a.Key), deref(b.Key)))
		})
	}
	return agjson.AppendReduceResult(nil, &res)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if place, ok := jsonpatch.Difference(got, want); !ok {
		t.Errorf("%s: differs at %s\n got %.600s\nwant %.600s", what, place, got, want)
	}
}

// TestCut joins at every event of every stream: the pair and the rest fold to what the whole folds to (SPEC §5 INV-FOLD,
// §10.2), and so does a reducer that was imported.
func TestCut(t *testing.T) {
	cuts := 0
	for _, s := range streams(t) {
		whole := reducer.Fold(s.events)
		want := resultText(whole.Result(), true)
		live := reducer.New()
		for k, ev := range s.events {
			live.Push(ev)
			if live.Parked() != "" {
				continue // a log never parks: what is cut here is no snapshot of one
			}
			cuts++
			snap := live.Snapshot()
			joined := reducer.Fold(append(snap.Pair(), s.events[k+1:]...))
			if (joined.Parked() == "") != (whole.Parked() == "") {
				t.Errorf("%s cut after %d: parks %q, the whole %q", s.name, k, joined.Parked(), whole.Parked())
			}
			same(t, fmt.Sprintf("%s cut after %d", s.name, k), resultText(joined.Result(), true), want)
			imported := reducer.Import(snap)
			same(t, fmt.Sprintf("%s imported after %d", s.name, k), resultText(imported.Result(), false), resultText(live.Result(), false))
			same(t, fmt.Sprintf("%s snapshot of the import after %d", s.name, k), snapshotText(imported.Snapshot()), snapshotText(snap))
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d cuts", cuts)
}

// snapshotText is the snapshot as JSON.
func snapshotText(s reducer.Snapshot) []byte {
	var b []byte
	b = fmt.Appendf(b, `{"seq":%d,"pair":[`, s.Seq)
	pair := s.Pair()
	for i := range pair {
		if i > 0 {
			b = append(b, ',')
		}
		b = agjson.AppendEvent(b, &pair[i])
	}
	b = append(b, `],"orders":[0`...)
	for _, m := range s.Messages {
		b = fmt.Appendf(b, ",%d", m.Order)
	}
	b = append(b, `],"memory":[`...)
	for i := range s.Memory {
		if i > 0 {
			b = append(b, ',')
		}
		b = agjson.AppendMemoryRecord(b, &s.Memory[i])
	}
	return append(b, "]}"...)
}

// shadow is a store that is only ever told changes.
type shadow struct {
	messages, turns, artifacts map[string][]byte
	memory, state, live, open  []byte
}

func newShadow() *shadow {
	return &shadow{messages: map[string][]byte{}, turns: map[string][]byte{}, artifacts: map[string][]byte{}}
}

// String is all that is stored.
func (s *shadow) String() string {
	return fmt.Sprintf("messages %s\nturns %s\nartifacts %s\nmemory %s\nstate %s\nlive %s\nopen %s", s.messages, s.turns, s.artifacts, s.memory, s.state, s.live, s.open)
}

func eventsText(list []agjson.Event) []byte {
	var b []byte
	for i := range list {
		b = append(agjson.AppendEvent(b, &list[i]), '\n')
	}
	return b
}

func memoryText(list []agjson.MemoryRecord) []byte {
	var b []byte
	for i := range list {
		b = append(agjson.AppendMemoryRecord(b, &list[i]), '\n')
	}
	return b
}

func (s *shadow) apply(c reducer.Changes) {
	for _, m := range c.Messages {
		s.messages[m.Value.ID] = agjson.AppendMessage(fmt.Appendf(nil, "%d ", m.Order), &m.Value)
	}
	for _, id := range c.RemovedMessages {
		delete(s.messages, id)
	}
	for _, m := range c.Turns {
		s.turns[m.Value.TurnID] = agjson.AppendTurnRecord(fmt.Appendf(nil, "%d ", m.Order), &m.Value)
	}
	for _, id := range c.RemovedTurns {
		delete(s.turns, id)
	}
	for _, m := range c.Artifacts {
		s.artifacts[m.Value.ArtifactID] = agjson.AppendArtifact(fmt.Appendf(nil, "%d ", m.Order), &m.Value)
	}
	for _, id := range c.RemovedArtifacts {
		delete(s.artifacts, id)
	}
	if c.MemoryChanged {
		s.memory = memoryText(c.Memory)
	}
	if c.StateChanged {
		s.state = slices.Clone(c.State)
	}
	if c.LiveChanged {
		s.live = eventsText(c.Live)
	}
	if c.OpenChanged {
		s.open = eventsText(c.Open)
	}
}

// TestChanges keeps a store by changes alone, taken after every event and every fifth; it must hold the snapshot.
func TestChanges(t *testing.T) {
	for _, every := range []int{1, 5} {
		for _, s := range streams(t) {
			r := reducer.New()
			kept := newShadow()
			for k, ev := range s.events {
				r.Push(ev)
				if k%every != 0 && k != len(s.events)-1 {
					continue
				}
				kept.apply(r.Changes())
				want := newShadow()
				snap := r.Snapshot()
				want.apply(reducer.Changes{
					Messages: snap.Messages, Turns: snap.Turns, Artifacts: snap.Artifacts, MemoryChanged: true, Memory: snap.Memory,
					StateChanged: true, State: snap.State, LiveChanged: true, Live: snap.Live, OpenChanged: true, Open: snap.Open,
				})
				if kept.String() != want.String() {
					t.Fatalf("%s after %d, every %d: the store differs from the snapshot\n got %s\nwant %s", s.name, k, every, kept, want)
				}
			}
		}
	}
}
