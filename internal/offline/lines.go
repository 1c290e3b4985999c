package offline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/agwire/agwire/pkg/agjson"
)

// MaxLine is the longest input line taken, in bytes.
const MaxLine = 256 << 20

// ErrTooLong is a line over MaxLine.
var ErrTooLong = errors.New("line longer than " + strconv.Itoa(MaxLine) + " bytes")

// lines reads the lines of a stream that are not empty.
type lines struct {
	r    *bufio.Reader
	max  int
	keep bool // a line lives on after the next one was read
	n    int  // the number of the line read last, from 1
	buf  []byte
}

func newLines(r io.Reader, keep bool) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), max: MaxLine, keep: keep}
}

// next is the next line, without white space around it. io.EOF is the end; after ErrTooLong it goes on with the line behind.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.read()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (l *lines) read() ([]byte, error) {
	l.n++
	if l.keep || cap(l.buf) > 16<<20 {
		l.buf = nil // one long line is no reason to hold its memory for good
	}
	l.buf = l.buf[:0]
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if tooLong = tooLong || len(l.buf)+len(part) > l.max; !tooLong {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && (!errors.Is(err, io.EOF) || len(l.buf) == 0 && !tooLong):
			return nil, err
		case tooLong:
			return nil, ErrTooLong
		default:
			return l.buf, nil
		}
	}
}

// eachCase calls f with the items of each line, a JSON array, and writes what f appends. A line that is no array is told to bad,
// and answered by a line of its own so that answers keep step with lines.
func eachCase(in io.Reader, out io.Writer, keep bool, bad func(int, error), f func(dst []byte, items []rawItem) []byte) error {
	l := newLines(in, keep)
	var dst []byte
	for {
		line, err := l.next()
		var items []rawItem
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
			items, err = agjson.Items(line)
		case !errors.Is(err, ErrTooLong):
			return fmt.Errorf("read: %w", err)
		}
		if dst = dst[:0]; err != nil {
			bad(l.n, err)
			dst = append(append(append(dst, `{"error":`...), agjson.Quote(err.Error())...), '}')
		} else {
			dst = f(dst, items)
		}
		if err := write(out, append(dst, '\n')); err != nil {
			return err
		}
		if cap(dst) > 16<<20 {
			dst = nil
		}
	}
}

func write(out io.Writer, data []byte) error {
	if _, err := out.Write(data); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
