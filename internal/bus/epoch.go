package bus

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Epoch names one life of a thread's ordinals: the events stream's incarnation
// and the stream sequence of the thread's ordinal 0. A thread that was purged,
// rebuilt or restored has a new one. The zero Epoch is none.
type Epoch struct {
	Incarnation int64  // when the events stream was created, Unix nanoseconds
	Seq         uint64 // stream sequence of ordinal 0
}

// IsZero tells whether e is none.
func (e Epoch) IsZero() bool { return e == Epoch{} }

// Compare is -1, 0 or 1: the newer epoch is the greater.
func (e Epoch) Compare(o Epoch) int {
	if c := cmp.Compare(e.Incarnation, o.Incarnation); c != 0 {
		return c
	}
	return cmp.Compare(e.Seq, o.Seq)
}

// String is "<incarnation>.<seq>", both in base 36; "" for the zero Epoch.
func (e Epoch) String() string {
	if e.IsZero() {
		return ""
	}
	b := make([]byte, 0, 24)
	b = strconv.AppendInt(b, e.Incarnation, 36)
	b = append(b, '.')
	b = strconv.AppendUint(b, e.Seq, 36)
	return string(b)
}

var errSpelling = errors.New("not in its one spelling")

// ParseEpoch reverses String and accepts nothing else.
func ParseEpoch(s string) (Epoch, error) {
	if s == "" {
		return Epoch{}, nil
	}
	inc, seq, _ := strings.Cut(s, ".")
	i, err1 := strconv.ParseInt(inc, 36, 64)
	q, err2 := strconv.ParseUint(seq, 36, 64)
	e := Epoch{Incarnation: i, Seq: q}
	if err1 != nil || err2 != nil || i <= 0 || q == 0 || e.String() != s {
		return Epoch{}, fmt.Errorf("epoch: %w", errSpelling)
	}
	return e, nil
}

// Cursor is a position in a thread: the last ordinal that its holder has.
type Cursor struct {
	Epoch   Epoch
	Ordinal int64 // from 0
}

// String is "<epoch>-<ordinal>".
func (c Cursor) String() string {
	return c.Epoch.String() + "-" + strconv.FormatInt(c.Ordinal, 10)
}

// ParseCursor reverses String and accepts nothing else.
func ParseCursor(s string) (Cursor, error) {
	epoch, ordinal, ok := strings.Cut(s, "-")
	if !ok {
		return Cursor{}, errors.New("cursor: no ordinal")
	}
	e, err := ParseEpoch(epoch)
	if err != nil {
		return Cursor{}, fmt.Errorf("cursor: %w", err)
	}
	n, err := strconv.ParseInt(ordinal, 10, 64)
	c := Cursor{Epoch: e, Ordinal: n}
	if err != nil || n < 0 || e.IsZero() || c.String() != s {
		return Cursor{}, fmt.Errorf("cursor: %w", errSpelling)
	}
	return c, nil
}
