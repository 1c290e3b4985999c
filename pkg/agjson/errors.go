package agjson

import (
	"errors"
	"strings"
)

// ErrMalformed is every fault of a value that the specification does not allow. It names the place, never the content.
var ErrMalformed = errors.New("malformed")

// DecodeError says where a value departs from the specification. It is an ErrMalformed.
type DecodeError struct {
	Type string // the schema asked for, such as AgEvent
	Path string // JSON Pointer (RFC 6901) of the value that is wrong, or of the member that is missing; "" = the whole
	Why  string // what was wanted there; never the value
}

// Error is one line: type, place, reason.
func (e *DecodeError) Error() string {
	at := e.Path
	if at == "" {
		at = "(root)"
	}
	return "agjson: " + e.Type + " at " + at + ": " + e.Why
}

// Is makes errors.Is(err, ErrMalformed) true.
func (e *DecodeError) Is(target error) bool { return target == ErrMalformed }

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// within puts the member or index seg before the path of err.
func within(err error, seg string) error {
	if e, ok := err.(*DecodeError); ok {
		e.Path = "/" + pointerEscape.Replace(seg) + e.Path
	}
	return err
}

const (
	twice       = "a member given twice"
	unknownKind = "unknown kind"
)
