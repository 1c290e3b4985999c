package agjson

import (
	"encoding/json"
)

// Kind says what a Value is.
type Kind uint8

// The kinds of a Value. KindAbsent is the zero Value: no member of that name, no item at that place.
const (
	KindAbsent Kind = iota
	KindNull
	KindFalse
	KindTrue
	KindNumber
	KindString
	KindList
	KindObject
)

// Value is one place in a JSON text that ParseValue has checked and indexed. Its bytes are the text's own, so what is passed on
// opaque keeps its number text, key order and escapes. The methods are total: a wrong kind reads as absent. Values of one
// parse share memory with the text, and end with the next use of their Parser; the bytes and strings they gave do not.
type Value struct {
	p *Parser
	i int32
}

// node is one value of the text. A member of an object is two nodes, its name and its value.
type node struct {
	start, end int32 // in the text
	next       int32 // index of the node after this value
	kind       Kind
	escaped    bool // a string with an escape in it
}

// Parser indexes one JSON text at a time and re-uses its index for the next. The zero Parser is ready. Not safe for
// concurrent use.
type Parser struct {
	Depth int // nesting allowed, at most MaxDepth; 0 is MaxDepth
	s     scanner
	nodes []node
}

// ParseValue indexes data with a Parser of its own.
func ParseValue(data []byte) (Value, error) { return new(Parser).Parse(data) }

// Parse checks data, one JSON text of at most 1 GiB (RFC 8259, nested at most Depth, valid UTF-8), and returns its root. The
// error is an ErrMalformed. Values alias data. Those of an earlier Parse are void.
func (p *Parser) Parse(data []byte) (Value, error) {
	p.s = scanner{b: data}
	if p.Depth > 0 {
		p.s.depth = max(MaxDepth-p.Depth, 0)
	}
	p.nodes = append(p.nodes[:0], node{}) // index 0 is no value
	if len(data) > 1<<30 {
		return Value{}, &DecodeError{Type: "JsonValue", Why: "longer than 1 GiB"}
	}
	if !p.value() {
		return Value{}, &DecodeError{Type: "JsonValue", Why: p.s.why}
	}
	if p.s.peek(); p.s.i < len(data) {
		return Value{}, &DecodeError{Type: "JsonValue", Why: "something after the value"}
	}
	return Value{p, 1}, nil
}

func (p *Parser) add(k Kind) int32 {
	p.nodes = append(p.nodes, node{start: int32(p.s.i), kind: k})
	return int32(len(p.nodes) - 1)
}

func (p *Parser) done(at int32) bool {
	p.nodes[at].end = int32(p.s.i)
	p.nodes[at].next = int32(len(p.nodes))
	return true
}

func (p *Parser) value() bool {
	s := &p.s
	switch c := s.peek(); {
	case c == '"':
		return p.text()
	case c == '{':
		return p.object()
	case c == '[':
		return p.list()
	case c == 't':
		at := p.add(KindTrue)
		return s.word("true") && p.done(at)
	case c == 'f':
		at := p.add(KindFalse)
		return s.word("false") && p.done(at)
	case c == 'n':
		at := p.add(KindNull)
		return s.word("null") && p.done(at)
	case c == '-' || c >= '0' && c <= '9':
		at := p.add(KindNumber)
		return s.number() && p.done(at)
	}
	if s.i >= len(s.b) {
		return s.bad("the text ends too soon")
	}
	return s.bad("not a JSON value")
}

func (p *Parser) text() bool {
	at := p.add(KindString)
	start := p.s.i
	if !p.s.skipString() {
		return false
	}
	for _, c := range p.s.b[start:p.s.i] {
		if c == '\\' {
			p.nodes[at].escaped = true
			break
		}
	}
	return p.done(at)
}

func (p *Parser) object() bool {
	s := &p.s
	at := p.add(KindObject)
	if !s.open() {
		return false
	}
	for first := true; ; first = false {
		switch c := s.peek(); {
		case c == '}':
			s.i++
			s.depth--
			return p.done(at)
		case first:
		case c == ',':
			s.i++
			s.peek()
		default:
			return s.bad("want , or }")
		}
		if s.i >= len(s.b) || s.b[s.i] != '"' {
			return s.bad("want a member name")
		}
		if !p.text() {
			return false
		}
		if s.peek() != ':' {
			return s.bad("want :")
		}
		s.i++
		if !p.value() {
			return false
		}
	}
}

func (p *Parser) list() bool {
	s := &p.s
	at := p.add(KindList)
	if !s.open() {
		return false
	}
	for first := true; ; first = false {
		more, ok := s.nextItem(first)
		if !ok {
			return false
		}
		if !more {
			return p.done(at)
		}
		if !p.value() {
			return false
		}
	}
}

func (v Value) node() *node {
	if v.p == nil {
		return &node{}
	}
	return &v.p.nodes[v.i]
}

// Kind is what stands here.
func (v Value) Kind() Kind { return v.node().kind }

// Exists says whether there is a value here, null included.
func (v Value) Exists() bool { return v.Kind() != KindAbsent }

// Set says whether there is a value here that is not null.
func (v Value) Set() bool { return v.Kind() > KindNull }

// Raw is the value's bytes; nil when absent. It aliases the text.
func (v Value) Raw() json.RawMessage {
	if n := v.node(); n.kind != KindAbsent {
		return v.p.s.b[n.start:n.end:n.end]
	}
	return nil
}

// RawSet is Raw; nil when absent or null.
func (v Value) RawSet() json.RawMessage {
	if !v.Set() {
		return nil
	}
	return v.Raw()
}

// Str is the string here, "" for any other kind. Without escapes it aliases the text. A lone surrogate is kept as WTF-8.
func (v Value) Str() string {
	n := v.node()
	if n.kind != KindString {
		return ""
	}
	return v.p.str(n)
}

func (p *Parser) str(n *node) string {
	if !n.escaped {
		return alias(p.s.b[n.start+1 : n.end-1])
	}
	s := scanner{b: p.s.b[:n.end], i: int(n.start)}
	text, _ := s.str()
	return text
}

// StrPtr is the string here, nil for any other kind.
func (v Value) StrPtr() *string {
	if v.Kind() != KindString {
		return nil
	}
	return new(v.Str())
}

// Number is the text of the number here, "" for any other kind and for a number that no float64 holds.
func (v Value) Number() Number {
	if v.Kind() != KindNumber {
		return ""
	}
	n := Number(alias(v.Raw()))
	if _, err := n.Float64(); err != nil {
		return ""
	}
	return n
}

// Int is the whole number here that an int holds; ok is false for anything else.
func (v Value) Int() (n int, ok bool) {
	if v.Kind() != KindNumber {
		return 0, false
	}
	n64, err := parseInt(alias(v.Raw()))
	if err != nil || int64(int(n64)) != n64 {
		return 0, false
	}
	return int(n64), true
}

// Bool is true where true stands.
func (v Value) Bool() bool { return v.Kind() == KindTrue }

// BoolPtr is the boolean here, nil for any other kind.
func (v Value) BoolPtr() *bool {
	switch v.Kind() {
	case KindTrue:
		return new(true)
	case KindFalse:
		return new(false)
	}
	return nil
}

// Get is the member called name, the last one if there are several; absent when there is none or this is no object.
func (v Value) Get(name string) Value {
	n := v.node()
	if n.kind != KindObject {
		return Value{}
	}
	var found Value
	nodes := v.p.nodes
	for i := v.i + 1; i < n.next; {
		k := &nodes[i]
		val := i + 1
		if k.escaped && v.p.str(k) == name || !k.escaped && string(v.p.s.b[k.start+1:k.end-1]) == name {
			found = Value{v.p, val}
		}
		i = nodes[val].next
	}
	return found
}

// Path is Get for each of the names in turn.
func (v Value) Path(names ...string) Value {
	for _, name := range names {
		v = v.Get(name)
	}
	return v
}

// Members yields the members of the object here, in wire order.
func (v Value) Members(yield func(name string, val Value) bool) {
	n := v.node()
	if n.kind != KindObject {
		return
	}
	end := n.next
	for i := v.i + 1; i < end; {
		val := i + 1
		next := v.p.nodes[val].next
		if !yield(v.p.str(&v.p.nodes[i]), Value{v.p, val}) {
			return
		}
		i = next
	}
}

// Items yields the items of the list here, in order, with their index.
func (v Value) Items(yield func(i int, item Value) bool) {
	n := v.node()
	if n.kind != KindList {
		return
	}
	end := n.next
	for k, i := 0, v.i+1; i < end; k++ {
		next := v.p.nodes[i].next
		if !yield(k, Value{v.p, i}) {
			return
		}
		i = next
	}
}

// Len is the number of members or items here; 0 for anything else.
func (v Value) Len() int {
	n := v.node()
	count := 0
	switch n.kind {
	case KindList:
		for i := v.i + 1; i < n.next; i = v.p.nodes[i].next {
			count++
		}
	case KindObject:
		for i := v.i + 1; i < n.next; i = v.p.nodes[i+1].next {
			count++
		}
	}
	return count
}

// Item is the item at index i of the list here; absent when there is none.
func (v Value) Item(i int) Value {
	for k, item := range v.Items {
		if k == i {
			return item
		}
	}
	return Value{}
}

// Quote is s as a JSON string; see AppendString.
func Quote(s string) json.RawMessage { return appendText(make([]byte, 0, len(s)+2), s) }

// AppendUsage appends the usage as JSON to dst and returns the longer slice.
func AppendUsage(dst []byte, v *Usage) []byte { return appendUsage(dst, v) }
