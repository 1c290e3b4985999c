package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agwire/agwire/internal/subject"
)

// InvokeState is how far an invoke is stored.
type InvokeState struct {
	Next  int64     // the index to go on with: frames 0 to Next-1 are stored in order
	Ended bool      // an end is stored at index Next-1: nothing more is taken
	End   End       // set when Ended
	Seq   uint64    // frames-stream sequence of the last message of the invoke; 0 = none
	Time  time.Time // when the broker stored that message
}

// InvokeState reads how far an invoke is stored: the zero state for one that
// is not known. It sees every frame whose append was acknowledged before the
// call. Within the log's age limit it is exact; older frames are gone.
//
// Each invoke has a subject of its own, so this is a read of the last message
// and of the number of messages, both from the stream's leader. The last
// message names the floor that its sender knew to be stored; only what lies
// from there on is read besides, at most a window of messages. Only where there
// are more messages than frames, chunks or what several writers sent, the
// headers of the whole invoke are read.
func (b *Bus) InvokeState(ctx context.Context, thread, invoke string) (InvokeState, error) {
	if err := checkIDs(thread, invoke); err != nil {
		return InvokeState{}, err
	}
	st, err := b.invokeState(ctx, b.names.FramesStream(b.Shard(thread)), b.names.Frames(thread, invoke))
	if err != nil {
		return InvokeState{}, fmt.Errorf("read the state of an invoke: %w", err)
	}
	return st, nil
}

func (b *Bus) invokeState(ctx context.Context, stream, subj string) (InvokeState, error) {
	last, err := b.leader(ctx, stream, getRequest{LastFor: subj})
	if errors.Is(err, ErrNotFound) {
		return InvokeState{}, nil
	}
	if err != nil {
		return InvokeState{}, err
	}
	count, err := b.countOf(ctx, stream, subj)
	if err != nil {
		return InvokeState{}, err
	}
	st := InvokeState{Seq: last.seq, Time: last.time}
	if f := b.decodeFrame(last); f.Err == nil && count == uint64(f.Index)+1 {
		// As many messages as frames, if none is missing or there twice.
		st.Next = f.floor.next
		var a assembler
		err := b.scan(ctx, stream, subj, f.floor.seq+1, last.seq, scanBytes, func(m stored) error {
			if whole, ok := a.add(m); ok {
				st.take(b.decodeFrame(whole))
			}
			return nil
		})
		if err != nil || uint64(st.Next) == count {
			return st, err
		}
		st = InvokeState{Seq: last.seq, Time: last.time}
	}
	r := reader{b: b, stream: stream, filter: subj, headersOnly: true}
	defer r.stop()
	for r.received < last.seq {
		m, err := r.nextWithin(ctx, last.seq)
		if errors.Is(err, ErrEndOfLog) {
			break
		}
		if err != nil {
			return InvokeState{}, err
		}
		st.take(b.decodeFrame(m))
	}
	return st, nil
}

// countOf is the number of messages of a subject.
func (b *Bus) countOf(ctx context.Context, stream, subj string) (uint64, error) {
	var i streamInfo
	err := retry(ctx, transient, func(ctx context.Context) error {
		i = streamInfo{}
		return b.ask(ctx, "STREAM.INFO."+stream, map[string]any{"subjects_filter": subj}, &i)
	})
	return i.State.Subjects[subj], err
}

// take applies the next frame in stream order: only the next index counts.
func (st *InvokeState) take(f Frame) {
	if f.Err != nil || st.Ended {
		return
	}
	st.Next = max(st.Next, f.floor.next)
	if f.Index != st.Next {
		return
	}
	st.Next++
	if f.Kind == KindEnd {
		st.Ended, st.End = true, f.End
	}
}

func checkIDs(thread, invoke string) error {
	if err := subject.CheckID(thread); err != nil {
		return fmt.Errorf("%w: thread: %w", ErrPoison, err)
	}
	if err := subject.CheckID(invoke); err != nil {
		return fmt.Errorf("%w: invoke: %w", ErrPoison, err)
	}
	return nil
}

// EndInvoke stores an end at index next, the number of frames that the caller
// has seen, whoever appends to the invoke. If more came before it, the end is
// void. It tells whether the invoke is ended now, by this end or another.
func (b *Bus) EndInvoke(ctx context.Context, thread, invoke string, next int64, end End) (bool, error) {
	st, err := b.InvokeState(ctx, thread, invoke)
	if err != nil || st.Ended || st.Next != next {
		return st.Ended, err
	}
	a, err := b.newAppender(thread, invoke, InvokeStart{}, next, st.Seq)
	if err != nil {
		return false, err
	}
	defer a.Close()
	if err := a.End(ctx, end); err != nil {
		return false, err
	}
	if err := a.Flush(ctx); err != nil {
		return false, err
	}
	st, err = b.InvokeState(ctx, thread, invoke)
	return st.Ended, err
}
