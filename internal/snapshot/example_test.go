package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agwire/agwire/internal/snapshot"
)

// A reducer loads a thread, folds on, and writes what changed. What it wrote last is what it builds on.
func Example() {
	step := func(ctx context.Context, store *snapshot.Store, next snapshot.Position, message []byte) error {
		now, err := store.Load(ctx, "thread-1")
		switch {
		case errors.Is(err, snapshot.ErrDeleted):
			return nil
		case errors.Is(err, snapshot.ErrNotFound), errors.Is(err, snapshot.ErrIncomplete):
			return rebuild(ctx, store)
		case err != nil:
			return err // Redis did not answer: try again later
		}
		res, err := store.Apply(ctx, "thread-1", snapshot.Update{
			Position: next,
			Base:     now.Position.Version,
			Set:      map[snapshot.Field]snapshot.Value{snapshot.Message("msg-7"): {Order: 7, Data: message}},
			Delete:   []snapshot.Field{snapshot.Open},
		})
		if err != nil {
			return err
		}
		if res.Outcome == snapshot.Rebase {
			return rebuild(ctx, store)
		}
		return nil // applied, or somebody else was faster
	}
	_ = step
}

// rebuild refolds the log and writes the thread whole.
func rebuild(ctx context.Context, store *snapshot.Store) error {
	res, err := store.Apply(ctx, "thread-1", snapshot.Update{
		Position: snapshot.Position{
			Version:   snapshot.Version{Incarnation: 1_790_000_000_000_000_000, First: 12, Sequence: 90},
			Ordinal:   57,
			UpdatedAt: time.Now(),
		},
		Set:   map[snapshot.Field]snapshot.Value{snapshot.Message("msg-1"): {Order: 1, Data: []byte(`{"id":"msg-1"}`)}},
		Reset: true,
	})
	if err != nil {
		return err
	}
	fmt.Println(res.Outcome)
	return nil
}
