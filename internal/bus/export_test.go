package bus

import (
	"github.com/nats-io/nats.go"

	"github.com/agwire/agwire/internal/subject"
)

// What only tests reach from outside the package.

// Assign is assign.
var Assign = assign

// EncodeEvent writes the headers of an event message.
func EncodeEvent(h EventHeader) nats.Header { return h.header() }

// DecodeEvent reads an event message.
func DecodeEvent(n subject.Names, subj string, h nats.Header, data []byte) EventMessage {
	return (&Bus{names: n}).decodeEvent(stored{subject: subj, header: h, data: data})
}

// EncodeFrame writes the headers of a frame.
func EncodeFrame(f Frame) nats.Header { return f.header() }

// DecodeFrame reads a frame.
func DecodeFrame(n subject.Names, subj string, h nats.Header, data []byte) Frame {
	return (&Bus{names: n}).decodeFrame(stored{subject: subj, header: h, data: data})
}

// Assemble feeds messages, given by sequence and chunk header, all of subject
// "s", and returns the sequences at which one was whole, and how many chunks
// were dropped.
func Assemble(msgs []struct {
	Seq   uint64
	Chunk string
}) (whole []uint64, dropped int) {
	var a assembler
	for _, m := range msgs {
		h := nats.Header{}
		if m.Chunk != "" {
			h[HeaderChunk] = []string{m.Chunk}
		}
		if w, ok := a.add(stored{subject: "s", seq: m.Seq, header: h}); ok {
			whole = append(whole, w.seq)
		}
	}
	return whole, a.dropped
}
