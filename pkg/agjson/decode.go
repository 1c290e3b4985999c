package agjson

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
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

// pass skips the value of a discriminant that is known already.
func (d *decoder) pass() error {
	if !d.skip() {
		return d.syntax()
	}
	return nil
}

// kind enters the object that comes and finds its discriminant, the member disc. Where that stands first, as an encoder
// should put it, it is passed and first is false; else the object is to be read from its first member on.
func (d *decoder) kind(disc string, optional bool) (kind string, first bool, err error) {
	if err := d.enter(); err != nil {
		return "", false, err
	}
	start, depth := d.i, d.depth
	for first = true; ; first = false {
		name, more, ok := d.nextName(first)
		if !ok {
			return "", false, d.syntax()
		}
		if !more && !optional {
			return "", false, d.wrongAt(disc, "missing")
		}
		if !more {
			break
		}
		if name != disc {
			if !d.skip() {
				return "", false, within(d.syntax(), name)
			}
			continue
		}
		if kind, err = d.text(); err != nil {
			return "", false, within(err, disc)
		}
		if optional && kind == "" {
			return "", false, d.wrongAt(disc, unknownKind)
		}
		if first {
			return kind, false, nil
		}
		break
	}
	d.i, d.depth = start, depth
	return kind, true, nil
}

// surfaceKind is kind for a surface interaction, which has two discriminants: "surface", and one that depends on it. A
// surface of a later version has its name alone.
func (d *decoder) surfaceKind() (kind string, discs []string, err error) {
	start, depth := d.i, d.depth
	surface, _, err := d.kind("surface", false)
	d.i, d.depth = start, depth
	if err != nil {
		return "", nil, err
	}
	inner := "method"
	switch Surface(surface) {
	case SurfaceA2ui:
		inner = "a2uiMessage"
	case SurfaceMcpApp, SurfaceOpenaiApp:
	default:
		if strings.Contains(surface, "/") {
			return "", nil, d.wrongAt("surface", "want a kebab-case name")
		}
		return surface, []string{"surface"}, d.enter()
	}
	kind, _, err = d.kind(inner, false)
	d.i, d.depth = start, depth
	if err != nil {
		return "", nil, err
	}
	return surface + "/" + kind, []string{"surface", inner}, d.enter()
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
	if *v = Number(alias(d.from(start))); tooGreat(string(*v)) {
		return d.wrong("want a number that a double can hold")
	}
	return nil
}

// tooGreat says whether a number is beyond a float64, where readers of other languages have no number for it.
func tooGreat(s string) bool {
	if len(s) < 300 && !strings.ContainsAny(s, "eE") {
		return false
	}
	f, _ := strconv.ParseFloat(s, 64)
	return math.IsInf(f, 0)
}

// maxInt is the largest integer that every JSON reader keeps exact.
const maxInt = 1<<53 - 1

func decodeSeq(d *decoder, v *int64) error {
	if n, ok := d.shortInt(); ok {
		*v = n
		return nil
	}
	var n Number
	if err := decodeNumber(d, &n); err != nil {
		return err
	}
	i, err := n.Int64()
	if err != nil || i < 0 || i > maxInt {
		return d.wrong("want an integer from 0 to 2^53-1")
	}
	*v = i
	return nil
}

// parseInt reads an integer, however it is spelt: 1, 1.0 and 1e0 are the same (SPEC is silent; a JSON number has no type).
func parseInt(s string) (int64, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil || !strings.ContainsAny(s, ".eE") {
		return i, err
	}
	if digits, ok := strings.CutPrefix(s, "-"); ok {
		return parseIntParts("-", digits)
	}
	return parseIntParts("", s)
}

// parseIntParts reads the number of that sign whose digits, point and exponent are s.
func parseIntParts(sign, s string) (int64, error) {
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		if mantissa = s[:i]; len(s)-i > 8 {
			return 0, strconv.ErrRange
		}
		if exponent, err = strconv.Atoi(s[i+1:]); err != nil {
			return 0, err
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(whole+fraction, "0")
	zeros := len(whole) + exponent - len(digits)
	switch digits = strings.TrimLeft(digits, "0"); {
	case digits == "":
		return 0, nil
	case zeros < 0 || len(digits)+zeros > 19:
		return 0, strconv.ErrRange
	}
	return strconv.ParseInt(sign+digits+strings.Repeat("0", zeros), 10, 64)
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
		n := len(list)
		list = append(list, *new(T))
		err := f(d, &list[n])
		if err == nil {
			err = d.count()
		}
		if err != nil {
			return nil, within(err, strconv.Itoa(n))
		}
	}
}

func decodeMap[T any](d *decoder, f func(*decoder, *T) error) (map[string]T, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	m := map[string]T{}
	for first := true; ; first = false {
		name, more, ok := d.nextName(first)
		if !ok {
			return nil, d.syntax()
		}
		if !more {
			return m, nil
		}
		var v T
		err := f(d, &v)
		if _, ok := m[name]; ok && err == nil {
			err = d.wrong(twice)
		}
		if err == nil {
			err = d.count()
		}
		if err != nil {
			return nil, within(err, name)
		}
		m[name] = v
	}
}
