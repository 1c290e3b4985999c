package offline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/agwire/agwire/internal/framing"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

type rawItem = json.RawMessage

// Convert turns native frames into events: what a normalizer makes of one invoke, its flush included.
type Convert struct {
	New   func() normalizer.Normalizer // one an invoke
	Lines bool                         // every line is the frames of an invoke, every answer its events
	Bad   func(line int, why error)    // told of a line that holds no frame
}

// Run reads frames, NDJSON or SSE, writes one event a line as soon as it is there, and flushes at the end of the input. A line
// that is no JSON is passed over, as ingest would refuse it. With Lines, an invoke is a line: an array in, an array out.
func (c Convert) Run(in io.Reader, out io.Writer) error {
	if c.Lines {
		return eachCase(in, out, false, c.Bad, c.invoke)
	}
	r := framing.NewReader(in, framing.Options{MaxFrame: agjson.MaxSize})
	n := c.New()
	var dst []byte
	for {
		frame, err := r.Next()
		var bad *framing.Error
		switch {
		case errors.Is(err, io.EOF):
			return writeEvents(out, &dst, n.Flush())
		case errors.As(err, &bad):
			c.Bad(bad.Line, bad.Err)
			if errors.Is(err, framing.ErrTooLarge) { // the reader stands in the middle of it
				return writeEvents(out, &dst, n.Flush())
			}
			continue
		case err != nil:
			return fmt.Errorf("read: %w", err)
		}
		if err := writeEvents(out, &dst, n.Push(frame.Data)); err != nil {
			return err
		}
	}
}

func (c Convert) invoke(dst []byte, frames []rawItem) []byte {
	n := c.New()
	dst = append(dst, '[')
	for _, frame := range frames {
		dst = appendEvents(dst, n.Push(frame), ',')
	}
	dst = appendEvents(dst, n.Flush(), ',')
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, ']')
}

// writeEvents writes one event a line; dst is its buffer.
func writeEvents(out io.Writer, dst *[]byte, events []agjson.Event) error {
	if len(events) == 0 {
		return nil
	}
	*dst = appendEvents((*dst)[:0], events, '\n')
	return write(out, *dst)
}

func appendEvents(dst []byte, events []agjson.Event, end byte) []byte {
	for i := range events {
		dst = append(agjson.AppendEvent(dst, &events[i]), end)
	}
	return dst
}
