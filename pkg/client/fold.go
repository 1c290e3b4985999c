package client

import (
	"fmt"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// Fold is the fold of a thread from a subscription's batches (SPEC §5). It is not safe for concurrent use.
type Fold struct {
	red    *reducer.Reducer
	cursor string
	resets int
}

// NewFold is the fold before the first batch. It is for what is followed from Now or Start, or from a cursor that it has
// itself; what comes after another place does not fold by itself.
func NewFold() *Fold { return &Fold{red: reducer.New()} }

// Apply folds the next batch; one with Reset set begins a new fold. After an error, which says that an event is malformed or
// that the fold waits for a snapshot, the thread must be asked for anew: see Subscription.Resync.
func (f *Fold) Apply(b Batch) error {
	if b.Reset != "" {
		f.red = reducer.New()
		f.resets++
	}
	for _, raw := range b.Events {
		ev, err := agjson.Decode(raw)
		if err != nil {
			return fmt.Errorf("client: fold: %w", err)
		}
		f.red.Push(ev)
	}
	if why := f.red.Parked(); why != "" {
		return fmt.Errorf("client: fold: a snapshot is needed: %s", why)
	}
	f.cursor = b.Cursor
	return nil
}

// Result is the fold so far, as a copy.
func (f *Fold) Result() agjson.ReduceResult { return f.red.Result() }

// OpenTurn tells whether a turn is open.
func (f *Fold) OpenTurn() bool { return f.red.OpenTurn() }

// Cursor is that of the last batch folded: where the thread goes on. "" before the first.
func (f *Fold) Cursor() string { return f.cursor }

// Seq is the ordinal last folded, -1 before the first.
func (f *Fold) Seq() int64 { return f.red.Seq() }

// Resets is how often the fold began anew.
func (f *Fold) Resets() int { return f.resets }
