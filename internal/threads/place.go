package threads

import (
	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
)

// Mark is a place in the events stream of an incarnation as the bus spells it.
func Mark(incarnation int64, seq uint64) snapshot.Mark {
	return snapshot.Mark{Incarnation: uint64(max(incarnation, 0)), Sequence: seq}
}

// Incarnation reverses Mark: the events stream's, as the bus spells it; 0 for the zero Mark.
func Incarnation(m snapshot.Mark) int64 { return int64(m.Incarnation) }

// VersionOf is the fold of an epoch up to a sequence of the events stream.
func VersionOf(e bus.Epoch, seq uint64) snapshot.Version {
	return snapshot.Version{Incarnation: uint64(max(e.Incarnation, 0)), First: e.Seq, Sequence: seq}
}

// EpochOf reverses VersionOf.
func EpochOf(v snapshot.Version) bus.Epoch {
	return bus.Epoch{Incarnation: int64(v.Incarnation), Seq: v.First}
}
