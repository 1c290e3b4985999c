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
