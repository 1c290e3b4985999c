package fanout

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/threads"
)

// sharedPair is a pair as it is sent to all who start from it.
type sharedPair struct {
	threads.Pair
	name []byte

	mu   sync.Mutex
	data [wires][]byte
}

// encoded is the pair as a message, made once.
func (p *sharedPair) encoded(w wire, m *metrics) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.data[w] == nil {
		p.data[w] = w.encodeEvents(p.name, p.Cursor, true, len(p.Events), func(b []byte) []byte { return append(b, p.Events...) })
		m.encoded.Add(float64(len(p.data[w])))
	}
	return p.data[w]
}

// pairAge is how long a pair is given to whoever asks, before another is fetched. What has come since follows it from the log.
const pairAge = 250 * time.Millisecond

// pairCache is a room's last pair, and the turn to fetch one.
type pairCache struct {
	turn chan struct{}

	mu   sync.Mutex
	last *sharedPair
}

func (c *pairCache) get() *sharedPair {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *pairCache) put(p *sharedPair) {
	c.mu.Lock()
	c.last = p
	c.mu.Unlock()
	time.AfterFunc(pairAge, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.last == p {
			c.last = nil
		}
	})
}

// errStale says that what is stored is not what the log goes on from: to be asked for again.
var errStale = errors.New("the snapshot is too old")

// pair is the thread as a late reader starts from it, of the room's epoch or a newer one; of the room's, it reaches the ordinal
// least. Those who ask at the same time get the same. Errors are those of Joiner, and errStale; not if it is late already: then the log itself is the pair.
func (r *room) pair(ctx context.Context, least int64, late bool) (*sharedPair, error) {
	select {
	case r.pairs.turn <- struct{}{}:
		defer func() { <-r.pairs.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.mu.Lock()
	epoch := r.epoch
	r.mu.Unlock()
	if p := r.pairs.get(); p != nil && p.Cursor.Epoch == epoch && p.Cursor.Ordinal >= least {
		return p, nil
	}
	leave, err := r.s.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	got, err := r.s.deps.Joiner.Join(ctx, r.thread)
	if err != nil {
		return nil, err
	}
	if got.Cursor.Epoch.Compare(epoch) < 0 {
		if !late {
			return nil, errStale
		}
		if got, err = r.logPair(ctx); err != nil {
			return nil, err
		}
	}
	if got.Cursor.Epoch == epoch && got.Cursor.Ordinal < least {
		return nil, errStale
	}
	r.mu.Lock()
	if got.Cursor.Epoch == r.epoch && got.Cursor.Ordinal >= r.tail {
		r.open = got.Open
	}
	r.mu.Unlock()
	p := &sharedPair{Pair: got, name: r.name}
	r.pairs.put(p)
	return p, nil
}

// maxLogPair is the most that is read of a log to stand for a pair, in bytes.
const maxLogPair = 32 << 20

// logPair is a thread's present epoch as the log has it, from its ordinal 0, which is a snapshot with nothing in it, to the
// room's last message. Nothing is compacted: it is for when nobody folds.
func (r *room) logPair(ctx context.Context) (threads.Pair, error) {
	r.mu.Lock()
	at, seq, open := bus.Cursor{Epoch: r.epoch, Ordinal: r.tail}, r.seq, r.open
	r.mu.Unlock()
	var entries []*entry
	next, size := int64(0), int64(0)
	for m, err := range r.s.deps.Bus.ReadThreadTo(ctx, r.thread, at.Epoch.Seq, seq) {
		if err == nil {
			err = m.Err
		}
		if err != nil {
			return threads.Pair{}, err
		}
		if m.Epoch != at.Epoch || m.Count == 0 {
			continue
		}
		e, err := newEntry(&m)
		if size += int64(len(m.Body)); err != nil || m.First != next || size > maxLogPair {
			return threads.Pair{}, errStale
		}
		next = m.Last() + 1
		entries = append(entries, e)
	}
	if next != at.Ordinal+1 || next == 0 {
		return threads.Pair{}, errStale
	}
	return threads.Pair{Events: appendList(nil, entries, 0), Cursor: at, StreamSeq: seq, Open: open, FromLog: true}, nil
}

// emptyPair is the pair of a thread of which nothing is left.
func emptyPair(w wire, name []byte) []byte {
	return w.encodeEvents(name, bus.Cursor{}, true, 2, func(b []byte) []byte { return append(b, "[]"...) })
}
