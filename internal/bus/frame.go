package bus

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agwire/agwire/internal/subject"
)

// FrameKind says what a message of the frames stream is.
type FrameKind int

// The kinds of frame.
const (
	KindFrame FrameKind = iota // a native frame, verbatim
	KindEnd                    // the end of an invoke
	KindInput                  // an input of the thread
)

// String is the kind as headers and metrics spell it.
func (k FrameKind) String() string {
	switch k {
	case KindFrame:
		return "frame"
	case KindEnd:
		return "end"
	case KindInput:
		return "input"
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// InvokeStart is what the first frame of an invoke carries. Empty fields are
// not written; each has at most 256 bytes.
type InvokeStart struct {
	Source string // framework of the native frames, "claude"
	Turn   string // id of the turn that the host wants
	Mapper string // mapper choice
	Trace  string // W3C traceparent
}

// validate keeps the headers within their room.
func (s InvokeStart) validate() error {
	for _, v := range []string{s.Source, s.Turn, s.Mapper, s.Trace} {
		if len(v) > subject.MaxID {
			return fmt.Errorf("%w: %d bytes in a field of an invoke's start", ErrPoison, len(v))
		}
	}
	return nil
}

// EndReason says why an invoke ended.
type EndReason string

// The reasons.
const (
	EndDone      EndReason = "done"      // the producer said so, with an exit status
	EndTruncated EndReason = "truncated" // the producer went away
	EndIdle      EndReason = "idle"      // silent for longer than allowed
	EndCancel    EndReason = "cancel"    // somebody stopped it
)

func (r EndReason) valid() bool {
	switch r {
	case EndDone, EndTruncated, EndIdle, EndCancel:
		return true
	}
	return false
}

// End is the end of an invoke. Flush happens there and nowhere else (SPEC §5
// INV-FLUSH).
type End struct {
	Reason EndReason
	Exit   int // exit status of a process; 0 for what is none
}

// Frame is one message of a frames stream, put together from its chunks.
type Frame struct {
	Kind   FrameKind
	Thread string
	Invoke string // "" for inputs

	// Index is the frame's place in its invoke, from 0; -1 for inputs. Many
	// writers send frames: take only the next index of an invoke and skip
	// others. An end's index is the number of frames before it, so an end
	// that more frames preceded is void by the same rule, and a native frame
	// at or beyond an end's index is late.
	Index int64

	Start InvokeStart // set on index 0
	End   End         // set on KindEnd
	Input string      // id of an input, "" if it has none

	First uint64    // stream sequence of the first chunk
	Seq   uint64    // stream sequence of the last chunk: go on after it
	Time  time.Time // when the broker stored it
	Body  []byte    // verbatim; the receiver's own

	// Err is set on a message of the stream that is no frame, which only a
	// foreign writer can have put there: an ErrPoison. Then Thread, Seq and
	// Body are set as far as they could be read.
	Err error

	floor floor
}

// floor is what a frame's sender knew: frames 0 to next-1 are stored, in
// ascending order, at or before stream sequence seq.
type floor struct {
	next int64
	seq  uint64
}

func (f floor) String() string {
	return strconv.FormatInt(f.next, 10) + ":" + strconv.FormatUint(f.seq, 10)
}

func parseFloor(s string) (floor, bool) {
	var f floor
	if s == "" {
		return f, true
	}
	n, err := fmt.Sscanf(s, "%d:%d", &f.next, &f.seq)
	return f, err == nil && n == 2 && f.next >= 0
}

// header writes a frame's headers.
func (f *Frame) header() nats.Header {
	h := make(nats.Header, 4)
	if f.Kind == KindInput {
		h[HeaderKind] = []string{"input"}
		setID(h, HeaderInput, f.Input)
		return h
	}
	setInt(h, HeaderIndex, f.Index)
	if f.Kind == KindEnd {
		h[HeaderKind] = []string{"end"}
		h[HeaderEnd] = []string{string(f.End.Reason)}
		setInt(h, HeaderExit, int64(f.End.Exit))
	}
	if f.Index == 0 {
		setID(h, HeaderSource, f.Start.Source)
		setID(h, HeaderTurn, f.Start.Turn)
		setID(h, HeaderMapper, f.Start.Mapper)
		setID(h, HeaderTrace, f.Start.Trace)
	}
	if f.floor.next > 0 {
		h[HeaderFloor] = []string{f.floor.String()}
	}
	return h
}

// decodeFrame reads a message of the frames stream.
func (b *Bus) decodeFrame(m stored) Frame {
	f := Frame{Index: -1, First: m.first, Seq: m.seq, Time: m.time, Body: m.data}
	p, err := b.names.Parse(m.subject)
	if err != nil {
		f.Err = fmt.Errorf("%w: subject: %w", ErrPoison, err)
		return f
	}
	f.Thread, f.Invoke = p.Thread, p.Invoke
	h := fields{h: m.header}
	if p.Kind == subject.KindInput {
		f.Kind, f.Input = KindInput, h.id(HeaderInput)
		f.Err = h.err
		return f
	}
	switch get(m.header, HeaderKind) {
	case "":
		f.Kind = KindFrame
	case "end":
		f.Kind = KindEnd
		f.End = End{Reason: EndReason(get(m.header, HeaderEnd)), Exit: int(h.int(HeaderExit, -1<<31, 0))}
		if !f.End.Reason.valid() {
			h.fail(HeaderEnd, "not a reason")
		}
	default:
		h.fail(HeaderKind, "not a kind")
	}
	if !h.has(HeaderIndex) {
		h.fail(HeaderIndex, "missing")
	}
	f.Index = h.int(HeaderIndex, 0, -1)
	if f.Index == 0 {
		f.Start = InvokeStart{
			Source: h.id(HeaderSource), Turn: h.id(HeaderTurn), Mapper: h.id(HeaderMapper), Trace: h.id(HeaderTrace),
		}
	}
	var ok bool
	if f.floor, ok = parseFloor(get(m.header, HeaderFloor)); !ok {
		h.fail(HeaderFloor, "malformed")
	}
	f.Err = h.err
	return f
}
