package threads

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/pkg/agjson"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// stream is a thread's log as events: ordinal 0 is a messages.snapshot, seqs are ordinals.
type stream struct {
	name   string
	events []agjson.Event
}

// streams are the golden streams of the normalizers and the reducer's own.
func streams(t testing.TB) []stream {
	t.Helper()
	var out []stream
	for _, pattern := range []string{
		"../../pkg/agjson/reducer/testdata/streams/*.ndjson",
		"../../pkg/agjson/normalizer/*/testdata/frames/*.events.ndjson",
		"../../pkg/agjson/normalizer/*/testdata/frames/*/*.events.ndjson",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			out = append(out, stream{filepath.Base(p), read(t, p)})
		}
	}
	if len(out) < 10 {
		t.Fatalf("only %d streams", len(out))
	}
	return out
}

// first is ordinal 0 of every epoch.
func first() agjson.Event {
	return agjson.Event{Body: &agjson.MessagesSnapshot{
		Messages: []agjson.Message{}, Turns: []agjson.TurnRecord{}, Artifacts: []agjson.Artifact{}, Memory: []agjson.MemoryRecord{},
	}}
}

// read decodes a stream of one invoke and gives it ordinals.
func read(t testing.TB, path string) []agjson.Event {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	events := []agjson.Event{first()}
	err = agjson.EachLine(data, func(line []byte) error {
		ev, err := agjson.Decode(line)
		if _, snap := ev.Body.(*agjson.MessagesSnapshot); err == nil && !snap {
			ev.Seq = int64(len(events))
			events = append(events, ev)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func ndjson(events []agjson.Event) []byte {
	var b []byte
	for i := range events {
		b = append(agjson.AppendEvent(b, &events[i]), '\n')
	}
	return b
}

// epoch is that of a log whose message of ordinal n has the sequence seqOf(n).
func epoch() bus.Epoch { return bus.Epoch{Incarnation: 1_790_000_000_123, Seq: seqOf(0)} }

func seqOf(ordinal int64) uint64 { return uint64(100 + 3*ordinal) }

// message is a message of a log that holds these events.
func message(events []agjson.Event) *bus.EventMessage {
	last := events[len(events)-1].Seq
	return &bus.EventMessage{
		EventHeader: bus.EventHeader{Thread: "t", Epoch: epoch(), First: events[0].Seq, Count: int64(len(events))},
		StreamSeq:   seqOf(last), FirstSeq: seqOf(last), Time: time.UnixMilli(1_800_000_000_000 + last), Body: bytes.Clone(ndjson(events)),
	}
}

// take folds events as one message.
func take(t testing.TB, f *Fold, events []agjson.Event) Taken {
	t.Helper()
	got, err := f.Take(message(events))
	if err != nil || got.Fate != Folded {
		t.Fatalf("take ordinal %d: %+v, %v", events[0].Seq, got, err)
	}
	return got
}
