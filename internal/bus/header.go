package bus

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/agwire/agwire/internal/subject"
)

// Headers of the frames stream. Ids and names are written as subject tokens
// are (subject.Escape); numbers are decimal.
const (
	HeaderKind   = "Agw-Kind"    // "end", "input"; absent = a native frame
	HeaderIndex  = "Agw-Index"   // of the frame in its invoke, from 0
	HeaderFloor  = "Agw-Floor"   // "<next index>:<stream seq>" known stored when this was sent
	HeaderSource = "Agw-Source"  // framework; on index 0
	HeaderTurn   = "Agw-Turn"    // turn id the host wants, on index 0; on events, the one it got
	HeaderMapper = "Agw-Mapper"  // mapper choice; on index 0
	HeaderTrace  = "traceparent" // W3C trace context; on index 0
	HeaderEnd    = "Agw-End"     // reason of an end frame
	HeaderExit   = "Agw-Exit"    // exit status of an end frame
	HeaderInput  = "Agw-Input"   // id of an input
)

// Headers of the events stream.
const (
	HeaderEpoch    = "Agw-Epoch"     // of the thread's ordinals
	HeaderFirst    = "Agw-First"     // ordinal of the first event
	HeaderCount    = "Agw-Count"     // number of events, 0 allowed
	HeaderInvoke   = "Agw-Invoke"    // whose frames are reflected; absent = none
	HeaderFrame    = "Agw-Frame"     // index of the last frame reflected
	HeaderNext     = "Agw-Next"      // the invoke's next own seq
	HeaderFrameSeq = "Agw-Frame-Seq" // frames-stream sequence reflected
	HeaderOpened   = "Agw-Opened"    // frames-stream sequence of the invoke's first frame
	HeaderDigest   = "Agw-Digest"    // running digest of the invoke's output
	HeaderClosed   = "Agw-Closed"    // "1": the invoke ends with this message
	HeaderTerm     = "Agw-Term"      // of the owner who wrote it
	HeaderClaim    = "Agw-Claim"     // id of a claim
	HeaderOwner    = "Agw-Owner"     // who claims
	HeaderWindow   = "Agw-Window"    // the claimant's window
	HeaderTail     = "Agw-Tail"      // stream sequence that a claim follows
	HeaderCovers   = "Agw-Covers"    // stream sequence up to which a checkpoint speaks
)

// HeaderChunk is "<i>/<n>", i from 0, on each message of a set that stands for
// one message; both streams have it.
const HeaderChunk = "Agw-Chunk"

// Headers of the server that this package reads or writes.
const (
	natsExpectedLastSeq = "Nats-Expected-Last-Sequence"
	natsBatchID         = "Nats-Batch-Id"
	natsBatchSeq        = "Nats-Batch-Sequence"
	natsBatchCommit     = "Nats-Batch-Commit"
	natsSubject         = "Nats-Subject"
	natsSequence        = "Nats-Sequence"
	natsLastSequence    = "Nats-Last-Sequence"
	natsTimeStamp       = "Nats-Time-Stamp"
	natsNumPending      = "Nats-Num-Pending"
	natsStatus          = "Status"
)

// get is the header's value by its exact spelling.
func get(h nats.Header, key string) string {
	if v := h[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func setInt(h nats.Header, key string, n int64) { h[key] = []string{strconv.FormatInt(n, 10)} }

func setUint(h nats.Header, key string, n uint64) { h[key] = []string{strconv.FormatUint(n, 10)} }

// setID writes s escaped, and nothing when it is empty.
func setID(h nats.Header, key, s string) {
	if s != "" {
		h[key] = []string{subject.Escape(s)}
	}
}

// fields reads typed headers and keeps the first error.
type fields struct {
	h   nats.Header
	err error
}

func (f *fields) fail(key, what string) {
	if f.err == nil {
		f.err = fmt.Errorf("%w: header %s: %s", ErrPoison, key, what)
	}
}

func (f *fields) has(key string) bool { return len(f.h[key]) > 0 }

// int reads a number of at least low; a missing one is the default.
func (f *fields) int(key string, low, missing int64) int64 {
	v := get(f.h, key)
	if v == "" {
		return missing
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < low {
		f.fail(key, "not a number in range")
	}
	return n
}

func (f *fields) uint(key string) uint64 {
	v := get(f.h, key)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		f.fail(key, "not a number in range")
	}
	return n
}

func (f *fields) id(key string) string {
	s, err := subject.Unescape(get(f.h, key))
	if err != nil {
		f.fail(key, "not escaped")
	}
	return s
}

// chunkOf reads HeaderChunk; n is 1 for a message that is whole.
func chunkOf(h nats.Header) (i, n int, err error) {
	v := get(h, HeaderChunk)
	if v == "" {
		return 0, 1, nil
	}
	a, b, _ := strings.Cut(v, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || i < 0 || n < 2 || n > maxBatch || i >= n {
		return 0, 0, fmt.Errorf("%w: header %s", ErrPoison, HeaderChunk)
	}
	return i, n, nil
}
