package threads

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/pkg/agjson"
)

// Pair is what a late reader of a thread starts from (DESIGN §4): one unit, for a new fold.
type Pair struct {
	Events    []byte     // a JSON list of events; the last one's seq is Cursor's ordinal
	Cursor    bus.Cursor // what the reader has once it has folded all of them
	StreamSeq uint64     // the message of the log that Cursor's ordinal is in: read on behind it
	Open      bool       // a turn is open
	UpdatedAt time.Time  // last activity, by the broker's clock
	FromLog   bool       // Redis had nothing of use
}

// errLayout says that something stored is not laid out as Fold.Update does.
var errLayout = errors.New("not the layout of a thread")

func newPair(at snapshot.Position, events []byte) Pair {
	return Pair{
		Events: events, Cursor: bus.Cursor{Epoch: EpochOf(at.Version), Ordinal: at.Ordinal}, StreamSeq: at.Sequence,
		Open: at.OpenTurn, UpdatedAt: at.UpdatedAt,
	}
}

// storedPair puts the pair together from the stored bytes.
func storedPair(s *snapshot.Snapshot) (Pair, error) {
	thread, others := splitMemory(s.Memory)
	lines := [][]byte{others, s.Live, s.Open}
	n, size := 1, 256+len(thread)+len(s.State)
	for _, l := range lines {
		k := bytes.Count(l, []byte("\n"))
		n += k
		size += len(l) + 16*k
	}
	if s.State != nil {
		n++
	}
	for _, list := range [][]snapshot.Item{s.Messages, s.Turns, s.Artifacts} {
		for _, it := range list {
			size += len(it.Data) + 1
		}
	}
	w := pairWriter{buf: make([]byte, 0, size), seq: s.Position.Ordinal - int64(n) + 1}
	w.buf = append(w.buf, `[{"type":"messages.snapshot","seq":`...)
	w.number()
	w.list(`,"messages":[`, s.Messages)
	w.list(`,"turns":[`, s.Turns)
	w.list(`,"artifacts":[`, s.Artifacts)
	w.buf = append(append(append(w.buf, `,"memory":`...), thread...), '}')
	if s.State != nil {
		w.buf = append(w.buf, `,{"type":"state.snapshot","seq":`...)
		w.number()
		w.buf = append(append(append(w.buf, `,"snapshot":`...), s.State...), '}')
	}
	for _, l := range lines {
		if err := w.lines(l); err != nil {
			return Pair{}, err
		}
	}
	return newPair(s.Position, append(w.buf, ']')), nil
}

// pairWriter writes events and counts their seqs.
type pairWriter struct {
	buf []byte
	seq int64
}

func (w *pairWriter) number() {
	w.buf = strconv.AppendInt(w.buf, w.seq, 10)
	w.seq++
}

func (w *pairWriter) list(name string, items []snapshot.Item) {
	w.buf = appendItems(append(w.buf, name...), items)
}

// appendItems writes the items with commas between them, and the bracket after them.
func appendItems(dst []byte, items []snapshot.Item) []byte {
	for i, it := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, it.Data...)
	}
	return append(dst, ']')
}

// lines writes stored events with their seqs. Only the type stands before an event's seq, and no JSON string holds the mark
// that is looked for.
func (w *pairWriter) lines(data []byte) error {
	mark := []byte(`,"seq":0`)
	for len(data) > 0 {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		i := bytes.Index(line, mark)
		if !ok || i < 0 {
			return errLayout
		}
		data = rest
		w.buf = append(append(w.buf, ','), line[:i+len(mark)-1]...)
		w.number()
		w.buf = append(w.buf, line[i+len(mark):]...)
	}
	return nil
}

// foldPair is the pair of a fold.
func foldPair(f *Fold) Pair {
	s := f.red.Snapshot()
	buf := []byte{'['}
	for i, ev := range s.Pair() {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = agjson.AppendEvent(buf, &ev)
	}
	return newPair(f.at, append(buf, ']'))
}

// storedResult is the AgReduceResult of what is stored. While nothing is open, it is put together from the stored bytes.
func storedResult(thread string, s *snapshot.Snapshot) ([]byte, error) {
	list, others := splitMemory(s.Memory)
	if len(s.Open) > 0 || len(others) > 0 {
		f, err := Restore(thread, *s)
		if err != nil {
			return nil, err
		}
		return foldResult(f), nil
	}
	size := 128 + len(list) + len(s.State)
	for _, l := range [][]snapshot.Item{s.Messages, s.Turns, s.Artifacts} {
		for _, it := range l {
			size += len(it.Data) + 1
		}
	}
	buf := append(make([]byte, 0, size), `{"messages":[`...)
	buf = append(appendItems(buf, s.Messages), `,"artifacts":[`...)
	buf = append(appendItems(buf, s.Artifacts), `,"memory":`...)
	buf = append(append(buf, list...), `,"turns":[`...)
	buf = appendItems(buf, s.Turns)
	if s.State != nil {
		buf = append(append(buf, `,"state":`...), s.State...)
	}
	return append(buf, '}'), nil
}

func foldResult(f *Fold) []byte {
	res := f.Result()
	return agjson.AppendReduceResult(nil, &res)
}
