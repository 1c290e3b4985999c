package threads

import (
	"context"
	"errors"
	"fmt"

	"github.com/agwire/agwire/internal/bus"
)

// errChanged says that the log became another while it was read: to be tried again.
var errChanged = errors.New("the log changed while it was read")

// FromLog folds a thread's present epoch from the log, up to the newest message that was acknowledged before the call. base is
// a fold to go on from, nil for none; it is given back as it is when it is as new as the log, and is not to be used otherwise.
//
// Errors: bus.ErrNotFound if the log has nothing of the thread, bus.ErrTrimmed if it no longer has the epoch's beginning, a
// bus.ErrPoison if it cannot be folded; anything else may be tried again.
func FromLog(ctx context.Context, b *bus.Bus, thread string, base *Fold) (*Fold, error) {
	head, err := b.Head(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("fold from the log: %w", err)
	}
	if base != nil {
		switch c := head.Epoch.Compare(base.epoch); {
		case c < 0, c == 0 && head.StreamSeq <= base.read:
			return base, nil
		case c == 0:
			if f, err := follow(ctx, b, base, base.read+1, head); err == nil || !errors.Is(err, errGap) {
				return f, err
			}
		}
	}
	f, err := follow(ctx, b, NewFold(thread), head.Epoch.Seq, head)
	if errors.Is(err, errGap) {
		return nil, fmt.Errorf("fold from the log: %w", bus.ErrTrimmed)
	}
	return f, err
}

// errGap says that the log does not go on where a fold stands.
var errGap = errors.New("the log begins behind the fold")

// follow folds what the log has from a sequence on, up to a head.
func follow(ctx context.Context, b *bus.Bus, f *Fold, from uint64, head bus.Head) (*Fold, error) {
	start := f.next
	for m, err := range b.ReadThreadTo(ctx, f.thread, from, head.StreamSeq) {
		if err != nil {
			return nil, fmt.Errorf("fold from the log: %w", err)
		}
		if m.Err == nil && m.Count == 0 {
			continue
		}
		got, err := f.Take(&m)
		switch {
		case err != nil:
			return nil, fmt.Errorf("fold from the log: message %d: %w", m.StreamSeq, err)
		case got.Fate == Gap && f.next == start:
			return nil, errGap
		case got.Fate == Gap:
			return nil, fmt.Errorf("fold from the log: %w: ordinal %d follows %d", bus.ErrPoison, m.First, f.next-1)
		}
	}
	if f.epoch != head.Epoch || f.next != head.Last()+1 {
		return nil, fmt.Errorf("fold from the log: %w", errChanged)
	}
	return f, nil
}
