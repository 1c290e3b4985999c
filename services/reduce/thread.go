package reduce

import (
	"container/list"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
)

// phase is what can be done with a thread's messages.
type phase uint8

const (
	loading phase = iota // they wait for its fold
	live                 // they are folded
	broken               // they are passed over: its fold or its write is given up until its next epoch
	deleted              // they are passed over: it was deleted, and has not begun anew
)

// stage is where a thread stands in the line for work.
type stage uint8

const (
	idle    stage = iota // there is nothing to do
	waiting              // for the time of its write
	ready                // for a place
	running              // a load or a write is under way
)

// how a fold is come by.
type origin uint8

const (
	fromStore origin = iota // what is stored, if the message at hand goes on from it or begins an epoch; else the log
	catchUp                 // what is stored, and the log behind it
	fromLog                 // the log alone
)

// thread is one thread of the shard. It belongs to the shard's one goroutine, but for its fold while it is loaded.
type thread struct {
	id    string
	place *list.Element // in the order of use
	phase phase
	stage stage
	fold  *threads.Fold // nil unless live
	size  int64         // of the fold, as it was counted last

	origin   origin             // how its fold is come by, while loading
	queue    []bus.EventMessage // while loading
	gapped   bool               // it was folded again because of a gap, and nothing was folded since
	refolded bool               // since its fold parked first in this epoch
	parked   bool               // its fold waits for a snapshot, though folded again from the log

	void    *snapshot.Position // what is stored must be voided as of here; nil = nothing of the kind
	voiding bool               // it must be, or is being

	due    time.Time // while waiting
	urgent bool      // a turn has ended since the last write began
	pace   time.Duration

	fresh  unwritten // is in no write yet
	flying unwritten // is in the write under way
}

// unwritten is what of a thread was read and is not known to be in Redis.
type unwritten struct {
	first uint64    // sequence of its first message; 0 = nothing
	bytes int64     // of messages
	since time.Time // when the log took the first message; zero = not of a message
}

func (u *unwritten) add(v unwritten) {
	if v.first == 0 {
		return
	}
	if u.first == 0 || v.first < u.first {
		u.first = v.first
	}
	if u.since.IsZero() || !v.since.IsZero() && v.since.Before(u.since) {
		u.since = v.since
	}
	u.bytes += v.bytes
}

// oldest is the sequence of the first message that is not known to be in Redis; 0 if all are.
func (t *thread) oldest() uint64 {
	if t.flying.first != 0 && (t.fresh.first == 0 || t.flying.first < t.fresh.first) {
		return t.flying.first
	}
	return t.fresh.first
}

// dirty says whether there is something to write.
func (t *thread) dirty() bool { return t.phase == live && t.fold.Dirty() }

// thread is the thread of an id, begun if it is not in memory, and the one used last.
func (o *shardWork) thread(id string) *thread {
	if t := o.threads[id]; t != nil {
		o.lru.MoveToFront(t.place)
		return t
	}
	t := &thread{id: id}
	t.place = o.lru.PushFront(t)
	o.threads[id] = t
	o.s.m.threads.Inc()
	return t
}

// drop takes a thread out of memory.
func (o *shardWork) drop(t *thread) {
	o.settle(t)
	o.setFold(t, loading, nil)
	o.setParked(t, false)
	o.lru.Remove(t.place)
	delete(o.threads, t.id)
	o.s.m.threads.Dec()
}

// setFold changes a thread's phase and fold, and counts.
func (o *shardWork) setFold(t *thread, p phase, f *threads.Fold) {
	if (t.phase == broken) != (p == broken) {
		if p == broken {
			o.s.m.broken.Inc()
		} else {
			o.s.m.broken.Dec()
		}
	}
	t.phase, t.fold = p, f
	o.weigh(t)
}

// weigh counts the memory that the thread's fold takes.
func (o *shardWork) weigh(t *thread) {
	size := int64(0)
	if t.fold != nil {
		size = t.fold.Size()
	}
	if d := size - t.size; d != 0 {
		t.size = size
		o.s.m.memory.Set(float64(o.s.memory.Add(d)))
	}
}

func (o *shardWork) setParked(t *thread, parked bool) {
	if t.parked != parked {
		t.parked = parked
		if parked {
			o.s.m.parked.Inc()
		} else {
			o.s.m.parked.Dec()
		}
	}
}

// owe notes what is read and not written.
func (o *shardWork) owe(t *thread, u unwritten) {
	t.fresh.add(u)
	o.count(u.bytes)
}

// settle notes that nothing of the thread is unwritten, or ever will be.
func (o *shardWork) settle(t *thread) {
	o.count(-t.fresh.bytes - t.flying.bytes)
	t.fresh, t.flying = unwritten{}, unwritten{}
	t.queue = nil
}

func (o *shardWork) count(bytes int64) {
	if bytes != 0 {
		o.pending += bytes
		o.s.m.pending.Set(float64(o.s.pending.Add(bytes)))
	}
}

// evictLook is how many folds are looked at for one to let go of.
const evictLook = 256

// evict lets go of folds that are written, the longest unused first, until the limits hold.
func (o *shardWork) evict() {
	for e, n := o.lru.Back(), 0; e != nil && n < evictLook && (len(o.threads) > o.s.cfg.Threads || o.s.memory.Load() > o.s.cfg.Memory); n++ {
		t := e.Value.(*thread)
		e = e.Prev()
		if t.stage == idle && t.phase != loading && !t.dirty() {
			o.drop(t)
		}
	}
}
