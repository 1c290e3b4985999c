package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

// Field names one part of a stored thread. Fields are made by [Message], [Turn] and [Artifact], or are one of the constants.
type Field string

// The parts of which a thread has one.
const (
	Memory Field = "memory" // memory, all scopes
	State  Field = "state"  // the state document
	Live   Field = "live"   // what is live-only but still true: unanswered asks, surfaces not ended
	Open   Field = "open"   // the compacted events since the boundary
)

const (
	fieldPosition  = "position"
	fieldTombstone = "tombstone"
	fieldVoid      = "void"
	prefixMessage  = "m:"
	prefixTurn     = "t:"
	prefixArtifact = "a:"
)

// Message is the field of the message with this id; ids are any bytes.
func Message(id string) Field { return Field(prefixMessage + id) }

// Turn is the field of the turn record with this id; ids are any bytes.
func Turn(id string) Field { return Field(prefixTurn + id) }

// Artifact is the field of the artifact with this id; ids are any bytes.
func Artifact(id string) Field { return Field(prefixArtifact + id) }

func (f Field) validate() error {
	switch s := string(f); {
	case f == Memory, f == State, f == Live, f == Open:
		return nil
	case strings.HasPrefix(s, prefixMessage), strings.HasPrefix(s, prefixTurn), strings.HasPrefix(s, prefixArtifact):
		return nil
	}
	return fmt.Errorf("field %.80q: no such part of a thread", string(f))
}

// Value is the content of a field. The store keeps Data byte for byte and does not look into it.
type Value struct {
	Order uint64 // place among the fields of its kind, ascending; equal orders are read back by id. Ignored for single parts
	Data  []byte // may be empty; not retained
}

// A stored value: version (1 byte), CRC-32C of name, order and data (4), order (8), data.
const (
	valueVersion = 1
	headerSize   = 1 + 4 + 8
)

func appendValue(dst []byte, table *crc32.Table, f Field, v Value) []byte {
	at := len(dst)
	dst = append(dst, valueVersion, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, v.Order)
	dst = append(dst, v.Data...)
	binary.BigEndian.PutUint32(dst[at+1:], checksum(table, string(f), dst[at+5:]))
	return dst
}

func parseValue(table *crc32.Table, name, s string) (Value, error) {
	if len(s) < headerSize || s[0] != valueVersion {
		return Value{}, errors.New("header")
	}
	b := []byte(s)
	if binary.BigEndian.Uint32(b[1:5]) != checksum(table, name, b[5:]) {
		return Value{}, errors.New("checksum")
	}
	return Value{Order: binary.BigEndian.Uint64(b[5:13]), Data: b[headerSize:len(b):len(b)]}, nil
}

func checksum(table *crc32.Table, name string, rest []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(name), table), table, rest)
}
