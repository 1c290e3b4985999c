package reducer

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// idIndex finds blocks by an id that several may have: the id inside a data block, the toolCallId. Entries of blocks that
// are gone, or go by other ids now, are passed over and dropped when they are met, so that each costs O(1) in all.
type idIndex map[string]idList

// idList is the entries of one id, oldest first; mostly there is one.
type idList struct {
	first idEntry
	more  []idEntry
}

type idEntry struct {
	b      *block
	serial uint64 // of the block, when it was entered
}

func (e idEntry) live() bool { return e.b.serial == e.serial }

// add enters the block under a key that it keeps.
func (x *idIndex) add(key string, b *block) {
	if *x == nil {
		*x = idIndex{}
	}
	e := idEntry{b, b.serial}
	list, ok := (*x)[key]
	switch n := len(list.more); {
	case !ok || n == 0 && list.first.b == b:
		list.first = e
	case n > 0 && list.more[n-1].b == b:
		list.more[n-1] = e
	default:
		list.more = append(list.more, e)
	}
	(*x)[key] = list
}

// newest is the block that got the id last, or nil.
func (x idIndex) newest(key string) *block {
	list, ok := x[key]
	if !ok {
		return nil
	}
	n := len(list.more)
	for n > 0 && !list.more[n-1].live() {
		n--
		list.more[n] = idEntry{}
	}
	if n < len(list.more) {
		list.more = list.more[:n]
		x[key] = list
	}
	switch {
	case n > 0:
		return list.more[n-1].b
	case list.first.live():
		return list.first.b
	}
	delete(x, key)
	return nil
}

// oldest is the block that has had the id longest, or nil.
func (x idIndex) oldest(key string) *block {
	list, ok := x[key]
	if !ok {
		return nil
	}
	changed := false
	for !list.first.live() {
		if len(list.more) == 0 {
			delete(x, key)
			return nil
		}
		list.first, list.more = list.more[0], list.more[1:]
		changed = true
	}
	if changed {
		x[key] = list
	}
	return list.first.b
}

// find is the block that an event's id names: as its own id, else as the id inside a data block.
func (s *Structure) find(id string) *block {
	if b := s.blocks[id]; b != nil {
		return b
	}
	return s.alts.newest(id)
}

// sameBlock is the block that has the identity of v already: the event's id, else the data block's, else the call's.
func (s *Structure) sameBlock(id string, v agjson.Block) *block {
	if id != "" {
		return s.find(id)
	}
	switch v := v.(type) {
	case *agjson.DataBlock:
		if v.ID != nil {
			return s.find(*v.ID)
		}
	case *agjson.ToolCallBlock:
		return s.calls.newest(v.ToolCallID)
	}
	return nil
}

// identify notes under which ids a whole block is found.
func (s *Structure) identify(b *block, id string, v agjson.Block) {
	b.kind, b.sealed, b.old, b.id, b.alt, b.call = atomicBlock, false, false, strings.Clone(id), "", ""
	switch v := v.(type) {
	case *agjson.DataBlock:
		if v.ID != nil {
			b.alt = strings.Clone(*v.ID)
		}
	case *agjson.ToolCallBlock:
		b.kind, b.call = callBlock, strings.Clone(v.ToolCallID)
	case *agjson.ToolResultBlock:
		b.kind, b.call = resultBlock, strings.Clone(v.ToolCallID)
		b.old = b.msg.seal == restored
		s.wait(b, v.Preliminary != nil && *v.Preliminary)
	}
	if b.id != "" {
		s.blocks[b.id] = b
	}
	s.enter(b)
}

// enter makes the block found by the ids that it has beside its own, and released with its message.
func (s *Structure) enter(b *block) {
	s.serial++
	b.serial = s.serial
	if b.alt != "" {
		s.alts.add(b.alt, b)
	}
	switch b.kind {
	case callBlock:
		s.calls.add(b.call, b)
	case resultBlock:
		s.results.add(b.call, b)
	}
	if !b.noted && (b.id != "" || b.alt != "" || b.kind != atomicBlock) {
		b.noted = true
		if b.msg.nodes == nil {
			b.msg.nodes = b.msg.node[:0]
		}
		b.msg.nodes = append(b.msg.nodes, b)
	}
}

// release frees the ids that lead to the block.
func (s *Structure) release(b *block) {
	if s.lastBlock == b {
		s.lastBlock = nil
	}
	if s.blocks[b.id] == b {
		delete(s.blocks, b.id)
	}
	b.serial = 0
	s.alts.newest(b.alt)
	switch b.kind {
	case callBlock:
		s.calls.newest(b.call)
	case resultBlock:
		s.results.newest(b.call)
	}
}
