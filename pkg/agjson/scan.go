package agjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
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
	if s.i < len(s.b) && s.b[s.i] > ' ' {
		return s.b[s.i]
	}
	return s.space()
}

func (s *scanner) space() byte {
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

const (
	each8 = 0x0101010101010101 // one in each byte
	high8 = 0x8080808080808080 // the high bit of each byte
)

// special8 marks, by their high bits, the quotes, backslashes and control characters among eight bytes; what it marks above
// the first one may be wrong.
func special8(w uint64) uint64 {
	quote, slash := w^each8*'"', w^each8*'\\'
	return ((quote-each8)&^quote | (slash-each8)&^slash | (w-each8*' ')&^w) & high8
}

// plainEnd is the place of the first byte from i on that is not plain; len(b) when all are.
func plainEnd(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if m := special8(w) | w&high8; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && plain[b[i]] {
		i++
	}
	return i
}

// textEnd is plainEnd that passes over what is not ASCII.
func textEnd(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := special8(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && (plain[b[i]] || b[i] >= utf8.RuneSelf) {
		i++
	}
	return i
}

// str reads the string that is here; without escapes it aliases the input.
func (s *scanner) str() (string, bool) {
	start := s.i + 1
	if i := plainEnd(s.b, start); i < len(s.b) && s.b[i] == '"' {
		s.i = i + 1
		return alias(s.b[start:i]), true
	}
	escaped, ok := s.passString()
	if !ok {
		return "", false
	}
	raw := s.b[start : s.i-1]
	if escaped {
		return unescape(raw), true
	}
	return alias(raw), true
}

func (s *scanner) skipString() bool {
	_, ok := s.passString()
	return ok
}

// passString passes the string that is here, checking all of it, and says whether it has an escape.
func (s *scanner) passString() (escaped, ok bool) {
	start := s.i + 1
	i, ascii := plainEnd(s.b, start), true
	for i < len(s.b) {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			if !ascii && !utf8.Valid(s.b[start:i]) {
				return false, s.bad("invalid UTF-8")
			}
			return escaped, true
		case c == '\\':
			n := escapeLen(s.b[i:])
			if n == 0 {
				return false, s.bad("a bad escape")
			}
			escaped = true
			i = plainEnd(s.b, i+n)
		case c >= utf8.RuneSelf:
			ascii = false
			i = textEnd(s.b, i)
		default:
			return false, s.bad("a control character in a string")
		}
	}
	return false, s.bad("a string without end")
}

// escapeLen is the length of the escape that b begins with, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

// escapes are what a letter after a backslash stands for; 'u' aside.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape is the text of a string that passString has passed. It is never longer than raw.
func unescape(raw []byte) string {
	out := make([]byte, 0, len(raw))
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			return alias(append(out, raw...))
		}
		out = append(out, raw[:n]...)
		if c := raw[n+1]; c != 'u' {
			out = append(out, escapes[c])
			raw = raw[n+2:]
			continue
		}
		r, _ := hex4(raw[n+2:])
		raw = raw[n+6:]
		if isHigh(r) && len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
			if low, _ := hex4(raw[2:]); isLow(low) {
				out = utf8.AppendRune(out, joinSurrogates(r, low))
				raw = raw[6:]
				continue
			}
		}
		out = appendWTF8(out, r)
	}
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

// shortInt passes the number that is here if it is up to 15 digits and nothing else; it stays where it is otherwise.
func (s *scanner) shortInt() (n int64, ok bool) {
	i := s.i
	for ; i < len(s.b) && i-s.i < 16; i++ {
		c := s.b[i] - '0'
		if c > 9 {
			break
		}
		n = n*10 + int64(c)
	}
	switch length := i - s.i; {
	case length == 0, length > 15, length > 1 && s.b[s.i] == '0':
		return 0, false
	case i < len(s.b) && (s.b[i] == '.' || s.b[i]|0x20 == 'e'):
		return 0, false
	}
	s.i = i
	return n, true
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
