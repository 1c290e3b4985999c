package offline

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// Fold folds events into an AgReduceResult (SPEC §5) and answers
//
//	{"result":…,"needsResync":false,"rejected":[]}
//
// needsResync says that the fold is parked (SPEC §5 INV-SEQ). rejected are the numbers, from 1, of the lines (with Lines, of the
// items of the array) that are no event: they are not folded and change nothing of the fold (SPEC §10.20).
type Fold struct {
	Lines   bool                      // every line is a stream of events, every answer its fold
	Explain bool                      // a further member, "explain": what parked the fold, and what was wrong with what was rejected
	Bad     func(line int, why error) // told of a line that is no JSON (with Lines, no array)
}

// Run reads one event a line and writes one answer at the end of the input; with Lines, an answer a line.
func (f Fold) Run(in io.Reader, out io.Writer) error {
	if f.Lines {
		return eachCase(in, out, true, f.Bad, func(dst []byte, events []rawItem) []byte {
			t := f.start()
			for i, data := range events {
				t.push(i+1, data)
			}
			return t.answer(dst)
		})
	}
	t, l := f.start(), newLines(in, true)
	for {
		line, err := l.next()
		switch {
		case errors.Is(err, io.EOF):
			return write(out, append(t.answer(nil), '\n'))
		case errors.Is(err, ErrTooLong):
			t.reject(l.n, "", err.Error())
			f.Bad(l.n, err)
			continue
		case err != nil:
			return fmt.Errorf("read: %w", err)
		}
		if !t.push(l.n, line) && agjson.Check("JsonValue", agjson.Consumer, line) != nil {
			f.Bad(l.n, errors.New("not a JSON text"))
		}
	}
}

// tally is one fold and what it has to say.
type tally struct {
	explain  bool
	r        *reducer.Reducer
	rejected []byte // numbers, each with a comma before it
	parks    []byte // objects, likewise
	refusals []byte
}

func (f Fold) start() *tally { return &tally{explain: f.Explain, r: reducer.New()} }

// push folds the event of line n, whose bytes it keeps, and says whether it is one.
func (t *tally) push(n int, data []byte) bool {
	ev, err := agjson.Decode(data)
	if err != nil {
		path, why := "", err.Error()
		if where, ok := errors.AsType[*agjson.DecodeError](err); ok {
			path, why = where.Path, where.Why
		}
		t.reject(n, path, why)
		return false
	}
	before := t.r.Parked()
	t.r.Push(ev)
	if why := t.r.Parked(); why != before && why != "" && t.explain {
		t.parks = appendPlace(t.parks, n)
		t.parks = append(t.parks, `,"seq":`...)
		t.parks = strconv.AppendInt(t.parks, ev.Seq, 10)
		t.parks = appendText(t.parks, "type", ev.Body.Type())
		t.parks = append(appendText(t.parks, "why", why), '}')
	}
	return true
}

func (t *tally) reject(n int, path, why string) {
	t.rejected = strconv.AppendInt(append(t.rejected, ','), int64(n), 10)
	if t.explain {
		t.refusals = appendText(appendPlace(t.refusals, n), "path", path)
		t.refusals = append(appendText(t.refusals, "why", why), '}')
	}
}

func (t *tally) answer(dst []byte) []byte {
	result := t.r.Result()
	dst = agjson.AppendReduceResult(append(dst, `{"result":`...), &result)
	dst = strconv.AppendBool(append(dst, `,"needsResync":`...), t.r.Parked() != "")
	dst = appendArray(append(dst, `,"rejected":`...), t.rejected)
	if t.explain {
		dst = appendArray(append(dst, `,"explain":{"parked":`...), t.parks)
		dst = append(appendArray(append(dst, `,"rejected":`...), t.refusals), '}')
	}
	return append(dst, '}')
}

func appendPlace(dst []byte, n int) []byte {
	return strconv.AppendInt(append(dst, `,{"line":`...), int64(n), 10)
}

func appendText(dst []byte, name, text string) []byte {
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return agjson.AppendString(dst, text)
}

// appendArray is the array of items that each have a comma before them.
func appendArray(dst, items []byte) []byte {
	dst = append(dst, '[')
	if len(items) > 0 {
		dst = append(dst, items[1:]...)
	}
	return append(dst, ']')
}
