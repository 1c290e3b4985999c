package agjson

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
