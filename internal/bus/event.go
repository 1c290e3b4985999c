package bus

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agwire/agwire/internal/subject"
)

// EventHeader is what the log says about one message of events. The events
// themselves are NDJSON in the body, with seq re-stamped to the ordinal.
type EventHeader struct {
	Thread string

	// Epoch of the thread's ordinals. It is the writer's to stamp when the
	// message holds ordinal 0, which begins an epoch: leave it zero then.
	Epoch Epoch
	First int64 // ordinal of the first event
	Count int64 // number of events; 0 for a message that only reports progress

	Invoke string // whose frames are reflected; "" = none
	Turn   string // id that the invoke's turn has in the thread; "" with no invoke
	Frame  int64  // index of the last frame of Invoke reflected; -1 = none
	Next   int64  // the invoke's next own seq, per invoke from 0
	Closed bool   // the invoke is over with this message

	FrameSeq uint64 // sequence in the frames stream of the last message reflected
	Opened   uint64 // sequence in the frames stream of the invoke's first frame
	Digest   string // running digest of the invoke's output up to here
	Term     uint64 // of the owner who wrote it; the writer stamps it
}

// Last is the ordinal of the last event; First-1 when there is none.
func (h EventHeader) Last() int64 { return h.First + h.Count - 1 }

// Cursor is the position behind this message.
func (h EventHeader) Cursor() Cursor { return Cursor{Epoch: h.Epoch, Ordinal: h.Last()} }

// Starts tells whether the message begins an epoch.
func (h EventHeader) Starts() bool { return h.First == 0 && h.Count > 0 }

// EventMessage is one message of the event log, put together from its chunks.
type EventMessage struct {
	EventHeader
	StreamSeq uint64    // sequence of its last chunk: go on after it
	FirstSeq  uint64    // sequence of its first chunk
	PrevSeq   uint64    // previous message of the thread; live messages only
	Time      time.Time // when the broker stored it
	Body      []byte    // NDJSON; aliases what was received: do not change

	// Err is set on a message that is no event message: an ErrPoison.
	Err error
}

// header writes an event message's headers.
func (h EventHeader) header() nats.Header {
	n := make(nats.Header, 12)
	n[HeaderEpoch] = []string{h.Epoch.String()}
	setInt(n, HeaderFirst, h.First)
	setInt(n, HeaderCount, h.Count)
	if h.Invoke != "" {
		setID(n, HeaderInvoke, h.Invoke)
		setID(n, HeaderTurn, h.Turn)
		setInt(n, HeaderFrame, h.Frame)
		setInt(n, HeaderNext, h.Next)
		setUint(n, HeaderOpened, h.Opened)
		setID(n, HeaderDigest, h.Digest)
		if h.Closed {
			n[HeaderClosed] = []string{"1"}
		}
	}
	setUint(n, HeaderFrameSeq, h.FrameSeq)
	setUint(n, HeaderTerm, h.Term)
	return n
}

// validate refuses what a reader could not make sense of.
func (h EventHeader) validate() error {
	if err := subject.CheckID(h.Thread); err != nil {
		return fmt.Errorf("%w: thread: %w", ErrPoison, err)
	}
	if h.Invoke != "" {
		if err := subject.CheckID(h.Invoke); err != nil {
			return fmt.Errorf("%w: invoke: %w", ErrPoison, err)
		}
	}
	switch {
	case h.First < 0, h.Count < 0, h.Frame < -1, h.Next < 0:
		return fmt.Errorf("%w: event header: negative number", ErrPoison)
	case h.Starts() != h.Epoch.IsZero():
		return fmt.Errorf("%w: event header: an epoch is given exactly when ordinal 0 is not in the message", ErrPoison)
	case len(h.Digest) > subject.MaxID:
		return fmt.Errorf("%w: event header: digest", ErrPoison)
	}
	return nil
}

// decodeEvent reads a message of the events stream, or its live copy.
func (b *Bus) decodeEvent(m stored) EventMessage {
	e := EventMessage{StreamSeq: m.seq, FirstSeq: m.first, PrevSeq: m.prev, Time: m.time, Body: m.data}
	e.Frame = -1
	p, err := b.names.Parse(m.subject)
	if err != nil || p.Kind != subject.KindEvent && p.Kind != subject.KindLive {
		e.Err = fmt.Errorf("%w: not the subject of an event message", ErrPoison)
		return e
	}
	f := fields{h: m.header}
	e.Thread = p.Thread
	for _, key := range []string{HeaderEpoch, HeaderFirst, HeaderCount} {
		if !f.has(key) {
			f.fail(key, "missing")
		}
	}
	if e.Epoch, err = ParseEpoch(get(m.header, HeaderEpoch)); err != nil {
		f.fail(HeaderEpoch, "malformed")
	}
	e.First, e.Count = f.int(HeaderFirst, 0, 0), f.int(HeaderCount, 0, 0)
	e.Invoke, e.Turn = f.id(HeaderInvoke), f.id(HeaderTurn)
	e.Frame, e.Next = f.int(HeaderFrame, -1, -1), f.int(HeaderNext, 0, 0)
	e.FrameSeq, e.Opened, e.Term = f.uint(HeaderFrameSeq), f.uint(HeaderOpened), f.uint(HeaderTerm)
	e.Digest, e.Closed = f.id(HeaderDigest), f.has(HeaderClosed)
	e.Err = f.err
	return e
}
