package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Progress is how far the reducer of a shard (>= 0) has come: every message of the events stream up to the mark is in the
// snapshots, or was when it was recorded. [ErrNotFound] if nothing is recorded, or nothing that can be read: start from
// the beginning. Parts of the cache can be lost without this record; what tells is each thread's own position.
func (s *Store) Progress(ctx context.Context, shard int) (Mark, error) {
	if shard < 0 {
		return Mark{}, errors.New("load progress: shard: negative")
	}
	text, err := s.client.Get(ctx, s.progressKey(shard)).Result()
	if errors.Is(err, redis.Nil) {
		return Mark{}, fmt.Errorf("load progress: %w", ErrNotFound)
	}
	if err != nil {
		return Mark{}, fmt.Errorf("load progress: %w", err)
	}
	mark, ok := parseMark(text)
	if !ok {
		return Mark{}, fmt.Errorf("load progress: unreadable: %w", ErrNotFound)
	}
	return mark, nil
}

// Advance records that the reducer of a shard (>= 0) has come to a mark, and returns what is recorded then: that mark, or
// a newer one, which an older never replaces. It may be repeated.
func (s *Store) Advance(ctx context.Context, shard int, to Mark) (Mark, error) {
	if shard < 0 {
		return Mark{}, errors.New("advance progress: shard: negative")
	}
	if err := to.validate(); err != nil {
		return Mark{}, fmt.Errorf("advance progress: %w", err)
	}
	text, err := s.advance.Run(ctx, s.client, []string{s.progressKey(shard)}, to.Incarnation, to.Sequence).Text()
	if err != nil {
		return Mark{}, fmt.Errorf("advance progress: %w", err)
	}
	mark, ok := parseMark(text)
	if !ok {
		return Mark{}, errors.New("advance progress: malformed answer of the script")
	}
	return mark, nil
}

// Continue is [Store.Advance] for the reducer that knows what is recorded: from, or nothing if from is zero. If less is
// recorded, Redis has lost something since: nothing is changed, the error is an [ErrLost], and the mark is what is recorded,
// zero if that is nothing; what comes after it must be read again. It may be repeated.
func (s *Store) Continue(ctx context.Context, shard int, from, to Mark) (Mark, error) {
	if shard < 0 {
		return Mark{}, errors.New("continue progress: shard: negative")
	}
	if err := to.validate(); err != nil {
		return Mark{}, fmt.Errorf("continue progress: %w", err)
	}
	if from.Compare(to) > 0 || from != (Mark{}) && from.validate() != nil {
		return Mark{}, errors.New("continue progress: want from, or nothing, before to")
	}
	got, err := s.proceed.Run(ctx, s.client, []string{s.progressKey(shard)}, to.Incarnation, to.Sequence,
		from.Incarnation, from.Sequence).StringSlice()
	if err != nil {
		return Mark{}, fmt.Errorf("continue progress: %w", err)
	}
	if len(got) != 2 {
		return Mark{}, errors.New("continue progress: malformed answer of the script")
	}
	mark, ok := parseMark(got[1])
	switch {
	case got[0] == "lost" && !ok:
		return Mark{}, fmt.Errorf("continue progress: %w", ErrLost)
	case got[0] == "lost":
		return mark, fmt.Errorf("continue progress: %w", ErrLost)
	case !ok:
		return Mark{}, errors.New("continue progress: malformed answer of the script")
	}
	return mark, nil
}

func (s *Store) progressKey(shard int) string {
	return s.opts.Prefix + "progress:{" + strconv.Itoa(shard) + "}"
}

func parseMark(text string) (Mark, bool) {
	inc, seq, ok := strings.Cut(text, " ")
	if !ok {
		return Mark{}, false
	}
	var m Mark
	var err1, err2 error
	m.Incarnation, err1 = strconv.ParseUint(inc, 10, 64)
	m.Sequence, err2 = strconv.ParseUint(seq, 10, 64)
	return m, err1 == nil && err2 == nil
}
