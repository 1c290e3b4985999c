package agjson

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"
)

// Limits of what Decode and Check take. What is beyond them is malformed, and is refused before it costs more.
const (
	MaxSize       = 128 << 20 // bytes of one value
	MaxDepth      = 1000      // nesting of arrays and objects, opaque ones included
	MaxItems      = 1 << 20   // list items, map entries and unknown members of one value, opaque ones not counted
	maxUnionDepth = 64        // nesting of blocks in blocks
)

// members are what the generated types do for the loops below.
type members interface {
	// decodeMember reads the value of a member it knows and returns its bit; 0 when it does not know it.
	decodeMember(d *decoder, name string) (uint64, error)
	missing(seen uint64) string
	appendMembers(dst []byte) []byte
}

// bodyMembers are those of a body beside shared members; needs are the shared ones it requires.
type bodyMembers interface {
	members
	needs() uint64
}

type sharer interface {
	decodeShared(d *decoder, name string) (uint64, error)
	missingShared(seen uint64) string
}

// Bits beside those of a type's own members.
const (
	anyMember = 1 << 63 // a member that may come more than once without a rule here
	kindBit   = 1 << 62 // the discriminant
)

// decoder is one pass over one JSON text. It aliases its input.
type decoder struct {
	scanner
	schema        string
	unions        int
	items         int
	unknownFields bool // keep them (a consumer), or refuse them (a producer's check)
	unknownTypes  bool
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func newDecoder(schema string, data []byte) *decoder {
	d := decoders.Get().(*decoder)
	*d = decoder{scanner: scanner{b: data}, schema: schema, unknownFields: true, unknownTypes: true}
	return d
}

func (d *decoder) free() {
	d.b = nil
	decoders.Put(d)
}

// whole runs f over the input, which must hold one value and nothing after it.
func (d *decoder) whole(f func() error) error {
	if err := d.tooLong(); err != nil {
		return err
	}
	return d.end(f())
}

func (d *decoder) tooLong() error {
	if len(d.b) <= MaxSize {
		return nil
	}
	return &DecodeError{Type: d.schema, Why: "longer than " + strconv.Itoa(MaxSize) + " bytes"}
}

// end closes the pass that gave err: nothing may follow the value, and an error gets its type and place.
func (d *decoder) end(err error) error {
	if err == nil {
		if d.peek(); d.i == len(d.b) {
			return nil
		}
		err = d.wrong("something after the value")
	}
	if e, ok := err.(*DecodeError); ok {
		e.settle(d.schema)
	}
	return err
}

func (d *decoder) wrong(why string) error { return &DecodeError{Why: why} }

func (d *decoder) wrongAt(member, why string) error {
	return within(d.wrong(why), member)
}

// syntax turns the scanner's failure into an error at this place.
func (d *decoder) syntax() error { return d.wrong(d.why) }

// count takes one item from the budget of MaxItems.
func (d *decoder) count() error {
	if d.items++; d.items > MaxItems {
		return d.wrong("more than " + strconv.Itoa(MaxItems) + " items")
	}
	return nil
}

// enter goes into the object that comes.
func (d *decoder) enter() error {
	if d.peek() != '{' {
		return d.wrong("want an object")
	}
	if !d.open() {
		return d.syntax()
	}
	return nil
}

// object reads a plain object.
func (d *decoder) object(m members, extra *[]Member) error {
	if err := d.enter(); err != nil {
		return err
	}
	return d.body("", true, m, extra)
}

// body reads the members of an object that is entered. Its kind, the member disc, is known already; first says that no
// member has been passed, that one included.
func (d *decoder) body(disc string, first bool, m members, extra *[]Member) error {
	if disc != "" {
		if d.unions++; d.unions > maxUnionDepth {
			return d.wrong("nested too deeply")
		}
	}
	seen := kindSeen(first)
	for ; ; first = false {
		name, more, ok := d.nextName(first)
		if !ok {
			return d.syntax()
		}
		if !more {
			break
		}
		bit, err := uint64(kindBit), error(nil)
		if name == disc && disc != "" {
			err = d.pass()
		} else if bit, err = m.decodeMember(d, name); bit == 0 && err == nil {
			bit, err = anyMember, d.extra(extra, name)
		}
		if err == nil && bit != anyMember && seen&bit != 0 {
			err = d.wrong(twice)
		}
		if err != nil {
			return within(err, name)
		}
		seen |= bit
	}
	if disc != "" {
		d.unions--
	}
	if name := m.missing(seen); name != "" {
		return d.wrongAt(name, "missing")
	}
	return d.noDuplicates(*extra)
}

// kindSeen are the bits seen where the discriminant was an object's first member and has been passed.
func kindSeen(first bool) uint64 {
	if first {
		return 0
	}
	return kindBit
}

// shared reads the members of an object that is entered: those of s, those of the body m, and the discriminants, which
// are known already.
func (d *decoder) shared(first bool, s sharer, m members, extra *[]Member, discs ...string) error {
	seen := kindSeen(first)
	for ; ; first = false {
		name, more, ok := d.nextName(first)
		if !ok {
			return d.syntax()
		}
		if !more {
			break
		}
		bit, err := uint64(kindBit), error(nil)
		if i := slices.Index(discs, name); i >= 0 {
			bit >>= i
			err = d.pass()
		} else {
			bit, err = s.decodeShared(d, name)
			if bit == 0 && err == nil {
				bit, err = m.decodeMember(d, name)
			}
			if bit == 0 && err == nil {
				bit, err = anyMember, d.extra(extra, name)
			}
		}
		if err == nil && bit != anyMember && seen&bit != 0 {
			err = d.wrong(twice)
		}
		if err != nil {
			return within(err, name)
		}
		seen |= bit
	}
	return d.closeShared(seen, s, m, *extra)
}

// closeShared looks at what an object of shared members and a body lacks or has twice.
func (d *decoder) closeShared(seen uint64, s sharer, m members, extra []Member) error {
	if name := s.missingShared(seen); name != "" {
		return d.wrongAt(name, "missing")
	}
	if name := m.missing(seen); name != "" {
		return d.wrongAt(name, "missing")
	}
	if u, ok := m.(interface{ payload() []Member }); ok {
		if err := d.noDuplicates(u.payload()); err != nil {
			return err
		}
	}
	return d.noDuplicates(extra)
}

// event reads the members of an event that is entered, as body and shared do; by itself, for it is the hot one.
func (d *decoder) event(first bool, v *Event) error {
	seen := kindSeen(first)
	for ; ; first = false {
		name, more, ok := d.nextName(first)
		if !ok {
			return d.syntax()
		}
		if !more {
			break
		}
		bit, err := v.decodeShared(d, name)
		switch {
		case bit != 0 || err != nil:
		case name == "type":
			bit, err = kindBit, d.pass()
		default:
			if bit, err = v.Body.decodeMember(d, name); bit == 0 && err == nil {
				bit, err = anyMember, d.extra(&v.Extra, name)
			}
		}
		if err == nil && bit != anyMember && seen&bit != 0 {
			err = d.wrong(twice)
		}
		if err != nil {
			return within(err, name)
		}
		seen |= bit
	}
	if name := v.missingShared(seen); name != "" {
		return d.wrongAt(name, "missing")
	}
	if name := v.Body.missing(seen); name != "" {
		return d.wrongAt(name, "missing")
	}
	switch b := v.Body.(type) {
	case *Ext:
		return d.noDuplicates(b.Members)
	case *Unknown:
		return d.noDuplicates(b.Members)
	}
	return d.noDuplicates(v.Extra)
}

// keepEmpty keeps an id that is given, empty, and not required: it reads as absent, and still re-encodes as it came.
func keepEmpty(extra []Member, body bodyMembers, bit uint64, name string) []Member {
	if body != nil && body.needs()&bit != 0 {
		return extra
	}
	return append(extra, Member{Name: name, Value: json.RawMessage(`""`)})
}

// extra keeps a member that no type here knows, or refuses it.
func (d *decoder) extra(list *[]Member, name string) error {
	if !d.unknownFields {
		return d.wrong("unknown member")
	}
	return d.member(list, name)
}

func (d *decoder) member(list *[]Member, name string) error {
	start := d.i
	if !d.skip() {
		return d.syntax()
	}
	if *list == nil {
		*list = make([]Member, 0, 4)
	}
	*list = append(*list, Member{Name: name, Value: d.from(start)})
	return d.count()
}

func (d *decoder) noDuplicates(list []Member) error {
	if len(list) < 2 {
		return nil
	}
	if len(list) <= 16 {
		for i := range list {
			for j := range i {
				if list[i].Name == list[j].Name {
					return d.wrongAt(list[i].Name, twice)
				}
			}
		}
		return nil
	}
	seen := make(map[string]bool, len(list))
	for _, m := range list {
		if seen[m.Name] {
			return d.wrongAt(m.Name, twice)
		}
		seen[m.Name] = true
	}
	return nil
}
