package subject

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxID is the largest size, in bytes, of a thread or invoke id.
const MaxID = 256

// ErrID is the error of an id that is empty, longer than MaxID or not UTF-8.
var ErrID = errors.New("invalid id")

// CheckID reports whether id can name a thread or an invoke: 1 to MaxID bytes
// of UTF-8. The error is an ErrID and does not quote the id.
func CheckID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: empty", ErrID)
	case len(id) > MaxID:
		return fmt.Errorf("%w: %d bytes, the limit is %d", ErrID, len(id), MaxID)
	case !utf8.ValidString(id):
		return fmt.Errorf("%w: not UTF-8", ErrID)
	}
	return nil
}

const hexDigits = "0123456789ABCDEF"

// Escape writes any string as one subject token. The token of "" is "", which
// is no token: check ids with CheckID first. Equal tokens mean equal strings.
func Escape(s string) string {
	n := 0
	for i := 0; i < len(s); i++ {
		if reserved(s, i) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 2*n)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !reserved(s, i) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}

// reserved tells whether the byte at i cannot stand as it is in a token.
func reserved(s string, i int) bool {
	switch c := s[i]; {
	case c <= ' ' || c == 0x7f:
		return true
	case c == '.' || c == '*' || c == '>' || c == '%':
		return true
	case c == '$':
		return i == 0
	}
	return false
}

// Unescape reverses Escape. It accepts only what Escape writes: a token with
// a needless, malformed or lower-case escape is refused, so that no string
// has two tokens.
func Unescape(token string) (string, error) {
	if strings.IndexByte(token, '%') < 0 {
		for i := 0; i < len(token); i++ {
			if reserved(token, i) {
				return "", fmt.Errorf("subject token: unescaped byte at %d", i)
			}
		}
		return token, nil
	}
	var b strings.Builder
	b.Grow(len(token))
	for i := 0; i < len(token); i++ {
		c := token[i]
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		if i+2 >= len(token) {
			return "", fmt.Errorf("subject token: cut escape at %d", i)
		}
		hi := strings.IndexByte(hexDigits, token[i+1])
		lo := strings.IndexByte(hexDigits, token[i+2])
		if hi < 0 || lo < 0 {
			return "", fmt.Errorf("subject token: malformed escape at %d", i)
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	s := b.String()
	if Escape(s) != token {
		return "", errors.New("subject token: not in its one spelling")
	}
	return s, nil
}
