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
// Each invoke has a subject of its own, so this is one read of the last
// message from the stream's leader. That message names the floor its sender
// knew to be stored; only what lies from there on is read besides, at most a
// window of messages.
func (b *Bus) InvokeState(ctx context.Context, thread, invoke string) (InvokeState, error) {
	if err := checkIDs(thread, invoke); err != nil {
		return InvokeState{}, err
	}
	stream, subj := b.names.FramesStream(b.Shard(thread)), b.names.Frames(thread, invoke)
	last, err := b.leader(ctx, stream, getRequest{LastFor: subj})
	if errors.Is(err, ErrNotFound) {
		return InvokeState{}, nil
	}
	if err != nil {
		return InvokeState{}, fmt.Errorf("read the state of an invoke: %w", err)
	}
	f := b.decodeFrame(last)
	st := InvokeState{Next: f.floor.next, Seq: last.seq, Time: last.time}
	if err := b.replay(ctx, stream, subj, f.floor.seq+1, last.seq, &st); err != nil {
		return InvokeState{}, err
	}
	if f.Err == nil && st.Next == f.Index+1 {
		return st, nil
	}
	// The last message was not taken: another writer's, or beyond a hole. Its
	// floor may lie behind what is stored, so read all.
	st = InvokeState{Seq: last.seq, Time: last.time}
	if err := b.replay(ctx, stream, subj, 1, last.seq, &st); err != nil {
		return InvokeState{}, err
	}
	return st, nil
}

// replay takes the frames of a subject in stream order, as a normalizer would.
func (b *Bus) replay(ctx context.Context, stream, subj string, from, to uint64, st *InvokeState) error {
	var a assembler
	err := b.scan(ctx, stream, subj, from, to, func(m stored) error {
		if whole, ok := a.add(m); ok {
			st.take(b.decodeFrame(whole))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the frames of an invoke: %w", err)
	}
	return nil
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
