package agjson

import (
	"encoding/json"
	"math"
	"strconv"
	"sync"
)

// Limits of what Decode takes.
const (
	MaxDepth      = 1000 // nesting of arrays and objects, opaque ones included
	maxUnionDepth = 64   // nesting of blocks in blocks
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

// anyMember is the bit of a member that may come more than once without a rule here.
const anyMember = 1 << 63

// decoder is one pass over one JSON text. It aliases its input.
type decoder struct {
	scanner
	schema        string
	unions        int
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
	err := f()
	if err == nil && d.peek() != 0 || err == nil && d.i < len(d.b) {
		err = d.wrong("something after the value")
	}
	if e, ok := err.(*DecodeError); ok {
		e.Type = d.schema
	}
	return err
}

func (d *decoder) wrong(why string) error { return &DecodeError{Why: why} }

func (d *decoder) wrongAt(member, why string) error {
	return within(d.wrong(why), member)
}

// syntax turns the scanner's failure into an error at this place.
func (d *decoder) syntax() error { return d.wrong(d.why) }

// each calls f for every member of the object that comes; f reads the value.
func (d *decoder) each(f func(name string) error) error {
	if d.peek() != '{' {
		return d.wrong("want an object")
	}
	if !d.open() {
		return d.syntax()
	}
	for n := 0; ; n++ {
		name, more, ok := d.nextName(n == 0)
		if !ok {
			return d.syntax()
		}
		if !more {
			return nil
		}
		if err := f(name); err != nil {
			return within(err, name)
		}
	}
}

// object reads a plain object.
func (d *decoder) object(m members, extra *[]Member) error { return d.body(nil, m, extra) }

// body reads an object whose kind is known already.
func (d *decoder) body(disc [][]string, m members, extra *[]Member) error {
	if d.peek() != '{' {
		return d.wrong("want an object")
	}
	if disc != nil {
		if d.unions++; d.unions > maxUnionDepth {
			return d.wrong("blocks nested too deeply")
		}
		defer func() { d.unions-- }()
	}
	if !d.open() {
		return d.syntax()
	}
	var seen uint64
	for first := true; ; first = false {
		name, more, ok := d.nextName(first)
		if !ok {
			return d.syntax()
		}
		if !more {
			break
		}
		if disc != nil && isDisc(disc, name) {
			if err := d.discMember(&seen, name); err != nil {
				return err
			}
			continue
		}
		bit, err := m.decodeMember(d, name)
		if bit == 0 && err == nil {
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
	if name := m.missing(seen); name != "" {
		return d.wrongAt(name, "missing")
	}
	return d.noDuplicates(*extra)
}

// shared reads an object of shared members and a body whose kind is known already.
func (d *decoder) shared(disc [][]string, s sharer, m members, extra *[]Member) error {
	if !d.open() {
		return d.syntax()
	}
	var seen uint64
	for first := true; ; first = false {
		name, more, ok := d.nextName(first)
		if !ok {
			return d.syntax()
		}
		if !more {
			break
		}
		if isDisc(disc, name) {
			if err := d.discMember(&seen, name); err != nil {
				return err
			}
			continue
		}
		bit, err := s.decodeShared(d, name)
		if bit == 0 && err == nil {
			bit, err = m.decodeMember(d, name)
		}
		if bit == 0 && err == nil {
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
	return d.noDuplicates(*extra)
}

// discMember passes over a discriminant that kind has read; its bits lie under anyMember.
func (d *decoder) discMember(seen *uint64, name string) error {
	bit := uint64(1) << 62
	if name == "surface" {
		bit = 1 << 61
	}
	if *seen&bit != 0 {
		return d.wrongAt(name, twice)
	}
	*seen |= bit
	if !d.skip() {
		return within(d.syntax(), name)
	}
	return nil
}

func isDisc(disc [][]string, name string) bool {
	for _, alt := range disc {
		for _, s := range alt {
			if s == name {
				return true
			}
		}
	}
	return false
}

// kind looks ahead in the object that comes for its discriminant, and stays where it is.
func (d *decoder) kind(disc [][]string, optional bool) (string, error) {
	if d.peek() != '{' {
		return "", d.wrong("want an object")
	}
	start, depth := d.i, d.depth
	var found [2]string
	var have [2]bool
	if !d.open() {
		return "", d.syntax()
	}
	for first, left := true, len(disc); left > 0; first = false {
		name, more, ok := d.nextName(first)
		if !ok {
			return "", d.syntax()
		}
		if !more {
			break
		}
		at := -1
		for i, alt := range disc {
			for _, s := range alt {
				if s == name && !have[i] {
					at = i
				}
			}
		}
		if at < 0 {
			if !d.skip() {
				return "", within(d.syntax(), name)
			}
			continue
		}
		s, err := d.text()
		if err != nil {
			return "", within(err, name)
		}
		found[at], have[at] = s, true
		left--
	}
	d.i, d.depth = start, depth
	for i := range disc {
		if !have[i] && !optional {
			return "", d.wrongAt(disc[i][0], "missing")
		}
	}
	if len(disc) == 2 {
		return found[0] + "/" + found[1], nil
	}
	return found[0], nil
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
	*list = append(*list, Member{Name: name, Value: d.from(start)})
	return nil
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

func (d *decoder) text() (string, error) {
	if d.peek() != '"' {
		return "", d.wrong("want a string")
	}
	s, ok := d.str()
	if !ok {
		return "", d.syntax()
	}
	return s, nil
}

func (d *decoder) literal(want string) error {
	s, err := d.text()
	if err == nil && s != want {
		err = d.wrong("want " + strconv.Quote(want))
	}
	return err
}

func (d *decoder) yes() error {
	var v bool
	err := decodeBool(d, &v)
	if err == nil && !v {
		err = d.wrong("want true")
	}
	return err
}

func decodeString(d *decoder, v *string) (err error) {
	*v, err = d.text()
	return err
}

func decodeSecret(d *decoder, v *Secret) error {
	s, err := d.text()
	*v = Secret(s)
	return err
}

func decodeBool(d *decoder, v *bool) error {
	c := d.peek()
	if c != 't' && c != 'f' {
		return d.wrong("want true or false")
	}
	if !d.skip() {
		return d.syntax()
	}
	*v = c == 't'
	return nil
}

func decodeNumber(d *decoder, v *Number) error {
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		return d.wrong("want a number")
	}
	start := d.i
	if !d.skip() {
		return d.syntax()
	}
	*v = Number(alias(d.from(start)))
	return nil
}

// maxInt is the largest integer that every JSON reader keeps exact.
const maxInt = 1<<53 - 1

func decodeInt(d *decoder, v *int) error {
	var n Number
	if err := decodeNumber(d, &n); err != nil {
		return err
	}
	i, err := n.Int64()
	if err != nil || i > maxInt || i < -maxInt {
		return d.wrong("want an integer up to 2^53-1")
	}
	*v = int(i)
	return nil
}

func decodeSeq(d *decoder, v *int64) error {
	var n int
	if err := decodeInt(d, &n); err != nil {
		return err
	}
	if n < 0 {
		return d.wrong("want an integer from 0 up")
	}
	*v = int64(n)
	return nil
}

// parseInt reads an integer, however it is spelt: 1, 1.0 and 1e0 are the same (SPEC is silent; a JSON number has no type).
func parseInt(s string) (int64, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, err
	}
	if f != math.Trunc(f) || math.Abs(f) > maxInt {
		return 0, strconv.ErrRange
	}
	return int64(f), nil
}

func decodeAny(d *decoder, v *json.RawMessage) error {
	d.peek()
	start := d.i
	if !d.skip() {
		return d.syntax()
	}
	*v = d.from(start)
	return nil
}

func decodeMeta(d *decoder, v *json.RawMessage) error {
	if d.peek() != '{' {
		return d.wrong("want an object")
	}
	return decodeAny(d, v)
}

func decodeBag(d *decoder, v *Opaque) error { return decodeMeta(d, (*json.RawMessage)(v)) }

func decodeList[T any](d *decoder, f func(*decoder, *T) error) ([]T, error) {
	if d.peek() != '[' {
		return nil, d.wrong("want an array")
	}
	if !d.open() {
		return nil, d.syntax()
	}
	list := []T{}
	for {
		more, ok := d.nextItem(len(list) == 0)
		if !ok {
			return nil, d.syntax()
		}
		if !more {
			return list, nil
		}
		var v T
		if err := f(d, &v); err != nil {
			return nil, within(err, strconv.Itoa(len(list)))
		}
		list = append(list, v)
	}
}

func decodeMap[T any](d *decoder, f func(*decoder, *T) error) (map[string]T, error) {
	m := map[string]T{}
	err := d.each(func(name string) error {
		if _, ok := m[name]; ok {
			return d.wrong(twice)
		}
		var v T
		if err := f(d, &v); err != nil {
			return err
		}
		m[name] = v
		return nil
	})
	return m, err
}
