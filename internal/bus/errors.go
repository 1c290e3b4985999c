package bus

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Sentinels. Each exists because some caller branches on it.
var (
	// ErrFenced: another writer has claimed the shard; this one must not go on.
	ErrFenced = errors.New("fenced: the shard has another owner")
	// ErrEnded: the invoke has ended; it takes no more frames.
	ErrEnded = errors.New("the invoke has ended")
	// ErrGap: a frame's index is beyond the next one wanted.
	ErrGap = errors.New("frame index leaves a gap")
	// ErrNotFound: there is no such message, thread or invoke.
	ErrNotFound = errors.New("not found")
	// ErrMismatch: the streams were made for other settings (shards, version).
	ErrMismatch = errors.New("streams of other settings")
	// ErrFull: the frames stream is at its limit and refuses.
	ErrFull = errors.New("the frames stream is full")
	// ErrTooLarge: a message beyond Options.MaxMessage.
	ErrTooLarge = errors.New("message too large")
	// ErrReset: the stream is not the one that a position belongs to.
	ErrReset = errors.New("the stream was replaced or cut back")
	// ErrEpoch: a cursor belongs to another epoch than the thread's present one.
	ErrEpoch = errors.New("cursor of another epoch")
	// ErrTrimmed: the log no longer holds what was asked for.
	ErrTrimmed = errors.New("trimmed from the log")
	// ErrEndOfLog: a bounded reader has read its last message.
	ErrEndOfLog = errors.New("end of the log")
	// ErrClosed: used after its Close or Run ended.
	ErrClosed = errors.New("closed")
	// ErrPoison marks a message that is wrong and will stay wrong: never retried.
	ErrPoison = errors.New("poison message")
	// ErrPanic is the error of a panic that Guard caught.
	ErrPanic = errors.New("panic")
	// ErrFatal marks a fault of ours: whoever runs must stop.
	ErrFatal = errors.New("fatal")
)

// Disposition is what becomes of a message or a worker after an error.
type Disposition int

// The four fates.
const (
	Next  Disposition = iota // done
	Retry                    // again in place, after a delay, bounded
	Park                     // dead-letter, never again
	Stop                     // the worker returns
)

// String is the fate's name in lower case, as metrics spell it.
func (d Disposition) String() string {
	switch d {
	case Next:
		return "next"
	case Retry:
		return "retry"
	case Park:
		return "park"
	case Stop:
		return "stop"
	}
	return fmt.Sprintf("disposition(%d)", int(d))
}

// DispositionOf alone decides what becomes of err.
//
//	nil                                                        Next
//	ErrFatal, ErrFenced, ErrReset, ErrMismatch, ErrClosed,
//	context.Canceled                                           Stop
//	ErrPanic, ErrPoison, ErrTooLarge, and any error with a
//	method Malformed() bool that answers true                  Park
//	anything else                                              Retry
//
// An error that is both of Stop and of Park is of Stop.
func DispositionOf(err error) Disposition {
	if err == nil {
		return Next
	}
	for _, stop := range []error{ErrFatal, ErrFenced, ErrReset, ErrMismatch, ErrClosed, context.Canceled} {
		if errors.Is(err, stop) {
			return Stop
		}
	}
	var m interface{ Malformed() bool }
	if errors.Is(err, ErrPanic) || errors.Is(err, ErrPoison) || errors.Is(err, ErrTooLarge) || errors.As(err, &m) && m.Malformed() {
		return Park
	}
	return Retry
}

// PanicError is the ErrPanic that Guard returns. Its text holds the kind of
// the panic's value, never the value, which may be content.
type PanicError struct {
	Value any
	Stack []byte
}

// Error says that a panic was caught and of which type its value was.
func (e *PanicError) Error() string { return fmt.Sprintf("panic of %T", e.Value) }

// Is makes every PanicError an ErrPanic.
func (e *PanicError) Is(target error) bool { return target == ErrPanic }

// Guard calls fn and turns a panic into a *PanicError. It is the one place
// where a panic is recovered, around the handling of one message.
func Guard(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return fn()
}
