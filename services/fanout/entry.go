package fanout

import (
	"bytes"
	"fmt"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/pkg/agjson"
)

// entry is one event message of a thread's log.
type entry struct {
	first, last int64  // ordinals
	firstSeq    uint64 // stream sequence from which it is read
	seq         uint64 // stream sequence of its end
	lines       []byte // NDJSON, one event a line, no line break at the end; not to be changed
	total       int64  // bytes of the room's messages up to this one, it included
	time        time.Time
}

func (e *entry) size() int64 { return int64(len(e.lines)) }

// newEntry takes a message that holds events. Its lines are counted, since an ordinal is a line's place: an error says that
// they are not as many as the message's header says.
func newEntry(m *bus.EventMessage) (*entry, error) {
	lines := bytes.TrimSuffix(m.Body, []byte("\n"))
	if int64(bytes.Count(lines, []byte("\n"))+1) != m.Count {
		// Perhaps lines are empty, which a reader of NDJSON passes over.
		n := int64(0)
		var tidy []byte
		_ = agjson.EachLine(m.Body, func(line []byte) error {
			if n++; n > 1 {
				tidy = append(tidy, '\n')
			}
			tidy = append(tidy, line...)
			return nil
		})
		if n != m.Count {
			return nil, fmt.Errorf("%w: %d events where the header says %d", bus.ErrPoison, n, m.Count)
		}
		lines = tidy
	}
	return &entry{first: m.First, last: m.Last(), firstSeq: m.FirstSeq, seq: m.StreamSeq, lines: lines, time: m.Time}, nil
}

// from is the entry's lines from an ordinal on, which it holds.
func (e *entry) from(ordinal int64) []byte {
	lines := e.lines
	for n := ordinal - e.first; n > 0; n-- {
		lines = lines[bytes.IndexByte(lines, '\n')+1:]
	}
	return lines
}

// appendList appends what entries hold from an ordinal on, as a JSON list.
func appendList(dst []byte, entries []*entry, from int64) []byte {
	dst = append(dst, '[')
	for i, e := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		at := len(dst)
		if from > e.first {
			dst = append(dst, e.from(from)...)
		} else {
			dst = append(dst, e.lines...)
		}
		for {
			n := bytes.IndexByte(dst[at:], '\n')
			if n < 0 {
				break
			}
			at += n
			dst[at] = ','
		}
	}
	return append(dst, ']')
}

// batch is entries as one message to clients.
type batch struct {
	from, to int64  // ordinals
	next     uint64 // stream sequence behind it
	size     int64  // bytes of the entries it takes
	total    int64  // the last entry's
	data     []byte // shared: not to be changed
	newest   time.Time
	sent     bool // handed to a socket once
}

func (b *batch) events() int { return int(b.to - b.from + 1) }

// newBatch makes a message of all of entries, which are not none, from an ordinal on.
func newBatch(w wire, name []byte, epoch bus.Epoch, entries []*entry, from int64) *batch {
	last := entries[len(entries)-1]
	b := &batch{from: max(from, entries[0].first), to: last.last, next: last.seq + 1, total: last.total, newest: last.time}
	for _, e := range entries {
		b.size += e.size()
	}
	b.data = w.encodeEvents(name, bus.Cursor{Epoch: epoch, Ordinal: b.to}, false, int(b.size)+len(entries)+2, func(dst []byte) []byte {
		return appendList(dst, entries, from)
	})
	return b
}

// upTo is how many of entries one message takes: those that begin within its size, one at least.
func upTo(entries []*entry, chunk int) int {
	size := int64(0)
	for i, e := range entries {
		if size += e.size(); size >= int64(chunk) {
			return i + 1
		}
	}
	return len(entries)
}
