package reducer

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
)

// exportVersion is the first byte of an export.
const exportVersion = 1

// ErrExport is every fault of a text that ImportStructure is given.
var ErrExport = errors.New("reducer: not an export of a structure")

// Export appends the structure to dst, whole, seals and ids included; ImportStructure reads it back. The form is this
// package's own and may change with its version, in which case ImportStructure refuses it.
func (s *Structure) Export(dst []byte) []byte {
	w := writer{b: append(dst, exportVersion)}
	w.int(s.last)
	w.str(s.parked)
	digest := s.firstDigest()
	w.b = append(w.b, digest[:]...)
	w.uint(s.count)
	at := make(map[*turn]int, len(s.order))
	w.uint(uint64(len(s.order)))
	for i, t := range s.order {
		at[t] = i
		w.str(t.id)
		w.str(t.parent)
		w.flags(t.nested, t.closed, t.paused)
		w.uint(t.order)
	}
	place := make(map[*message]int, len(s.msgs))
	w.uint(uint64(len(s.msgs)))
	for _, m := range s.all {
		if m != nil {
			place[m] = len(place)
			w.message(s, m, at)
		}
	}
	w.partitions(s, place)
	w.uint(uint64(len(s.artSeq)))
	for _, a := range s.artSeq {
		w.str(a.id)
		w.str(a.turn)
		w.str(a.last)
		w.flags(a.sealed)
		w.uint(a.order)
	}
	w.uint(uint64(len(s.memSeq)))
	for _, m := range s.memSeq {
		w.str(string(m.scope))
		w.str(m.key)
		w.str(alias(m.doc.Bytes()))
	}
	w.flags(s.state != nil)
	if s.state != nil {
		w.str(alias(s.state.Bytes()))
	}
	return w.b
}

type writer struct{ b []byte }

func (w *writer) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }
func (w *writer) int(v int64)   { w.b = binary.AppendVarint(w.b, v) }

func (w *writer) str(s string) {
	w.uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) flags(bits ...bool) {
	var v byte
	for i, b := range bits {
		if b {
			v |= 1 << i
		}
	}
	w.b = append(w.b, v)
}

func (w *writer) message(s *Structure, m *message, at map[*turn]int) {
	w.str(m.id)
	w.str(m.cand)
	w.b = append(w.b, byte(m.seal))
	w.flags(m.tool, m.turn != nil, m.group != nil, m.born)
	w.uint(m.order)
	switch {
	case m.turn != nil:
		w.uint(uint64(at[m.turn]))
	case m.group != nil:
		w.str(m.group.id)
	}
	w.uint(uint64(len(m.nodes)))
	for _, b := range m.nodes {
		w.b = append(w.b, byte(b.kind))
		w.flags(b.sealed, b.waiting, b.old, s.blocks[b.id] == b)
		w.uint(b.serial)
		w.str(b.id)
		w.str(b.alt)
		w.str(b.call)
	}
}

func (w *writer) partitions(s *Structure, place map[*message]int) {
	w.uint(uint64(len(s.order)))
	for _, t := range s.order {
		w.uint(uint64(len(t.parts)))
		for _, p := range t.parts {
			w.str(p.candidate)
			target := 0
			if p.target != nil {
				target = place[p.target] + 1
			}
			w.uint(uint64(target))
			present := 0
			for _, m := range p.stack {
				if !m.removed {
					present++
				}
			}
			w.uint(uint64(present))
			for _, m := range p.stack {
				if !m.removed {
					w.uint(uint64(place[m]))
				}
			}
		}
	}
}

// ImportStructure is the structure that was exported. It keeps nothing of data. The error is ErrExport.
func ImportStructure(data []byte) (*Structure, error) {
	r := reader{b: data}
	if r.byte() != exportVersion {
		return nil, ErrExport
	}
	s := NewStructure()
	s.last = r.int()
	s.parked = r.str()
	if len(r.b) < len(s.digest) {
		return nil, ErrExport
	}
	r.b = r.b[copy(s.digest[:], r.b):]
	count := r.uint()
	r.turns(s)
	for range r.count() {
		r.message(s)
	}
	r.enter(s)
	r.partitions(s)
	for range r.count() {
		a, fresh := s.artifact(r.str())
		if !fresh {
			r.fail()
		}
		a.turn, a.last, a.sealed, a.order = r.str(), r.str(), r.byte()&1 != 0, r.uint()
	}
	for range r.count() {
		r.memory(s)
	}
	if r.byte()&1 != 0 {
		s.state = r.document()
	}
	if r.bad || len(r.b) > 0 {
		return nil, ErrExport
	}
	s.count = count
	return s, nil
}

// reader reads what writer wrote; after a fault it is bad and reads zeros.
type reader struct {
	b      []byte
	bad    bool
	blocks []*block
}

func (r *reader) fail() {
	r.bad = true
	r.b = nil
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count is a number of things that each take at least a byte.
func (r *reader) count() int {
	v := r.uint()
	if v > uint64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(v)
}

// index is a place below n.
func (r *reader) index(n int) int {
	v := r.uint()
	if v >= uint64(n) {
		r.fail()
		return -1
	}
	return int(v)
}

func (r *reader) str() string {
	n := r.count()
	if r.bad {
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) turns(s *Structure) {
	for range r.count() {
		t, fresh := s.openTurn(r.str())
		if !fresh {
			r.fail()
			return
		}
		t.parent = r.str()
		f := r.byte()
		t.nested, t.paused = f&1 != 0, f&4 != 0
		t.order = r.uint()
		if f&2 != 0 {
			s.close(t)
		}
	}
}

func (r *reader) message(s *Structure) {
	m := &message{id: r.str(), cand: r.str()}
	m.seal = seal(r.byte())
	f := r.byte()
	m.tool, m.born = f&1 != 0, f&8 != 0
	order := r.uint()
	var g *group
	switch {
	case f&2 != 0:
		i := r.index(len(s.order))
		if i < 0 {
			return
		}
		m.turn = s.order[i]
		g = m.turn.group
	case f&4 != 0:
		g = s.group(r.str())
	}
	if r.bad || m.seal > restored || s.msgs[m.id] != nil || m.seal != restored && m.turn == nil ||
		m.seal == started && m.turn.closed {
		r.fail()
		return
	}
	s.addMessage(m, g)
	m.order = order
	if m.seal == started {
		m.turn.unsealed++
		s.busy++
	}
	for range r.count() {
		r.block(s, m)
	}
}

func (r *reader) block(s *Structure, m *message) {
	b := &block{msg: m, noted: true}
	b.kind = blockKind(r.byte())
	f := r.byte()
	b.serial = r.uint()
	b.id, b.alt, b.call = r.str(), r.str(), r.str()
	own := f&8 != 0
	if r.bad || b.kind > resultBlock || b.serial == 0 || own && s.blocks[b.id] != nil {
		r.fail()
		return
	}
	b.sealed, b.old = f&1 != 0, f&4 != 0
	if own {
		s.blocks[b.id] = b
	}
	m.nodes = append(m.nodes, b)
	r.blocks = append(r.blocks, b)
	s.wait(b, f&2 != 0)
}

// enter makes the blocks found by the ids that they share, in the order in which they were entered.
func (r *reader) enter(s *Structure) {
	slices.SortFunc(r.blocks, func(a, b *block) int { return cmp.Compare(a.serial, b.serial) })
	for _, b := range r.blocks {
		if b.serial <= s.serial {
			r.fail()
			return
		}
		s.serial = b.serial - 1
		s.enter(b)
	}
}

func (r *reader) partitions(s *Structure) {
	if r.count() != len(s.order) {
		r.fail()
		return
	}
	for _, t := range s.order {
		for range r.count() {
			p := partition{candidate: r.str()}
			if i := r.index(len(s.all)+1) - 1; i >= 0 {
				p.target = s.all[i]
			}
			for range r.count() {
				if i := r.index(len(s.all)); i >= 0 {
					p.stack = append(p.stack, s.all[i])
				}
			}
			if r.bad || slices.ContainsFunc(append(p.stack, p.target), func(m *message) bool { return m != nil && m.turn != t }) {
				r.fail()
				return
			}
			t.parts = append(t.parts, p)
		}
	}
}

func (r *reader) memory(s *Structure) {
	m := s.addMemory(memoryKey{scope: agjson.MemoryScope(r.str()), key: r.str()})
	m.doc = r.document()
	if len(s.memory) != len(s.memSeq) {
		r.fail()
	}
}

func (r *reader) document() *jsonpatch.Document {
	d, err := jsonpatch.New([]byte(r.str()))
	if err != nil {
		r.fail()
	}
	return d
}
