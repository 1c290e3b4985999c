package normalizer

import (
	"bytes"
	"encoding/json"

	"github.com/agwire/agwire/pkg/agjson"
)

// Normalizer is one invoke of one framework (SPEC §8.0). Push cannot fail: what cannot be mapped leaves as
// ext.<vendor>.unparsed. Neither method retains native or does I/O; equal input yields equal output.
// A Normalizer is not safe for concurrent use.
type Normalizer interface {
	Push(native []byte) []agjson.Event
	Flush() []agjson.Event // once, last (SPEC §5 INV-FLUSH)
}

// Host is what the host knows of the invoke. Where a field is empty, the engine derives it from what the framework says, or
// from a constant: equal input still yields equal output, but ids are then unique within the invoke only.
type Host struct {
	ThreadID string // SPEC §1 root of every entity
	TurnID   string // id of the first turn; later ones of the invoke derive from it
	Invoke   string // unique within the thread; the first turn is named after it when TurnID is empty
}

// Facet maps the frames of one framework. It owns an Engine and says everything through it.
type Facet interface {
	Base() *Engine
	// Frame maps one frame, a JSON object that is no host terminal. v and what it gives are valid for good, the Value
	// itself only until Frame returns.
	Frame(v agjson.Value)
	// End says what the facet still holds back, before the engine closes what is open (SPEC §8 item 14).
	End()
}

// HostTerminator is a Facet that maps what the host reports itself (SPEC §8.0 host obligation 1). A facet without it gets
// Engine.HostError.
type HostTerminator interface {
	HostTerminal(h HostError)
}

// maxDepth leaves room in agjson.MaxDepth for the event around a frame.
const maxDepth = agjson.MaxDepth - 20

// Run makes a Normalizer of a facet.
func Run(f Facet) *Runner {
	return &Runner{facet: f, engine: f.Base(), parser: agjson.Parser{Depth: maxDepth}}
}

// Runner is the Normalizer around a facet: it parses, recovers and drains. Not safe for concurrent use.
type Runner struct {
	facet   Facet
	engine  *Engine
	parser  agjson.Parser
	flushed bool
}

// Push maps one native frame. Blank input yields nothing. A frame after Flush leaves as ext.<vendor>.unparsed.
func (r *Runner) Push(native []byte) []agjson.Event {
	if native = bytes.TrimSpace(native); len(native) == 0 {
		return nil
	}
	native = own(native)
	r.guard(native, func() { r.frame(native) })
	return r.engine.Drain()
}

// Flush ends the invoke. A second call yields nothing.
func (r *Runner) Flush() []agjson.Event {
	if r.flushed {
		return nil
	}
	r.guard(nil, r.facet.End)
	r.engine.Flush()
	r.flushed = true
	return r.engine.Drain()
}

// Stats counts what happened so far.
func (r *Runner) Stats() Stats { return r.engine.stats }

// own copies native, so that events may alias it, and makes it one line, so that they stay one.
func own(native []byte) []byte {
	if bytes.IndexByte(native, '\n') >= 0 {
		var line bytes.Buffer
		if json.Compact(&line, native) == nil {
			return line.Bytes()
		}
	}
	return bytes.Clone(native)
}

func (r *Runner) frame(native []byte) {
	e := r.engine
	v, err := r.parser.Parse(native)
	switch {
	case err != nil:
		e.unparsedText("not-json", native)
	case r.flushed:
		e.unparsed("after-flush", native)
	case v.Kind() != agjson.KindObject:
		e.unparsed("", native)
	case v.Get("type").Str() == hostErrorType:
		h := decodeHostError(v)
		if t, ok := r.facet.(HostTerminator); ok {
			t.HostTerminal(h)
		} else {
			e.HostError(h)
		}
	default:
		r.facet.Frame(v)
	}
}

// guard is the one place where a facet's panic ends: it is our fault, and shows in the stream as what it cost.
func (r *Runner) guard(native []byte, f func()) {
	defer func() {
		if recover() == nil {
			return
		}
		e := r.engine
		e.stats.Panics++
		if native == nil {
			native = []byte("null")
		}
		e.unparsed("panic", native)
	}()
	f()
}

// Stats are counts over one Normalizer.
type Stats struct {
	Events   int // emitted
	Unparsed int // of them, ext.<vendor>.unparsed
	Refused  int // of them, ext.<vendor>.refused
	Panics   int // recovered in the facet; each is also Unparsed
}
