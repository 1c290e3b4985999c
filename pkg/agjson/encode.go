package agjson

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
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

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Nothing is escaped that JSON does not ask for; a lone surrogate (see Decode) is
// escaped, and a pair that stands next to each other is joined into its character.
func AppendString(dst []byte, s string) []byte { return appendText(dst, s) }

func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c == 0xED && i+2 < len(s) && s[i+1] >= 0xA0 {
			dst = append(dst, s[start:i]...)
			n := surrogate(s, i, &dst)
			i += n
			start = i
			continue
		}
		if c >= utf8.RuneSelf {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// surrogate appends the surrogate at s[i:], with its mate if that follows, and returns how many bytes it took.
func surrogate(s string, i int, dst *[]byte) int {
	r := wtf8Rune(s[i:])
	if isHigh(r) && len(s)-i >= 6 && s[i+3] == 0xED && s[i+4] >= 0xB0 {
		*dst = utf8.AppendRune(*dst, joinSurrogates(r, wtf8Rune(s[i+3:])))
		return 6
	}
	*dst = append(*dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	return 3
}

func wtf8Rune(s string) rune { return rune(s[0]&0xF)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F) }

func appendString(dst []byte, v *string) []byte { return appendText(dst, *v) }
func appendSecret(dst []byte, v *Secret) []byte { return appendText(dst, string(*v)) }
func appendInt(dst []byte, v *int) []byte       { return strconv.AppendInt(dst, int64(*v), 10) }
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

// appendSurfaceKind writes the two discriminants of a surface interaction.
func appendSurfaceKind(dst []byte, b SurfaceInteractionBody) []byte {
	surface, inner, _ := strings.Cut(b.Type(), "/")
	dst = appendText(append(dst, `,"surface":`...), surface)
	if surface == string(SurfaceA2ui) {
		return appendText(append(dst, `,"a2uiMessage":`...), inner)
	}
	return appendText(append(dst, `,"method":`...), inner)
}
