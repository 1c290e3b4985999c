package threads

import (
	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
)

// millisecond is one in the unit of snapshot incarnations; those of the bus are in milliseconds.
const millisecond = 1_000_000

// Mark is a place in the events stream of an incarnation as the bus spells it.
func Mark(incarnation int64, seq uint64) snapshot.Mark {
	return snapshot.Mark{Incarnation: uint64(max(incarnation, 0)) * millisecond, Sequence: seq}
}

// Incarnation reverses Mark: the events stream's, as the bus spells it; 0 for the zero Mark.
func Incarnation(m snapshot.Mark) int64 { return int64(m.Incarnation / millisecond) }

// VersionOf is the fold of an epoch up to a sequence of the events stream.
func VersionOf(e bus.Epoch, seq uint64) snapshot.Version {
	return snapshot.Version{Incarnation: uint64(max(e.Incarnation, 0)) * millisecond, First: e.Seq, Sequence: seq}
}

// EpochOf reverses VersionOf.
func EpochOf(v snapshot.Version) bus.Epoch {
	return bus.Epoch{Incarnation: int64(v.Incarnation / millisecond), Seq: v.First}
}
