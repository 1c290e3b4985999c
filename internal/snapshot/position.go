package snapshot

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Mark is a place in the events stream of a shard. Marks are ordered by incarnation, then sequence.
type Mark struct {
	Incarnation uint64 // which life of the stream: its creation time in Unix nanoseconds; > 0
	Sequence    uint64 // a stream sequence; > 0
}

// Compare is negative when m is older than o, zero when they are the same place, positive when m is newer.
func (m Mark) Compare(o Mark) int {
	return cmp.Or(cmp.Compare(m.Incarnation, o.Incarnation), cmp.Compare(m.Sequence, o.Sequence))
}

func (m Mark) validate() error {
	if m.Incarnation == 0 || m.Sequence == 0 {
		return errors.New("mark: incarnation and sequence start at 1")
	}
	return nil
}

// Version identifies one state of a thread: the fold of its events up to Sequence. Incarnation and First are its epoch.
// Equal versions have equal folds, which is why a write of a version that is stored already can be skipped.
type Version struct {
	Incarnation uint64 // which life of the events stream: its creation time in Unix nanoseconds; > 0
	First       uint64 // stream sequence of the thread's ordinal 0; > 0
	Sequence    uint64 // stream sequence of the last message folded; >= First
}

// Compare is negative when v is older than o, zero when they are the same, positive when v is newer. An epoch that began
// later is newer, whatever the sequences (DESIGN: a new epoch wins over an old one).
func (v Version) Compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Incarnation, o.Incarnation), cmp.Compare(v.First, o.First),
		cmp.Compare(v.Sequence, o.Sequence))
}

// SameEpoch reports whether v and o are versions of one epoch.
func (v Version) SameEpoch(o Version) bool {
	return v.Incarnation == o.Incarnation && v.First == o.First
}

// Mark is the place in the events stream that v stands at.
func (v Version) Mark() Mark { return Mark{Incarnation: v.Incarnation, Sequence: v.Sequence} }

func (v Version) String() string {
	return strconv.FormatUint(v.Incarnation, 10) + " " + strconv.FormatUint(v.First, 10) + " " +
		strconv.FormatUint(v.Sequence, 10)
}

func (v Version) validate() error {
	if v.Incarnation == 0 || v.First == 0 || v.Sequence < v.First {
		return errors.New("version: want incarnation > 0 and 0 < first <= sequence")
	}
	return nil
}

// Position is a version of a thread and what readers ask about it without reading the thread.
type Position struct {
	Version
	Ordinal   int64     // last ordinal folded; >= 0
	Cursor    string    // resume point of a client that has this snapshot; opaque, valid UTF-8, at most 512 bytes
	UpdatedAt time.Time // last activity, by the broker's clock; kept to the microsecond; after 1970
	OpenTurn  bool      // a turn is open
}

const maxCursor = 512

func (p Position) validate() error {
	var errs []error
	errs = append(errs, p.Version.validate())
	if p.Ordinal < 0 {
		errs = append(errs, errors.New("ordinal: negative"))
	}
	if len(p.Cursor) > maxCursor {
		errs = append(errs, fmt.Errorf("cursor: over %d bytes", maxCursor))
	}
	if us := p.UpdatedAt.UnixMicro(); us <= 0 || us > maxScore {
		errs = append(errs, errors.New("updated-at: out of range"))
	}
	return errors.Join(errs...)
}

// detail is the part of a stored position that the script does not look into.
type detail struct {
	Ordinal   int64  `json:"ordinal"`
	Cursor    string `json:"cursor,omitempty"`
	UpdatedAt int64  `json:"at"` // Unix microseconds
	OpenTurn  bool   `json:"open,omitempty"`
}

func (p Position) detail() ([]byte, error) {
	return json.Marshal(detail{p.Ordinal, p.Cursor, p.UpdatedAt.UnixMicro(), p.OpenTurn})
}

// stored is the position field: "<incarnation> <first> <sequence> <fields> <bytes> <detail>".
type stored struct {
	Position
	fields int   // how many other fields the hash has
	bytes  int64 // their names and values together
}

func parseStored(s string) (stored, error) {
	parts := strings.SplitN(s, " ", 6)
	if len(parts) != 6 {
		return stored{}, fmt.Errorf("position: %w", ErrIncomplete)
	}
	var n [5]uint64
	for i := range n {
		v, err := strconv.ParseUint(parts[i], 10, 64)
		if err != nil {
			return stored{}, fmt.Errorf("position: %w", ErrIncomplete)
		}
		n[i] = v
	}
	var d detail
	if err := json.Unmarshal([]byte(parts[5]), &d); err != nil {
		return stored{}, fmt.Errorf("position: %w", ErrIncomplete)
	}
	return stored{
		Position: Position{
			Version:   Version{Incarnation: n[0], First: n[1], Sequence: n[2]},
			Ordinal:   d.Ordinal,
			Cursor:    d.Cursor,
			UpdatedAt: time.UnixMicro(d.UpdatedAt).UTC(),
			OpenTurn:  d.OpenTurn,
		},
		fields: int(n[3]),
		bytes:  int64(n[4]),
	}, nil
}
