package framing

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/agwire/agwire/pkg/agjson"
)

// Format is how frames lie in the stream.
type Format int

const (
	// Auto tells NDJSON and SSE apart by the first byte that is not white space.
	Auto Format = iota
	// NDJSON is one JSON text a line; empty lines are passed over.
	NDJSON
	// SSE is a stream of Server-Sent Events; a data of [DONE] is passed over.
	SSE
)

// DefaultMaxFrame is the largest frame taken when Options says nothing, in bytes.
const DefaultMaxFrame = 16 << 20

// Options of a Reader.
type Options struct {
	Format   Format
	MaxFrame int // largest frame in bytes; 0 = DefaultMaxFrame
}

var (
	// ErrNotJSON is a frame that is no JSON text.
	ErrNotJSON = errors.New("not a JSON text")
	// ErrTooLarge is a frame over Options.MaxFrame.
	ErrTooLarge = errors.New("frame too large")
)

// Error says which frame is wrong and where it began. It never holds content.
type Error struct {
	Frame int   // from 0, counting the frames of this stream
	Line  int   // from 1
	Err   error // ErrNotJSON or ErrTooLarge
}

func (e *Error) Error() string {
	return fmt.Sprintf("frame %d, line %d: %v", e.Frame, e.Line, e.Err)
}

// Unwrap gives the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Frame is one native frame.
type Frame struct {
	Data  []byte // the JSON text, without white space around it; valid until the next call of Next
	Event string // SSE event name; "" for NDJSON
}

// Reader reads frames. Not safe for concurrent use.
type Reader struct {
	br     *bufio.Reader
	format Format
	max    int
	line   int
	frame  int
	buf    []byte
	eof    error
}

// NewReader reads frames from r.
func NewReader(r io.Reader, o Options) *Reader {
	if o.MaxFrame <= 0 {
		o.MaxFrame = DefaultMaxFrame
	}
	return &Reader{br: bufio.NewReaderSize(r, 64<<10), format: o.Format, max: o.MaxFrame}
}

// Next returns the next frame. io.EOF is a clean end; an *Error is a frame that cannot be taken; any other error is the
// stream's, and a frame that it cut in two is not returned.
func (r *Reader) Next() (Frame, error) {
	if r.format == Auto {
		if err := r.detect(); err != nil {
			return Frame{}, err
		}
	}
	var f Frame
	var start int
	var err error
	if r.format == SSE {
		f, start, err = r.event()
	} else {
		f, start, err = r.ndjson()
	}
	if err != nil {
		return Frame{}, err
	}
	if err := agjson.Check("JsonValue", agjson.Consumer, f.Data); err != nil {
		return Frame{}, &Error{Frame: r.frame, Line: start, Err: ErrNotJSON}
	}
	r.frame++
	return f, nil
}

var bom = []byte("\xef\xbb\xbf")

func (r *Reader) detect() error {
	if b, _ := r.br.Peek(3); bytes.Equal(b, bom) {
		r.br.Discard(3)
	}
	for {
		b, err := r.br.Peek(1)
		if err != nil {
			return err
		}
		switch b[0] {
		case '\n':
			r.line++
			r.br.Discard(1)
		case ' ', '\t', '\r':
			r.br.Discard(1)
		case ':', 'd', 'e', 'i', 'r':
			r.format = SSE
			return nil
		default:
			r.format = NDJSON
			return nil
		}
	}
}

// readLine returns the next line without its end. A last line without a line feed counts only when the stream ended cleanly.
func (r *Reader) readLine() ([]byte, error) {
	if r.eof != nil {
		return nil, r.eof
	}
	line, err := r.br.ReadSlice('\n')
	if err == nil {
		r.line++
		return trimEnd(line), nil
	}
	r.buf = r.buf[:0]
	for {
		r.buf = append(r.buf, line...)
		if len(r.buf) > r.max+2 {
			r.eof = &Error{Frame: r.frame, Line: r.line + 1, Err: ErrTooLarge}
			return nil, r.eof
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		if line, err = r.br.ReadSlice('\n'); err == nil {
			r.line++
			r.buf = append(r.buf, line...)
			return trimEnd(r.buf), nil
		}
	}
	r.eof = err
	if err == io.EOF && len(bytes.TrimSpace(r.buf)) > 0 {
		r.line++
		return trimEnd(r.buf), nil
	}
	return nil, err
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

func (r *Reader) ndjson() (Frame, int, error) {
	for {
		line, err := r.readLine()
		if err != nil {
			return Frame{}, 0, err
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0 || bytes.Equal(line, done):
			continue
		case len(line) > r.max:
			return Frame{}, 0, &Error{Frame: r.frame, Line: r.line, Err: ErrTooLarge}
		}
		return Frame{Data: line}, r.line, nil
	}
}

var done = []byte("[DONE]")

// event reads up to the end of the next event that has data (WHATWG HTML, server-sent events). An event that the end of the
// stream cuts before its blank line is still taken when the end is clean: some producers never send the last blank line.
func (r *Reader) event() (Frame, int, error) {
	var data []byte
	var name string
	start, has := 0, false
	for {
		line, err := r.readLine()
		if err != nil && (err != io.EOF || !has) {
			return Frame{}, 0, err
		}
		if err == nil && len(line) > 0 {
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "data":
				if has {
					data = append(data, '\n')
				} else {
					start = r.line
				}
				data, has = append(data, value...), true
				if len(data) > r.max {
					return Frame{}, 0, &Error{Frame: r.frame, Line: start, Err: ErrTooLarge}
				}
			case "event":
				name = string(value)
			}
			continue
		}
		data = bytes.TrimSpace(data)
		if has && len(data) > 0 && !bytes.Equal(data, done) {
			return Frame{Data: data, Event: name}, start, nil
		}
		if err != nil {
			return Frame{}, 0, err
		}
		data, name, has = nil, "", false
	}
}
