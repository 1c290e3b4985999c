package jsonpatch

import (
	"strconv"
	"strings"
)

// Equal says whether two JSON texts are the same value: objects without regard to order, numbers by value (1, 1.0 and 10e-1
// are equal), strings by what they stand for. Texts that are not JSON are equal to nothing. Of names that repeat within an
// object the last counts.
func Equal(a, b []byte) bool {
	_, ok := Difference(a, b)
	return ok
}

// Difference is Equal that tells the first place where the texts differ, as a JSON Pointer.
func Difference(a, b []byte) (pointer string, equal bool) {
	x, dx, ok := check(a)
	if !ok {
		return "", false
	}
	y, dy, ok := check(b)
	if !ok {
		return "", false
	}
	return (&node{raw: x, depth: dx}).differs(&node{raw: y, depth: dy})
}

func (n *node) equal(m *node) bool {
	_, ok := n.differs(m)
	return ok
}

func (n *node) differs(m *node) (pointer string, equal bool) {
	kind := n.kind()
	if kind != m.kind() && !(isNumber(kind) && isNumber(m.kind())) {
		return "", false
	}
	switch {
	case kind == '"':
		return "", string(n.raw) == string(m.raw) || unquote(n.raw) == unquote(m.raw)
	case isNumber(kind):
		return "", equalNumbers(string(n.raw), string(m.raw))
	case kind != '{' && kind != '[':
		return "", true
	}
	if n.raw != nil && m.raw != nil && string(n.raw) == string(m.raw) {
		return "", true
	}
	// Walk copies, so that a comparison leaves the texts of a document as they are.
	n, m = n.view(), m.view()
	if kind == '[' {
		for i := range min(len(n.items), len(m.items)) {
			if p, ok := n.items[i].differs(m.items[i]); !ok {
				return "/" + strconv.Itoa(i) + p, false
			}
		}
		if len(n.items) != len(m.items) {
			return "/" + strconv.Itoa(min(len(n.items), len(m.items))), false
		}
		return "", true
	}
	for i, x := range n.obj.members {
		if x.val == nil || n.obj.find(x.name) != i {
			continue
		}
		j := m.obj.find(x.name)
		if j < 0 {
			return "/" + escape.Replace(x.name), false
		}
		if p, ok := x.val.differs(m.obj.members[j].val); !ok {
			return "/" + escape.Replace(x.name) + p, false
		}
	}
	for _, y := range m.obj.members {
		if y.val != nil && n.obj.find(y.name) < 0 {
			return "/" + escape.Replace(y.name), false
		}
	}
	return "", true
}

// view is the node opened, without opening the node itself.
func (n *node) view() *node {
	if n.raw == nil {
		return n
	}
	v := *n
	v.open()
	return &v
}

func isNumber(c byte) bool { return c == '-' || c >= '0' && c <= '9' }

func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	x, ok := decimal(a)
	if !ok {
		return false
	}
	y, ok := decimal(b)
	return ok && x == y
}

// number is ±0.digits × 10^exp, digits without zeros at either end; zero is the zero value.
type number struct {
	neg    bool
	digits string
	exp    int64
}

// decimal reads a number exactly; ok is false for an exponent beyond 18 digits, which equals only its own text.
func decimal(s string) (n number, ok bool) {
	if s[0] == '-' {
		n.neg = true
		s = s[1:]
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if len(s)-i > 20 {
			return n, false
		}
		e, err := strconv.ParseInt(strings.TrimPrefix(s[i+1:], "+"), 10, 64)
		if err != nil {
			return n, false
		}
		n.exp, s = e, s[:i]
	}
	whole, frac, _ := strings.Cut(s, ".")
	n.exp += int64(len(whole))
	digits := whole + frac
	trimmed := strings.TrimLeft(digits, "0")
	n.exp -= int64(len(digits) - len(trimmed))
	n.digits = strings.TrimRight(trimmed, "0")
	if n.digits == "" {
		return number{}, true
	}
	return n, true
}
