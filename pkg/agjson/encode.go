package agjson

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// closeObject ends an object whose members, each with a comma before it, begin at at.
func closeObject(dst []byte, at int) []byte {
	if len(dst) == at {
		return append(dst, "{}"...)
	}
	dst[at] = '{'
	return append(dst, '}')
}

func appendExtra(dst []byte, list []Member) []byte {
	for _, m := range list {
		dst = append(appendText(append(dst, ','), m.Name), ':')
		dst = append(dst, m.Value...)
	}
	return dst
}

// appendSharedExtra is appendExtra beside shared members; has says which of those stand already, so that an id that came
// empty (keepEmpty) and was set since is not written twice.
func appendSharedExtra(dst []byte, list []Member, has func(name string) bool) []byte {
	for i := range list {
		if m := &list[i]; len(m.Value) != 2 || !has(m.Name) {
			dst = appendExtra(dst, list[i:i+1])
		}
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Nothing is escaped that JSON does not ask for; a lone surrogate (see Decode) is
// escaped, and a pair that stands next to each other is joined into its character. A byte that is no text becomes U+FFFD.
func AppendString(dst []byte, s string) []byte { return appendText(dst, s) }

func appendText(dst []byte, s string) []byte {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	i := plainEnd(b, 0)
	if i < len(b) && !utf8.Valid(b[i:]) {
		return appendWTF8Text(dst, s)
	}
	dst = append(dst, '"')
	start := 0
	for i = textEnd(b, i); i < len(b); i = textEnd(b, i+1) {
		dst = appendEscape(append(dst, b[start:i]...), b[i])
		start = i + 1
	}
	return append(append(dst, b[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendWTF8Text is appendText for a string that is not valid UTF-8, rune by rune.
func appendWTF8Text(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case plain[c]:
			dst = append(dst, c)
			i++
		case c < utf8.RuneSelf:
			dst = appendEscape(dst, c)
			i++
		case isWTF8Surrogate(s[i:]):
			r := wtf8Rune(s[i:])
			i += 3
			if isHigh(r) && isWTF8Surrogate(s[i:]) && isLow(wtf8Rune(s[i:])) {
				dst = utf8.AppendRune(dst, joinSurrogates(r, wtf8Rune(s[i:])))
				i += 3
				continue
			}
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return append(dst, '"')
}

// isWTF8Surrogate says whether s begins with the three bytes of a surrogate.
func isWTF8Surrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1]&0xE0 == 0xA0 && s[2]&0xC0 == 0x80
}

func wtf8Rune(s string) rune { return rune(s[0]&0xF)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F) }

func appendString(dst []byte, v *string) []byte { return appendText(dst, *v) }
func appendSecret(dst []byte, v *Secret) []byte { return appendText(dst, string(*v)) }
func appendSeq(dst []byte, v *int64) []byte     { return strconv.AppendInt(dst, *v, 10) }
func appendBool(dst []byte, v *bool) []byte     { return strconv.AppendBool(dst, *v) }

func appendNumber(dst []byte, v *Number) []byte {
	if *v == "" {
		return append(dst, '0')
	}
	return append(dst, *v...)
}

func appendAny(dst []byte, v *json.RawMessage) []byte {
	if *v == nil {
		return append(dst, "null"...)
	}
	return append(dst, *v...)
}

func appendMeta(dst []byte, v *json.RawMessage) []byte { return appendAny(dst, v) }
func appendBag(dst []byte, v *Opaque) []byte           { return appendAny(dst, (*json.RawMessage)(v)) }

func appendList[T any](dst []byte, list []T, f func([]byte, *T) []byte) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f(dst, &list[i])
	}
	return append(dst, ']')
}

func appendMap[T any](dst []byte, m map[string]T, f func([]byte, *T) []byte) []byte {
	dst = append(dst, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		v := m[k]
		dst = f(append(appendText(dst, k), ':'), &v)
	}
	return append(dst, '}')
}

// appendSurfaceKind writes the discriminants of a surface interaction.
func appendSurfaceKind(dst []byte, b SurfaceInteractionBody) []byte {
	surface, inner, two := strings.Cut(b.Type(), "/")
	dst = appendText(append(dst, `,"surface":`...), surface)
	switch {
	case !two:
		return dst
	case Surface(surface) == SurfaceA2ui:
		return appendText(append(dst, `,"a2uiMessage":`...), inner)
	}
	return appendText(append(dst, `,"method":`...), inner)
}
