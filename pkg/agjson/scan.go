package agjson

import (
	"unicode/utf8"
	"unsafe"
)

// scanner walks one JSON text (RFC 8259) byte by byte, strictly: no comments, no trailing commas, valid UTF-8 only.
// It knows no types; on a fault it leaves the reason in why.
//
// A string is a Go string. A lone surrogate, which JSON can escape and UTF-8 cannot hold, is kept as its three bytes of
// generalized UTF-8 (WTF-8); the encoder turns it back into the escape, and joins a pair that two strings were split over.
type scanner struct {
	b     []byte
	i     int
	depth int
	why   string
}

func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// from is the input from start to here, which must be the value just passed.
func (s *scanner) from(start int) []byte { return s.b[start:s.i:s.i] }

func (s *scanner) bad(why string) bool {
	s.why = why
	return false
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

// open enters the array or object that is here.
func (s *scanner) open() bool {
	if s.depth++; s.depth > MaxDepth {
		return s.bad("nested too deeply")
	}
	s.i++
	return true
}

// nextItem moves to the next item of the array, or past its end.
func (s *scanner) nextItem(first bool) (more, ok bool) {
	switch c := s.peek(); {
	case c == ']':
		s.i++
		s.depth--
		return false, true
	case first:
	case c == ',':
		s.i++
		s.peek()
	default:
		return false, s.bad("want , or ]")
	}
	return true, true
}

// nextName moves to the value of the object's next member, or past its end.
func (s *scanner) nextName(first bool) (name string, more, ok bool) {
	switch c := s.peek(); {
	case c == '}':
		s.i++
		s.depth--
		return "", false, true
	case first:
	case c == ',':
		s.i++
		s.peek()
	default:
		return "", false, s.bad("want , or }")
	}
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return "", false, s.bad("want a member name")
	}
	if name, ok = s.str(); !ok {
		return "", false, false
	}
	if s.peek() != ':' {
		return "", false, s.bad("want :")
	}
	s.i++
	s.peek()
	return name, true, true
}

// plain are the bytes of a string that stand for themselves and need no look.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// str reads the string that is here; without escapes it aliases the input.
func (s *scanner) str() (string, bool) {
	start := s.i + 1
	i, ascii := start, true
	for i < len(s.b) {
		c := s.b[i]
		switch {
		case plain[c]:
			i++
		case c == '"':
			s.i = i + 1
			text := alias(s.b[start:i])
			if !ascii && !utf8.ValidString(text) {
				return "", s.bad("invalid UTF-8")
			}
			return text, true
		case c == '\\':
			return s.escaped(start, i)
		case c < 0x20:
			return "", s.bad("a control character in a string")
		default:
			ascii = false
			i++
		}
	}
	return "", s.bad("a string without end")
}

// escaped goes on with a string in which an escape stands at i.
func (s *scanner) escaped(start, i int) (string, bool) {
	if !utf8.Valid(s.b[start:i]) {
		return "", s.bad("invalid UTF-8")
	}
	out := make([]byte, i-start, i-start+64)
	copy(out, s.b[start:i])
	for i < len(s.b) {
		c := s.b[i]
		switch {
		case c == '"':
			s.i = i + 1
			return alias(out), true
		case c == '\\':
			var ok bool
			if out, i, ok = s.escape(out, i); !ok {
				return "", false
			}
		case c < 0x20:
			return "", s.bad("a control character in a string")
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(s.b[i:])
			if r == utf8.RuneError && n == 1 {
				return "", s.bad("invalid UTF-8")
			}
			out = append(out, s.b[i:i+n]...)
			i += n
		}
	}
	return "", s.bad("a string without end")
}

// escape appends what the escape at i stands for, and returns the place after it.
func (s *scanner) escape(out []byte, i int) ([]byte, int, bool) {
	if i+1 >= len(s.b) {
		return out, i, s.bad("a string without end")
	}
	switch c := s.b[i+1]; c {
	case '"', '\\', '/':
		return append(out, c), i + 2, true
	case 'b':
		return append(out, '\b'), i + 2, true
	case 'f':
		return append(out, '\f'), i + 2, true
	case 'n':
		return append(out, '\n'), i + 2, true
	case 'r':
		return append(out, '\r'), i + 2, true
	case 't':
		return append(out, '\t'), i + 2, true
	case 'u':
		r, ok := hex4(s.b[i+2:])
		if !ok {
			return out, i, s.bad("a bad escape")
		}
		i += 6
		if isHigh(r) && len(s.b)-i >= 6 && s.b[i] == '\\' && s.b[i+1] == 'u' {
			if low, ok := hex4(s.b[i+2:]); ok && isLow(low) {
				return utf8.AppendRune(out, joinSurrogates(r, low)), i + 6, true
			}
		}
		return appendWTF8(out, r), i, true
	}
	return out, i, s.bad("a bad escape")
}

func isHigh(r rune) bool { return r >= 0xD800 && r < 0xDC00 }
func isLow(r rune) bool  { return r >= 0xDC00 && r < 0xE000 }

func joinSurrogates(high, low rune) rune { return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000 }

// appendWTF8 appends r, a surrogate as the three bytes that UTF-8 would give it.
func appendWTF8(out []byte, r rune) []byte {
	if isHigh(r) || isLow(r) {
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

// skip passes one whole value of any kind, checking all of it.
func (s *scanner) skip() bool {
	switch c := s.peek(); {
	case c == '"':
		return s.skipString()
	case c == '{':
		if !s.open() {
			return false
		}
		for first := true; ; first = false {
			_, more, ok := s.nextName(first)
			if !ok {
				return false
			}
			if !more {
				return true
			}
			if !s.skip() {
				return false
			}
		}
	case c == '[':
		if !s.open() {
			return false
		}
		for first := true; ; first = false {
			more, ok := s.nextItem(first)
			if !ok {
				return false
			}
			if !more {
				return true
			}
			if !s.skip() {
				return false
			}
		}
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	if s.i >= len(s.b) {
		return s.bad("the text ends too soon")
	}
	return s.bad("not a JSON value")
}

func (s *scanner) skipString() bool {
	start := s.i + 1
	ascii := true
	for i := start; i < len(s.b); {
		c := s.b[i]
		switch {
		case plain[c]:
			i++
		case c == '"':
			s.i = i + 1
			if !ascii && !utf8.Valid(s.b[start:i]) {
				return s.bad("invalid UTF-8")
			}
			return true
		case c == '\\':
			if i+1 >= len(s.b) {
				return s.bad("a string without end")
			}
			switch s.b[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			case 'u':
				if _, ok := hex4(s.b[i+2:]); !ok {
					return s.bad("a bad escape")
				}
				i += 6
			default:
				return s.bad("a bad escape")
			}
		case c < 0x20:
			return s.bad("a control character in a string")
		default:
			ascii = false
			i++
		}
	}
	return s.bad("a string without end")
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.i < len(w) || alias(s.b[s.i:s.i+len(w)]) != w {
		return s.bad("not a JSON value")
	}
	s.i += len(w)
	return true
}

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}

func (s *scanner) at(c byte) bool { return s.i < len(s.b) && s.b[s.i] == c }

func (s *scanner) number() bool {
	if s.at('-') {
		s.i++
	}
	if s.at('0') {
		s.i++
	} else if !s.digits() {
		return s.bad("a bad number")
	}
	if s.at('.') {
		if s.i++; !s.digits() {
			return s.bad("a bad number")
		}
	}
	if s.at('e') || s.at('E') {
		s.i++
		if s.at('+') || s.at('-') {
			s.i++
		}
		if !s.digits() {
			return s.bad("a bad number")
		}
	}
	return true
}
