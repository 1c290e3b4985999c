package subject

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Kind says what is stored under a subject.
type Kind int

// The kinds of subject.
const (
	KindFrame Kind = iota + 1
	KindInput
	KindEvent
	KindLive
	KindClaim
	KindFiller
	KindCheckpoint
)

// String is the kind as it is spelt in this package's documentation.
func (k Kind) String() string {
	switch k {
	case KindFrame:
		return "frame"
	case KindInput:
		return "input"
	case KindEvent:
		return "event"
	case KindLive:
		return "live"
	case KindClaim:
		return "claim"
	case KindFiller:
		return "filler"
	case KindCheckpoint:
		return "checkpoint"
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// Parsed is a subject taken apart.
type Parsed struct {
	Kind   Kind
	Shard  int
	Thread string // "" for claims, fillers and checkpoints
	Invoke string // frames only
}

// ErrForeign is the error of a subject that is none of these names.
var ErrForeign = errors.New("not a subject of this deployment")

// Parse takes a subject apart. It refuses, with an ErrForeign, whatever the
// methods of n do not spell, a thread in a shard that is not its own included.
func (n Names) Parse(s string) (Parsed, error) {
	rest, ok := strings.CutPrefix(s, n.prefix+".")
	if !ok {
		return Parsed{}, fmt.Errorf("%w: prefix", ErrForeign)
	}
	kind, rest, _ := strings.Cut(rest, ".")
	num, rest, ok := strings.Cut(rest, ".")
	if !ok {
		return Parsed{}, fmt.Errorf("%w: too few tokens", ErrForeign)
	}
	shard, err := strconv.Atoi(num)
	if err != nil || shard < 0 || shard >= n.shards || strconv.Itoa(shard) != num {
		return Parsed{}, fmt.Errorf("%w: shard", ErrForeign)
	}
	p := Parsed{Shard: shard}
	switch kind {
	case "f":
		p.Kind = KindFrame
		thread, invoke, ok := strings.Cut(rest, ".")
		if !ok {
			return Parsed{}, fmt.Errorf("%w: no invoke", ErrForeign)
		}
		rest = thread
		if p.Invoke, err = id(invoke); err != nil {
			return Parsed{}, fmt.Errorf("%w: invoke: %w", ErrForeign, err)
		}
	case "i":
		p.Kind = KindInput
	case "e":
		p.Kind = KindEvent
	case "live":
		p.Kind = KindLive
	case "c":
		return control(p, rest)
	default:
		return Parsed{}, fmt.Errorf("%w: kind", ErrForeign)
	}
	if p.Thread, err = id(rest); err != nil {
		return Parsed{}, fmt.Errorf("%w: thread: %w", ErrForeign, err)
	}
	if n.ShardOfToken(rest) != shard {
		return Parsed{}, fmt.Errorf("%w: thread of another shard", ErrForeign)
	}
	return p, nil
}

func id(token string) (string, error) {
	s, err := Unescape(token)
	if err != nil {
		return "", err
	}
	return s, CheckID(s)
}

func control(p Parsed, name string) (Parsed, error) {
	switch name {
	case "claim":
		p.Kind = KindClaim
	case "filler":
		p.Kind = KindFiller
	case "checkpoint":
		p.Kind = KindCheckpoint
	default:
		return Parsed{}, fmt.Errorf("%w: control name", ErrForeign)
	}
	return p, nil
}
