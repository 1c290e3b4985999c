package bus

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/agwire/agwire/internal/subject"
)

// Head is the newest message of a thread.
type Head struct {
	EventHeader
	StreamSeq uint64    // sequence of its last chunk
	FirstSeq  uint64    // sequence of its first chunk
	Time      time.Time // when the broker stored it
}

// Head reads the newest message of a thread from the leader, so that it sees
// every message whose write was acknowledged before the call: ask for it after
// attaching to the live subject, since a dropped last message has no
// successor to show it. ErrNotFound if the log holds nothing of the thread.
func (b *Bus) Head(ctx context.Context, thread string) (Head, error) {
	if err := subject.CheckID(thread); err != nil {
		return Head{}, fmt.Errorf("%w: thread: %w", ErrPoison, err)
	}
	m, err := b.leader(ctx, b.names.EventsStream(b.Shard(thread)), getRequest{LastFor: b.names.Events(thread)})
	if err != nil {
		return Head{}, fmt.Errorf("read the head of a thread: %w", err)
	}
	e, err := b.headOf(m)
	if err != nil {
		return Head{}, fmt.Errorf("read the head of a thread: %w", err)
	}
	return e, nil
}

// headOf reads one message, perhaps a chunk, of a thread.
func (b *Bus) headOf(m stored) (Head, error) {
	i, n, err := chunkOf(m.header)
	if err != nil {
		return Head{}, err
	}
	e := b.decodeEvent(m)
	return Head{
		EventHeader: e.EventHeader, Time: m.time,
		FirstSeq: m.seq - uint64(i), StreamSeq: m.seq - uint64(i) + uint64(n-1),
	}, e.Err
}

// ReadThread yields the event messages of a thread in order, from the stream
// sequence from on, up to the newest one that was acknowledged before the
// call. It reads batches from any replica, and does not end before it has
// come that far. A message that is none of ours is yielded with Err set.
//
//	for m, err := range b.ReadThread(ctx, thread, head.Epoch.Seq) {
//		if err != nil {
//			return err
//		}
//		...
//	}
func (b *Bus) ReadThread(ctx context.Context, thread string, from uint64) iter.Seq2[EventMessage, error] {
	return func(yield func(EventMessage, error) bool) {
		head, err := b.Head(ctx, thread)
		if errors.Is(err, ErrNotFound) {
			return
		}
		if err != nil {
			yield(EventMessage{}, err)
			return
		}
		b.ReadThreadTo(ctx, thread, from, head.StreamSeq)(yield)
	}
}

// ReadThreadTo is ReadThread up to the stream sequence to, included, which must
// be that of a message of the thread: of a Head, or of a live message.
func (b *Bus) ReadThreadTo(ctx context.Context, thread string, from, to uint64) iter.Seq2[EventMessage, error] {
	return b.ReadThreadPart(ctx, thread, from, to, scanBytes)
}

// ReadThreadPart is ReadThreadTo for who stops after some size bytes: about so
// many are asked of the broker at once, where ReadThreadTo asks for MiBs.
func (b *Bus) ReadThreadPart(ctx context.Context, thread string, from, to uint64, size int) iter.Seq2[EventMessage, error] {
	return func(yield func(EventMessage, error) bool) {
		if err := subject.CheckID(thread); err != nil {
			yield(EventMessage{}, fmt.Errorf("%w: thread: %w", ErrPoison, err))
			return
		}
		var a assembler
		stream, subj := b.names.EventsStream(b.Shard(thread)), b.names.Events(thread)
		err := b.scan(ctx, stream, subj, max(from, 1), to, size, func(m stored) error {
			whole, ok := a.add(m)
			if !ok {
				return nil
			}
			whole.prev = 0
			if !yield(b.decodeEvent(whole), nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(EventMessage{}, fmt.Errorf("read a thread: %w", err))
		}
	}
}

// Seek returns the stream sequence from which ReadThread yields ordinal
// c.Ordinal first, or first among other events of its message. It is what
// follows a cursor: seek the ordinal behind it.
//
// An ordinal that is not written yet gives the sequence behind the head. The
// error is an ErrEpoch if the thread's present epoch is another, an ErrTrimmed
// if the log begins later, an ErrNotFound if it holds nothing of the thread.
// It costs some 20 reads of one message.
func (b *Bus) Seek(ctx context.Context, thread string, c Cursor) (uint64, error) {
	head, err := b.Head(ctx, thread)
	if err != nil {
		return 0, err
	}
	switch {
	case head.Epoch != c.Epoch:
		return 0, fmt.Errorf("%w: now %s", ErrEpoch, head.Epoch)
	case c.Ordinal > head.Last():
		return head.StreamSeq + 1, nil
	}
	// The wanted message is the first in lo..hi whose last ordinal reaches c.
	lo, hi := c.Epoch.Seq, head.FirstSeq
	found := head
	for lo < hi {
		mid := lo + (hi-lo)/2
		h, err := b.nextOf(ctx, thread, mid)
		if err != nil {
			return 0, fmt.Errorf("seek in a thread: %w", err)
		}
		if h.Epoch == c.Epoch && h.Last() < c.Ordinal {
			lo = h.StreamSeq + 1
		} else {
			hi, found = min(mid, h.FirstSeq), h
		}
	}
	if found.First > c.Ordinal {
		return 0, fmt.Errorf("%w: the thread's log begins at ordinal %d", ErrTrimmed, found.First)
	}
	return found.FirstSeq, nil
}

// nextOf reads the first message of a thread at or behind a sequence, which
// there is.
func (b *Bus) nextOf(ctx context.Context, thread string, seq uint64) (Head, error) {
	stream, req := b.names.EventsStream(b.Shard(thread)), getRequest{NextFor: b.names.Events(thread), Seq: seq}
	m, err := b.fromReplica(ctx, stream, req)
	if err != nil {
		// The replica lags or is gone.
		m, err = b.leader(ctx, stream, req)
	}
	if err != nil {
		return Head{}, err
	}
	return b.headOf(m)
}

// First reads the oldest message of a thread that the log holds. ErrNotFound
// if there is none.
func (b *Bus) First(ctx context.Context, thread string) (Head, error) {
	if err := subject.CheckID(thread); err != nil {
		return Head{}, fmt.Errorf("%w: thread: %w", ErrPoison, err)
	}
	m, err := b.leader(ctx, b.names.EventsStream(b.Shard(thread)), getRequest{NextFor: b.names.Events(thread), Seq: 1})
	if err != nil {
		return Head{}, fmt.Errorf("read the first message of a thread: %w", err)
	}
	return b.headOf(m)
}

// Threads yields the threads of a shard of which the events stream holds
// messages, with their number of messages, in no order. The broker answers
// pages of some 100,000; what appears or goes meanwhile may be missed.
func (b *Bus) Threads(ctx context.Context, shard int) iter.Seq2[ThreadCount, error] {
	return func(yield func(ThreadCount, error) bool) {
		for offset := 0; ; {
			var i streamInfo
			err := retry(ctx, transient, func(ctx context.Context) error {
				i = streamInfo{}
				return b.ask(ctx, "STREAM.INFO."+b.names.EventsStream(shard), map[string]any{
					"subjects_filter": b.names.EventsFilter(shard), "offset": offset,
				}, &i)
			})
			if err != nil {
				yield(ThreadCount{}, fmt.Errorf("list the threads of shard %d: %w", shard, err))
				return
			}
			for s, n := range i.State.Subjects {
				p, err := b.names.Parse(s)
				if err != nil {
					continue
				}
				if !yield(ThreadCount{Thread: p.Thread, Messages: n}, nil) {
					return
				}
			}
			offset += len(i.State.Subjects)
			if len(i.State.Subjects) == 0 || offset >= i.Total {
				return
			}
		}
	}
}

// ThreadCount is a thread and the number of its messages in the events
// stream, each chunk counted.
type ThreadCount struct {
	Thread   string
	Messages uint64
}
