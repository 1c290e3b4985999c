package snapshot

import (
	"errors"
	"fmt"
)

// What callers branch on. Every error of this package that is none of these, nor a context error, means that Redis did not
// answer as it should: the caller may try again.
var (
	// ErrNotFound says that nothing is stored under the name. For a thread: rebuild it from the log.
	ErrNotFound = errors.New("not stored")

	// ErrDeleted says that the thread was deleted and has not begun anew. It is also an ErrNotFound.
	ErrDeleted = fmt.Errorf("thread is deleted: %w", ErrNotFound)

	// ErrVoid says that the thread is not kept, see [Store.Void]: read the log. It is also an ErrNotFound.
	ErrVoid = fmt.Errorf("thread is not kept: %w", ErrNotFound)

	// ErrIncomplete says that a part of the stored thread is missing or damaged: rebuild it from the log and write it with
	// [Update.Reset].
	ErrIncomplete = errors.New("stored thread is incomplete")

	// ErrTooLarge says that a limit of [Options] is exceeded; nothing was stored. The error is a *TooLargeError.
	ErrTooLarge = errors.New("too large")

	// ErrLost says that less is recorded than was: Redis was emptied, or set back.
	ErrLost = errors.New("recorded progress is lost")

	// ErrCursor says that a page cursor was not made by [Store.List].
	ErrCursor = errors.New("malformed page cursor")
)

// TooLargeError is an ErrTooLarge: which limit, and by how much.
type TooLargeError struct {
	What  string // "value", "fields" or "snapshot"
	Field Field  // the field of an oversize value; "" otherwise
	Size  int64  // bytes, or the number of fields
	Limit int64  // in the unit of Size
}

func (e *TooLargeError) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("%s of %.80q: %d over the limit of %d", e.What, string(e.Field), e.Size, e.Limit)
	}
	return fmt.Sprintf("%s: %d over the limit of %d", e.What, e.Size, e.Limit)
}

// Is reports that every TooLargeError is an [ErrTooLarge].
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }
