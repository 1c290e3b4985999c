package jsonpatch

import (
	"slices"
	"strings"
)

// node is a value of a document: raw text, or a container that a pointer has walked into. Scalars stay raw.
type node struct {
	raw   []byte // the text, as it came; nil once opened
	depth int    // nesting, never too low
	obj   *object
	items []*node // elements, when raw and obj are nil
}

// object keeps its members in order. A removed member leaves a hole (nil value) until the patch has succeeded.
type object struct {
	members []member
	holes   int
	index   map[string]int // name to its last place; nil while the object is small
	twice   bool           // some name stands there twice
}

type member struct {
	key  []byte // the name's text, quotes included
	name string
	val  *node
}

// indexFrom is the width from which an object has an index.
const indexFrom = 16

func (n *node) kind() byte {
	switch {
	case n.raw != nil:
		return n.raw[0]
	case n.obj != nil:
		return '{'
	}
	return '['
}

// open parses one level of the container; of a scalar nothing.
func (n *node) open() {
	if n.raw == nil || n.raw[0] != '{' && n.raw[0] != '[' {
		return
	}
	s := scanner{b: n.raw, i: 1}
	if n.raw[0] == '[' {
		n.items = []*node{}
		for s.next() {
			text, depth := s.item()
			n.items = append(n.items, &node{raw: text, depth: depth})
		}
		n.raw = nil
		return
	}
	n.obj = &object{}
	for s.next() {
		key := s.name()
		text, depth := s.item()
		n.obj.members = append(n.obj.members, member{key: key, name: unquote(key), val: &node{raw: text, depth: depth}})
	}
	n.raw = nil
	n.obj.reindex()
}

// reindex closes the holes and rebuilds the index.
func (o *object) reindex() {
	o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.val == nil })
	o.holes, o.index, o.twice = 0, nil, false
	if len(o.members) < indexFrom {
		for i := range o.members {
			for j := range i {
				o.twice = o.twice || o.members[i].name == o.members[j].name
			}
		}
		return
	}
	o.index = make(map[string]int, len(o.members))
	for i, m := range o.members {
		if _, ok := o.index[m.name]; ok {
			o.twice = true
		}
		o.index[m.name] = i
	}
}

// find is the place of the last member of that name, or -1.
func (o *object) find(name string) int {
	if o.index != nil {
		if i, ok := o.index[name]; ok && o.members[i].val != nil {
			return i
		}
		return -1
	}
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].val != nil && o.members[i].name == name {
			return i
		}
	}
	return -1
}

// push appends a member whose name is not there.
func (o *object) push(name string, v *node) {
	o.members = append(o.members, member{key: quote(name), name: name, val: v})
	if o.index != nil {
		o.index[name] = len(o.members) - 1
	} else if len(o.members) >= indexFrom && o.holes == 0 {
		o.reindex()
	}
}

// pop takes the last member back.
func (o *object) pop() {
	last := len(o.members) - 1
	if o.index != nil {
		delete(o.index, o.members[last].name)
	}
	o.members = o.members[:last]
}

// settle closes the holes that removals left, when there are many.
func (o *object) settle() {
	if o.holes > 8 && o.holes > len(o.members)/2 || o.index == nil && len(o.members) >= indexFrom {
		o.reindex()
	}
}

func (n *node) append(dst []byte) []byte {
	switch {
	case n.raw != nil:
		return append(dst, n.raw...)
	case n.obj != nil:
		dst = append(dst, '{')
		first := true
		for _, m := range n.obj.members {
			if m.val == nil {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = m.val.append(append(append(dst, m.key...), ':'))
		}
		return append(dst, '}')
	}
	dst = append(dst, '[')
	for i, v := range n.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.append(dst)
	}
	return append(dst, ']')
}

func (n *node) size() int {
	switch {
	case n.raw != nil:
		return len(n.raw)
	case n.obj != nil:
		total := 2
		for _, m := range n.obj.members {
			if m.val != nil {
				total += len(m.key) + 2 + m.val.size()
			}
		}
		return total
	}
	total := 2
	for _, v := range n.items {
		total += 1 + v.size()
	}
	return total
}

// clone is the node as a text, which is smaller than opened nodes; a text is shared, since it cannot change.
func (n *node) clone() *node {
	raw := n.raw
	if raw == nil {
		raw = n.append(make([]byte, 0, n.size()))
	}
	return &node{raw: raw, depth: n.depth}
}

const hexDigits = "0123456789abcdef"

// quote is the JSON text of a name that came in a pointer. A lone surrogate is escaped.
func quote(s string) []byte {
	out := make([]byte, 0, len(s)+2)
	out = append(out, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < 0x20:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c == 0xED && i+2 < len(s) && s[i+1] >= 0xA0:
			r := rune(s[i]&0xF)<<12 | rune(s[i+1]&0x3F)<<6 | rune(s[i+2]&0x3F)
			out = append(out, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			i += 2
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

var (
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
)
