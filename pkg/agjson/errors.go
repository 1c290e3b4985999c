package agjson

import (
	"errors"
	"slices"
	"strings"
)

// ErrMalformed is every fault of a value that the specification does not allow. It names the place, never the content.
var ErrMalformed = errors.New("malformed")

// DecodeError says where a value departs from the specification. It is an ErrMalformed.
type DecodeError struct {
	Type string // the schema asked for, such as AgEvent
	Path string // JSON Pointer (RFC 6901) of the value that is wrong, or of the member that is missing; "" = the whole
	Why  string // what was wanted there; never the value

	segs []string // the path while it is found, innermost first
}

// maxShown bounds what Error shows of a path, whose names are the sender's.
const maxShown = 256

// Error is one line: type, place, reason. A place of more than 256 bytes is cut.
func (e *DecodeError) Error() string {
	at := e.Path
	switch {
	case at == "":
		at = "(root)"
	case len(at) > maxShown:
		at = strings.ToValidUTF8(at[:maxShown], "") + "…"
	}
	return "agjson: " + e.Type + " at " + at + ": " + e.Why
}

// Is makes errors.Is(err, ErrMalformed) true.
func (e *DecodeError) Is(target error) bool { return target == ErrMalformed }

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// within puts the member or index seg before the place of err.
func within(err error, seg string) error {
	if e, ok := err.(*DecodeError); ok {
		e.segs = append(e.segs, seg)
	}
	return err
}

// settle says what was asked for, and turns the place found into a JSON Pointer.
func (e *DecodeError) settle(schema string) {
	e.Type = schema
	var b strings.Builder
	for _, seg := range slices.Backward(e.segs) {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(seg))
	}
	e.Path, e.segs = b.String(), nil
}

const (
	twice       = "a member given twice"
	unknownKind = "unknown kind"
)
