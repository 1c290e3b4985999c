package bus

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// ReadInvoke yields the messages of one invoke in the frames stream, in stream order, from the stream sequence from up to and
// including to. They come as they lie: take only the next index, as from ReadFrames. It reads from any replica and does not
// end before it has come to what the leader had when it was called.
func (b *Bus) ReadInvoke(ctx context.Context, thread, invoke string, from, to uint64) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		if err := checkIDs(thread, invoke); err != nil {
			yield(Frame{}, err)
			return
		}
		stream, subj := b.names.FramesStream(b.Shard(thread)), b.names.Frames(thread, invoke)
		last, err := b.leader(ctx, stream, getRequest{LastFor: subj})
		if errors.Is(err, ErrNotFound) {
			return
		}
		if err != nil {
			yield(Frame{}, fmt.Errorf("read the frames of an invoke: %w", err))
			return
		}
		var a assembler
		err = b.scan(ctx, stream, subj, from, min(to, last.seq), scanBytes, func(m stored) error {
			if whole, ok := a.add(m); ok && !yield(b.decodeFrame(whole), nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(Frame{}, fmt.Errorf("read the frames of an invoke: %w", err))
		}
	}
}
