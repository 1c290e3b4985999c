package jsonpatch

import "unicode/utf8"

// MaxDepth is the deepest nesting of arrays and objects that a document may have.
const MaxDepth = 1000

// scanner walks one JSON text strictly (RFC 8259). It reads structure only and makes no values.
type scanner struct {
	b []byte
	i int
}

// peek passes white space and returns the byte there, 0 at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// value passes one value and returns how deeply it nests; room is how deeply it may.
func (s *scanner) value(room int) (depth int, ok bool) {
	switch c := s.peek(); {
	case c == '"':
		return 0, s.str()
	case c == '{' || c == '[':
		if room == 0 {
			return 0, false
		}
		return s.container(c, room)
	case c == 't':
		return 0, s.word("true")
	case c == 'f':
		return 0, s.word("false")
	case c == 'n':
		return 0, s.word("null")
	}
	return 0, s.number()
}

func (s *scanner) container(open byte, room int) (depth int, ok bool) {
	s.i++
	end := open + 2 // ']' and '}' stand two behind their mates in ASCII
	for first := true; ; first = false {
		c := s.peek()
		switch {
		case c == end:
			s.i++
			return depth + 1, true
		case first:
		case c == ',':
			s.i++
			c = s.peek()
		default:
			return 0, false
		}
		if open == '{' {
			if c != '"' || !s.str() || s.peek() != ':' {
				return 0, false
			}
			s.i++
		}
		d, ok := s.value(room - 1)
		if !ok {
			return 0, false
		}
		depth = max(depth, d)
	}
}

func (s *scanner) str() bool {
	for i := s.i + 1; i < len(s.b); {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return true
		case c < 0x20:
			return false
		case c != '\\':
			i++
		case i+1 >= len(s.b):
			return false
		default:
			switch s.b[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			case 'u':
				if _, ok := hex4(s.b[i+2:]); !ok {
					return false
				}
				i += 6
			default:
				return false
			}
		}
	}
	return false
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

func (s *scanner) at(c byte) bool { return s.i < len(s.b) && s.b[s.i] == c }

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}

func (s *scanner) number() bool {
	if s.at('-') {
		s.i++
	}
	if s.at('0') {
		s.i++
	} else if !s.digits() {
		return false
	}
	if s.at('.') {
		if s.i++; !s.digits() {
			return false
		}
	}
	if s.at('e') || s.at('E') {
		s.i++
		if s.at('+') || s.at('-') {
			s.i++
		}
		return s.digits()
	}
	return true
}

// check passes over the one value of b; ok says that there is nothing else and how deeply it nests.
func check(b []byte) (trimmed []byte, depth int, ok bool) {
	if !utf8.Valid(b) {
		return nil, 0, false
	}
	s := scanner{b: b}
	s.peek()
	start := s.i
	if depth, ok = s.value(MaxDepth); !ok {
		return nil, 0, false
	}
	end := s.i
	if s.peek() != 0 || s.i < len(b) {
		return nil, 0, false
	}
	return b[start:end:end], depth, true
}

// next moves to the next element of a container whose text is known to be well-formed; s.i must stand behind its opening
// bracket or behind the previous element. At the end it returns false.
func (s *scanner) next() bool {
	c := s.peek()
	if c == ',' {
		s.i++
		c = s.peek()
	}
	return c != ']' && c != '}'
}

// item passes one value of a well-formed text and returns its text.
func (s *scanner) item() (text []byte, depth int) {
	s.peek()
	start := s.i
	depth, _ = s.value(MaxDepth)
	return s.b[start:s.i:s.i], depth
}

// name passes a member's name and colon in a well-formed text and returns the name's text, quotes included.
func (s *scanner) name() []byte {
	s.peek()
	start := s.i
	s.str()
	text := s.b[start:s.i:s.i]
	s.peek()
	s.i++
	return text
}

// unquote is the string that a well-formed string's text stands for. A lone surrogate becomes its three bytes of
// generalized UTF-8, as in package agjson.
func unquote(text []byte) string {
	body := text[1 : len(text)-1]
	i := 0
	for i < len(body) && body[i] != '\\' {
		i++
	}
	if i == len(body) {
		return string(body)
	}
	out := append(make([]byte, 0, len(body)), body[:i]...)
	for i < len(body) {
		if body[i] != '\\' {
			out = append(out, body[i])
			i++
			continue
		}
		c := body[i+1]
		i += 2
		switch c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, _ := hex4(body[i:])
			i += 4
			if r>>10 == 0xD800>>10 && len(body)-i >= 6 && body[i] == '\\' && body[i+1] == 'u' {
				if low, _ := hex4(body[i+2:]); low>>10 == 0xDC00>>10 {
					r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
					i += 6
				}
			}
			out = appendRune(out, r)
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

func appendRune(out []byte, r rune) []byte {
	if r>>11 == 0xD800>>11 {
		return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF)
	}
	return utf8.AppendRune(out, r)
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
