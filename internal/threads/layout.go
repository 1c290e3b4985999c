package threads

import (
	"bytes"
	"fmt"

	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// fieldSet gathers fields.
type fieldSet struct {
	set  map[snapshot.Field]snapshot.Value
	gone []snapshot.Field
}

// one sets a part of which there is one; nothing means that it is not stored.
func (s *fieldSet) one(f snapshot.Field, data []byte) {
	if len(data) == 0 {
		s.gone = append(s.gone, f)
		return
	}
	s.set[f] = snapshot.Value{Data: data}
}

func setParts[T any](s *fieldSet, list []reducer.Ranked[T], name func(*T) snapshot.Field, encode func([]byte, *T) []byte) {
	for i := range list {
		s.set[name(&list[i].Value)] = snapshot.Value{Order: list[i].Order, Data: encode(nil, &list[i].Value)}
	}
}

func messageField(v *agjson.Message) snapshot.Field   { return snapshot.Message(v.ID) }
func turnField(v *agjson.TurnRecord) snapshot.Field   { return snapshot.Turn(v.TurnID) }
func artifactField(v *agjson.Artifact) snapshot.Field { return snapshot.Artifact(v.ArtifactID) }

// wholeFields are all fields of a fold.
func wholeFields(r *reducer.Snapshot) map[snapshot.Field]snapshot.Value {
	s := fieldSet{set: make(map[snapshot.Field]snapshot.Value, len(r.Messages)+len(r.Turns)+len(r.Artifacts)+4)}
	setParts(&s, r.Messages, messageField, agjson.AppendMessage)
	setParts(&s, r.Turns, turnField, agjson.AppendTurnRecord)
	setParts(&s, r.Artifacts, artifactField, agjson.AppendArtifact)
	s.one(snapshot.Memory, appendMemory(nil, r.Memory))
	s.one(snapshot.State, bytes.Clone(r.State))
	s.one(snapshot.Live, appendEvents(nil, r.Live))
	s.one(snapshot.Open, appendEvents(nil, r.Open))
	return s.set
}

// changedFields are the fields that have changed, and those that are gone.
func changedFields(c *reducer.Changes) (map[snapshot.Field]snapshot.Value, []snapshot.Field) {
	s := fieldSet{set: make(map[snapshot.Field]snapshot.Value, len(c.Messages)+len(c.Turns)+len(c.Artifacts)+4)}
	setParts(&s, c.Messages, messageField, agjson.AppendMessage)
	setParts(&s, c.Turns, turnField, agjson.AppendTurnRecord)
	setParts(&s, c.Artifacts, artifactField, agjson.AppendArtifact)
	for _, id := range c.RemovedMessages {
		s.gone = append(s.gone, snapshot.Message(id))
	}
	for _, id := range c.RemovedTurns {
		s.gone = append(s.gone, snapshot.Turn(id))
	}
	for _, id := range c.RemovedArtifacts {
		s.gone = append(s.gone, snapshot.Artifact(id))
	}
	if c.MemoryChanged {
		s.one(snapshot.Memory, appendMemory(nil, c.Memory))
	}
	if c.StateChanged {
		s.one(snapshot.State, bytes.Clone(c.State))
	}
	if c.LiveChanged {
		s.one(snapshot.Live, appendEvents(nil, c.Live))
	}
	if c.OpenChanged {
		s.one(snapshot.Open, appendEvents(nil, c.Open))
	}
	return s.set, s.gone
}

// appendMemory writes the records of scope thread as one line, and each other as the event that restores it.
func appendMemory(dst []byte, list []agjson.MemoryRecord) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, '[')
	n := len(dst)
	for i := range list {
		if list[i].Scope == agjson.MemoryScopeThread {
			if len(dst) > n {
				dst = append(dst, ',')
			}
			dst = agjson.AppendMemoryRecord(dst, &list[i])
		}
	}
	dst = append(dst, "]\n"...)
	for i := range list {
		if m := &list[i]; m.Scope != agjson.MemoryScopeThread {
			ev := agjson.Event{Body: &agjson.MemoryWrite{Scope: m.Scope, Key: m.Key, Value: m.Value, Reason: m.Reason, Durable: m.Durable}}
			if m.TurnID != nil {
				ev.TurnID = *m.TurnID
			}
			dst = append(agjson.AppendEvent(dst, &ev), '\n')
		}
	}
	return dst
}

// splitMemory is the list of the records of scope thread, and the lines of the others.
func splitMemory(data []byte) (list, others []byte) {
	if len(data) == 0 {
		return []byte("[]"), nil
	}
	list, others, _ = bytes.Cut(data, []byte("\n"))
	return list, others
}

func appendEvents(dst []byte, list []agjson.Event) []byte {
	for i := range list {
		dst = append(agjson.AppendEvent(dst, &list[i]), '\n')
	}
	return dst
}

// decodeSnapshot reads what is stored, and says how large it is.
func decodeSnapshot(s *snapshot.Snapshot) (rs reducer.Snapshot, size int64, err error) {
	rs.Seq = s.Position.Ordinal
	if rs.Messages, err = decodeParts("message", s.Messages, &size, agjson.DecodeMessage); err != nil {
		return rs, 0, err
	}
	if rs.Turns, err = decodeParts("turn", s.Turns, &size, agjson.DecodeTurnRecord); err != nil {
		return rs, 0, err
	}
	if rs.Artifacts, err = decodeParts("artifact", s.Artifacts, &size, agjson.DecodeArtifact); err != nil {
		return rs, 0, err
	}
	if rs.Memory, err = decodeMemory(s.Memory); err != nil {
		return rs, 0, fmt.Errorf("memory: %w", err)
	}
	if rs.Live, err = decodeEvents(s.Live); err != nil {
		return rs, 0, fmt.Errorf("live: %w", err)
	}
	if rs.Open, err = decodeEvents(s.Open); err != nil {
		return rs, 0, fmt.Errorf("open: %w", err)
	}
	rs.State = s.State
	return rs, size + int64(len(s.Memory)+len(s.State)+len(s.Live)+len(s.Open)), nil
}

func decodeParts[T any](what string, items []snapshot.Item, size *int64, decode func([]byte) (T, error)) ([]reducer.Ranked[T], error) {
	out := make([]reducer.Ranked[T], len(items))
	for i, it := range items {
		v, err := decode(it.Data)
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", what, i, err)
		}
		out[i] = reducer.Ranked[T]{Order: it.Order, Value: v}
		*size += int64(len(it.Data))
	}
	return out, nil
}

func decodeMemory(data []byte) ([]agjson.MemoryRecord, error) {
	list, others := splitMemory(data)
	var records []agjson.MemoryRecord
	v, err := agjson.ParseValue(list)
	if err != nil {
		return nil, err
	}
	for _, item := range v.Items {
		rec, err := agjson.DecodeMemoryRecord(item.Raw())
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	events, err := decodeEvents(others)
	if err != nil {
		return nil, err
	}
	for i := range events {
		b, ok := events[i].Body.(*agjson.MemoryWrite)
		if !ok {
			return nil, fmt.Errorf("a line is a %s", events[i].Body.Type())
		}
		rec := agjson.MemoryRecord{Scope: b.Scope, Key: b.Key, Value: b.Value, Reason: b.Reason, Durable: b.Durable}
		if events[i].TurnID != "" {
			rec.TurnID = &events[i].TurnID
		}
		records = append(records, rec)
	}
	return records, nil
}

func decodeEvents(data []byte) ([]agjson.Event, error) {
	var events []agjson.Event
	err := agjson.EachLine(data, func(line []byte) error {
		ev, err := agjson.Decode(line)
		events = append(events, ev)
		return err
	})
	return events, err
}
