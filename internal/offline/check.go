package offline

import (
	"errors"
	"fmt"
	"io"

	"github.com/agwire/agwire/pkg/agjson"
)

// Check says of each line, a value of the schema, whether it is valid:
//
//	{"valid":true}
//	{"valid":false,"path":"/content/0/text","why":"missing"}
//
// path is the JSON Pointer of the first fault, "" for the whole. A line that is no JSON has a verdict as any other.
type Check struct {
	Schema  string // one of agjson.SchemaNames
	Posture agjson.Posture
}

// Run reads a value a line and writes a verdict a line.
func (c Check) Run(in io.Reader, out io.Writer) error {
	l := newLines(in, false)
	var dst []byte
	for {
		line, err := l.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
			err = agjson.Check(c.Schema, c.Posture, line)
		case !errors.Is(err, ErrTooLong):
			return fmt.Errorf("read: %w", err)
		}
		dst = appendVerdict(dst[:0], err)
		if err := write(out, dst); err != nil {
			return err
		}
	}
}

func appendVerdict(dst []byte, err error) []byte {
	if err == nil {
		return append(dst, `{"valid":true}`+"\n"...)
	}
	path, why := "", err.Error()
	if where, ok := errors.AsType[*agjson.DecodeError](err); ok {
		path, why = where.Path, where.Why
	}
	dst = appendText(append(dst, `{"valid":false`...), "path", path)
	return append(appendText(dst, "why", why), "}\n"...)
}
