package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Item is a message, turn or artifact as it is stored.
type Item struct {
	ID    string
	Order uint64
	Data  []byte
}

// Snapshot is a thread as it was at one moment, at Position. It belongs to the caller.
type Snapshot struct {
	Position  Position
	Messages  []Item // by order, then id; so are turns and artifacts
	Turns     []Item
	Artifacts []Item
	Memory    []byte // nil = not stored, here and below
	State     []byte
	Live      []byte
	Open      []byte
}

// Load reads a whole thread in one round trip: what it returns is one version, never a mixture, and nothing is missing.
// Errors: [ErrNotFound] (also as [ErrDeleted] and [ErrVoid]), [ErrIncomplete]; anything else means that Redis did not answer.
func (s *Store) Load(ctx context.Context, thread string) (Snapshot, error) {
	if err := checkThread(thread); err != nil {
		return Snapshot{}, fmt.Errorf("load snapshot: %w", err)
	}
	hash, err := s.client.HGetAll(ctx, s.threadKey(thread)).Result()
	if err != nil {
		return Snapshot{}, fmt.Errorf("load snapshot: %w", err)
	}
	snap, err := s.assemble(hash)
	if err != nil {
		return Snapshot{}, fmt.Errorf("load snapshot: %w", err)
	}
	return snap, nil
}

func (s *Store) assemble(hash map[string]string) (Snapshot, error) {
	if len(hash) == 0 {
		return Snapshot{}, ErrNotFound
	}
	if _, gone := hash[fieldTombstone]; gone {
		return Snapshot{}, ErrDeleted
	}
	if _, void := hash[fieldVoid]; void {
		return Snapshot{}, ErrVoid
	}
	head, ok := hash[fieldPosition]
	if !ok {
		return Snapshot{}, fmt.Errorf("position: %w", ErrIncomplete)
	}
	at, err := parseStored(head)
	if err != nil {
		return Snapshot{}, err
	}
	if n := len(hash) - 1; n != at.fields {
		return Snapshot{}, fmt.Errorf("%d fields of %d: %w", n, at.fields, ErrIncomplete)
	}
	snap, size := Snapshot{Position: at.Position}, int64(0)
	for name, raw := range hash {
		if name == fieldPosition {
			continue
		}
		size += int64(len(name) + len(raw))
		v, err := parseValue(s.table, name, raw)
		if err != nil {
			return Snapshot{}, fmt.Errorf("field %.80q: %w: %w", name, err, ErrIncomplete)
		}
		if !snap.put(name, v) {
			return Snapshot{}, fmt.Errorf("field %.80q: unknown: %w", name, ErrIncomplete)
		}
	}
	if size != at.bytes {
		return Snapshot{}, fmt.Errorf("%d bytes of %d: %w", size, at.bytes, ErrIncomplete)
	}
	for _, items := range [][]Item{snap.Messages, snap.Turns, snap.Artifacts} {
		slices.SortFunc(items, func(a, b Item) int {
			return cmp.Or(cmp.Compare(a.Order, b.Order), strings.Compare(a.ID, b.ID))
		})
	}
	return snap, nil
}

func (snap *Snapshot) put(name string, v Value) bool {
	switch Field(name) {
	case Memory:
		snap.Memory = v.Data
		return true
	case State:
		snap.State = v.Data
		return true
	case Live:
		snap.Live = v.Data
		return true
	case Open:
		snap.Open = v.Data
		return true
	}
	if len(name) < 2 {
		return false
	}
	item := Item{ID: name[2:], Order: v.Order, Data: v.Data}
	switch name[:2] {
	case prefixMessage:
		snap.Messages = append(snap.Messages, item)
	case prefixTurn:
		snap.Turns = append(snap.Turns, item)
	case prefixArtifact:
		snap.Artifacts = append(snap.Artifacts, item)
	default:
		return false
	}
	return true
}

// Positions reads where each of the threads stands, in one round trip a thousand. Threads that are not stored, deleted, void or
// without a readable position are absent. A position does not vouch for the rest of its thread; [Store.Load] does.
func (s *Store) Positions(ctx context.Context, threads []string) (map[string]Position, error) {
	heads, err := s.heads(ctx, threads)
	if err != nil {
		return nil, fmt.Errorf("load positions: %w", err)
	}
	out := make(map[string]Position, len(heads))
	for thread, h := range heads {
		if h.stored {
			out[thread] = h.position
		}
	}
	return out, nil
}

// Condition is what a look at a stored thread finds, short of reading it.
type Condition int

// The conditions of a thread.
const (
	Missing Condition = iota // nothing is stored, or nothing that says what it is
	Whole                    // as many parts as its position says; [Store.Load] alone vouches for each
	Damaged                  // parts are missing, or there are too many
	Gone                     // deleted, and not begun anew
	Void                     // not kept on purpose, see [Store.Void]
)

// Standing is a thread's condition; its position unless it is Missing or Gone, and no more of it than Version and UpdatedAt if
// it is Void.
type Standing struct {
	Condition Condition
	Position  Position
}

// Survey looks at threads without reading them, in one round trip a thousand, so that lost ones are found before somebody
// asks for them. The answer has every thread asked for.
func (s *Store) Survey(ctx context.Context, threads []string) (map[string]Standing, error) {
	out := make(map[string]Standing, len(threads))
	for part := range slices.Chunk(threads, headsAtOnce) {
		pipe := s.client.Pipeline()
		heads, sizes := make([]*redis.SliceCmd, len(part)), make([]*redis.IntCmd, len(part))
		for i, thread := range part {
			if err := checkThread(thread); err != nil {
				return nil, fmt.Errorf("survey threads: %w", err)
			}
			heads[i] = pipe.HMGet(ctx, s.threadKey(thread), fieldPosition, fieldTombstone, fieldVoid)
			sizes[i] = pipe.HLen(ctx, s.threadKey(thread))
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, fmt.Errorf("survey threads: %w", err)
		}
		for i, thread := range part {
			got := heads[i].Val()
			if len(got) != 3 {
				return nil, errors.New("survey threads: malformed answer")
			}
			var st Standing
			text, known := got[0].(string)
			if got[1] != nil {
				st.Condition = Gone
			} else if mark, void := got[2].(string); void {
				if at, ok := parseVoid(mark); ok {
					st = Standing{Condition: Void, Position: at}
				}
			} else if at, err := parseStored(text); known && err == nil {
				st = Standing{Condition: Whole, Position: at.Position}
				// The two commands are not one: an update between them shows a number of its own, and looks like damage.
				if sizes[i].Val() != int64(at.fields)+1 {
					st.Condition = Damaged
				}
			}
			out[thread] = st
		}
	}
	return out, nil
}

// head is what a thread's hash says of itself.
type head struct {
	position Position
	stored   bool // position was there and could be read
	deleted  bool
}

const headsAtOnce = 1000

func (s *Store) heads(ctx context.Context, threads []string) (map[string]head, error) {
	out := make(map[string]head, len(threads))
	for part := range slices.Chunk(threads, headsAtOnce) {
		pipe := s.client.Pipeline()
		cmds := make([]*redis.SliceCmd, len(part))
		for i, thread := range part {
			if err := checkThread(thread); err != nil {
				return nil, err
			}
			cmds[i] = pipe.HMGet(ctx, s.threadKey(thread), fieldPosition, fieldTombstone)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, err
		}
		for i, cmd := range cmds {
			got := cmd.Val()
			if len(got) != 2 {
				return nil, errors.New("malformed answer")
			}
			var h head
			if text, ok := got[0].(string); ok {
				if at, err := parseStored(text); err == nil {
					h.position, h.stored = at.Position, true
				}
			}
			h.deleted = got[1] != nil
			out[part[i]] = h
		}
	}
	return out, nil
}
