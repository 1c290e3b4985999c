package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Update is what changed in a thread between two versions, or all of it.
type Update struct {
	Position Position        // what the thread is at afterwards
	Base     Version         // what Set and Delete were made against: older, of the same epoch; zero with Reset
	Set      map[Field]Value // fields that are new or changed; with Reset, every field there is
	Delete   []Field         // fields that are gone; none of Set; empty with Reset
	Reset    bool            // replace whatever is stored: a new epoch, a rebuild, or a thread not stored yet
}

// Outcome is what became of a write that Redis answered.
type Outcome int

const (
	// Applied means that the write is stored.
	Applied Outcome = iota + 1
	// Unchanged means that the very version was stored already; nothing was written.
	Unchanged
	// Stale means that a newer version is stored; nothing was written.
	Stale
	// Deleted means that the thread was deleted, and that this write is of a life that had begun before; nothing was written.
	Deleted
	// Rebase means that what is stored is not [Update.Base], is incomplete, or is nothing; nothing was written. Write the
	// whole thread with [Update.Reset].
	Rebase
)

func (o Outcome) String() string {
	switch o {
	case Applied:
		return "applied"
	case Unchanged:
		return "unchanged"
	case Stale:
		return "stale"
	case Deleted:
		return "deleted"
	case Rebase:
		return "rebase"
	}
	return "outcome " + strconv.Itoa(int(o))
}

// Result is a write's outcome and the position that is stored now; zero if there is none, or none that can be read.
type Result struct {
	Outcome Outcome
	Stored  Position
}

// Apply writes an update of a thread, atomically and only onto what it was made against, and raises the thread in the
// index. An update of an older version is refused as [Stale], of the stored version it is [Unchanged] (with Reset it
// replaces the content, so that a damaged thread can be mended), after a deletion it is [Deleted] unless its epoch
// began after it. These are outcomes, not errors.
//
// Errors: [ErrTooLarge], with nothing stored; a malformed argument; anything else means that the outcome is unknown, and
// Apply may be called again with the same update. It does not retain or change its arguments.
func (s *Store) Apply(ctx context.Context, thread string, u Update) (Result, error) {
	args, err := s.applyArgs(thread, u)
	if err != nil {
		return Result{}, fmt.Errorf("apply snapshot: %w", err)
	}
	keys, active := []string{s.threadKey(thread)}, u.Position.UpdatedAt.UnixMicro()

	pipe := s.client.Pipeline()
	touch := pipe.ZAddGT(ctx, s.indexKey(), redis.Z{Score: float64(active), Member: thread})
	run := s.apply.EvalSha(ctx, pipe, keys, args...)
	_, _ = pipe.Exec(ctx) // its error is that of one of the commands, which are looked at one by one
	if redis.HasErrorPrefix(run.Err(), "NOSCRIPT") {
		run = s.apply.Eval(ctx, s.client, keys, args...)
	}
	answer, err := pair(run)
	if err != nil {
		return Result{}, fmt.Errorf("apply snapshot: %w", err)
	}
	if err := touch.Err(); err != nil {
		return Result{}, fmt.Errorf("apply snapshot: raise in index: %w", err)
	}
	res, err := s.outcome(answer)
	if err != nil {
		return Result{}, fmt.Errorf("apply snapshot: %w", err)
	}
	if res.Outcome == Deleted {
		if err := s.dropFromIndex(ctx, thread, active); err != nil {
			return Result{}, fmt.Errorf("apply snapshot: %w", err)
		}
	}
	return res, nil
}

// Delete removes a thread and leaves a tombstone: whatever began at or before through in the events stream is dead, and
// until [Options.TombstoneTTL] after the last Delete no writer brings it back. A life that begins later is not touched: an
// Apply with Reset of an epoch whose First is newer than through starts it, and a Delete that comes after that is [Stale].
// Otherwise the outcome is [Applied], also when there was nothing to delete. Delete may be repeated.
func (s *Store) Delete(ctx context.Context, thread string, through Mark) (Result, error) {
	if err := errors.Join(checkThread(thread), through.validate()); err != nil {
		return Result{}, fmt.Errorf("delete snapshot: %w", err)
	}
	// The activity is read first: what a new life adds to the index after the tombstone is in place is newer, and stays.
	active, err := s.client.ZScore(ctx, s.indexKey(), thread).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return Result{}, fmt.Errorf("delete snapshot: read index: %w", err)
	}
	listed := err == nil
	answer, err := pair(s.remove.Run(ctx, s.client, []string{s.threadKey(thread)},
		through.Incarnation, through.Sequence, s.opts.TombstoneTTL.Milliseconds()))
	if err != nil {
		return Result{}, fmt.Errorf("delete snapshot: %w", err)
	}
	res, err := s.outcome(answer)
	if err != nil {
		return Result{}, fmt.Errorf("delete snapshot: %w", err)
	}
	if res.Outcome == Applied && listed {
		if err := s.dropFromIndex(ctx, thread, int64(active)); err != nil {
			return Result{}, fmt.Errorf("delete snapshot: %w", err)
		}
	}
	return res, nil
}

func (s *Store) outcome(answer [2]string) (Result, error) {
	var res Result
	switch answer[0] {
	case "applied":
		res.Outcome = Applied
	case "unchanged":
		res.Outcome = Unchanged
	case "stale":
		res.Outcome = Stale
	case "deleted":
		res.Outcome = Deleted
	case "rebase":
		res.Outcome = Rebase
	case "toolarge":
		size, err := strconv.ParseInt(answer[1], 10, 64)
		if err != nil {
			return Result{}, errors.New("malformed answer of the script")
		}
		return Result{}, &TooLargeError{What: "snapshot", Size: size, Limit: s.opts.MaxSnapshot}
	default:
		return Result{}, errors.New("malformed answer of the script")
	}
	if answer[1] != "" {
		// What cannot be read is left zero: it stands for a damaged thread, which the next reader reports.
		if at, err := parseStored(answer[1]); err == nil {
			res.Stored = at.Position
		}
	}
	return res, nil
}

// applyArgs checks an update and spells it for the script.
func (s *Store) applyArgs(thread string, u Update) ([]any, error) {
	if err := errors.Join(checkThread(thread), u.validate()); err != nil {
		return nil, err
	}
	if n := len(u.Set) + len(u.Delete); n > s.opts.MaxFields {
		return nil, &TooLargeError{What: "fields", Size: int64(n), Limit: int64(s.opts.MaxFields)}
	}
	total, size := int64(0), 0
	for f, v := range u.Set {
		if n := int64(len(v.Data)); n > s.opts.MaxValue {
			return nil, &TooLargeError{What: "value", Field: f, Size: n, Limit: s.opts.MaxValue}
		}
		size += headerSize + len(v.Data)
		total += int64(len(f)) + headerSize + int64(len(v.Data))
	}
	if total > s.opts.MaxSnapshot {
		return nil, &TooLargeError{What: "snapshot", Size: total, Limit: s.opts.MaxSnapshot}
	}
	detail, err := u.Position.detail()
	if err != nil {
		return nil, fmt.Errorf("encode position: %w", err)
	}
	base, reset := u.Base.String(), 0
	if u.Reset {
		base, reset = "", 1
	}
	at := u.Position.Version
	args := make([]any, 0, 8+len(u.Delete)+2*len(u.Set))
	args = append(args, at.Incarnation, at.First, at.Sequence, base, reset, s.opts.MaxSnapshot, detail, len(u.Delete))
	for _, f := range u.Delete {
		args = append(args, string(f))
	}
	room := make([]byte, 0, size)
	for f, v := range u.Set {
		from := len(room)
		room = appendValue(room, s.table, f, v)
		args = append(args, string(f), room[from:len(room):len(room)])
	}
	return args, nil
}

func (u Update) validate() error {
	errs := []error{u.Position.validate()}
	if u.Reset {
		if u.Base != (Version{}) || len(u.Delete) > 0 {
			errs = append(errs, errors.New("update: a reset has neither base nor deletions"))
		}
	} else if err := u.Base.validate(); err != nil {
		errs = append(errs, fmt.Errorf("base: %w", err))
	} else if !u.Base.SameEpoch(u.Position.Version) || u.Base.Sequence >= u.Position.Sequence {
		errs = append(errs, errors.New("update: the base is an older version of the same epoch, else it is a reset"))
	}
	for f := range u.Set {
		errs = append(errs, f.validate())
	}
	gone := make(map[Field]struct{}, len(u.Delete))
	for _, f := range u.Delete {
		errs = append(errs, f.validate())
		_, both := u.Set[f]
		if _, twice := gone[f]; both || twice {
			errs = append(errs, fmt.Errorf("field %.80q: named twice", string(f)))
		}
		gone[f] = struct{}{}
	}
	return errors.Join(errs...)
}

// pair reads a script's answer of two texts.
func pair(cmd *redis.Cmd) ([2]string, error) {
	got, err := cmd.StringSlice()
	if err != nil {
		return [2]string{}, err
	}
	if len(got) != 2 {
		return [2]string{}, errors.New("malformed answer of the script")
	}
	return [2]string(got), nil
}
