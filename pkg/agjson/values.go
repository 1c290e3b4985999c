package agjson

import "bytes"

// The functions of this file read and write the values that events fold into (SPEC §2, §5), as Decode and AppendEvent do
// for events: the value aliases data, which must not change afterwards; unknown members are kept; an error is an
// ErrMalformed. Safe for concurrent use.

func decodeValue[T any](schema string, data []byte, f func(*decoder, *T) error) (v T, err error) {
	d := newDecoder(schema, data)
	defer d.free()
	if err = d.whole(func() error { return f(d, &v) }); err != nil {
		var zero T
		return zero, err
	}
	return v, nil
}

// DecodeReduceResult reads an AgReduceResult.
func DecodeReduceResult(data []byte) (ReduceResult, error) {
	return decodeValue("AgReduceResult", data, decodeReduceResult)
}

// AppendReduceResult appends v as JSON to dst and returns the longer slice.
func AppendReduceResult(dst []byte, v *ReduceResult) []byte { return appendReduceResult(dst, v) }

// DecodeMessage reads an AgMessage.
func DecodeMessage(data []byte) (Message, error) {
	return decodeValue("AgMessage", data, decodeMessage)
}

// AppendMessage appends v as JSON to dst and returns the longer slice.
func AppendMessage(dst []byte, v *Message) []byte { return appendMessage(dst, v) }

// DecodeTurnRecord reads an AgTurnRecord.
func DecodeTurnRecord(data []byte) (TurnRecord, error) {
	return decodeValue("AgTurnRecord", data, decodeTurnRecord)
}

// AppendTurnRecord appends v as JSON to dst and returns the longer slice.
func AppendTurnRecord(dst []byte, v *TurnRecord) []byte { return appendTurnRecord(dst, v) }

// DecodeArtifact reads an AgArtifact.
func DecodeArtifact(data []byte) (Artifact, error) {
	return decodeValue("AgArtifact", data, decodeArtifact)
}

// AppendArtifact appends v as JSON to dst and returns the longer slice.
func AppendArtifact(dst []byte, v *Artifact) []byte { return appendArtifact(dst, v) }

// DecodeMemoryRecord reads an AgMemoryRecord.
func DecodeMemoryRecord(data []byte) (MemoryRecord, error) {
	return decodeValue("AgMemoryRecord", data, decodeMemoryRecord)
}

// AppendMemoryRecord appends v as JSON to dst and returns the longer slice.
func AppendMemoryRecord(dst []byte, v *MemoryRecord) []byte { return appendMemoryRecord(dst, v) }

// DecodeBlock reads an AgBlock; an unknown kind becomes *UnknownBlock.
func DecodeBlock(data []byte) (Block, error) { return decodeValue("AgBlock", data, decodeBlock) }

// AppendBlock appends v as JSON to dst and returns the longer slice.
func AppendBlock(dst []byte, v Block) []byte { return appendBlock(dst, &v) }

// Decoder decodes events one after another, deltas without allocating: of text.delta, reasoning.delta, tool.args.delta and
// reasoning.opaque.delta the event is good until the next Decode, or until data changes. Any other event stays good; it
// has a copy of data to itself. The zero Decoder is ready. Not safe for concurrent use.
type Decoder struct {
	text      TextDelta
	reasoning ReasoningDelta
	args      ToolArgsDelta
	opaque    ReasoningOpaqueDelta
}

// Decode is the function Decode with a delta's body used again.
func (x *Decoder) Decode(data []byte) (Event, error) {
	d := newDecoder("AgEvent", data)
	err := d.tooLong()
	var ev Event
	if err == nil {
		err = d.end(x.event(d, &ev))
	}
	d.free()
	if err != nil {
		return Event{}, err
	}
	return ev, nil
}

func (x *Decoder) event(d *decoder, v *Event) error {
	start := d.scanner
	kind, first, err := d.kind("type", false)
	if err != nil {
		return err
	}
	switch kind {
	case "text.delta":
		x.text = TextDelta{}
		v.Body = &x.text
	case "reasoning.delta":
		x.reasoning = ReasoningDelta{}
		v.Body = &x.reasoning
	case "tool.args.delta":
		x.args = ToolArgsDelta{}
		v.Body = &x.args
	case "reasoning.opaque.delta":
		x.opaque = ReasoningOpaqueDelta{}
		v.Body = &x.opaque
	default:
		d.scanner = start
		d.b = bytes.Clone(d.b)
		return decodeEvent(d, v)
	}
	return d.event(first, v)
}
