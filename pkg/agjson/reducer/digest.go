package reducer

import (
	"cmp"
	"crypto/sha256"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/agwire/agwire/pkg/agjson"
)

// Digest is the SHA-256 of the result in the canonical form of RFC 8785, so that folds can be compared by 32 bytes: two
// results that are structurally identical (SPEC §5 INV-FOLD) have one digest. Memory is a set keyed by scope and key, so it
// is put in that order first. As RFC 8785 has it numbers count as doubles; one beyond a double counts by its text, a lone
// surrogate by its escape, and of names that repeat within an object the last.
func Digest(res agjson.ReduceResult) [sha256.Size]byte {
	res.Memory = slices.Clone(res.Memory)
	slices.SortStableFunc(res.Memory, func(a, b agjson.MemoryRecord) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(text(a.Key), text(b.Key)))
	})
	raw := agjson.AppendReduceResult(nil, &res)
	v, err := agjson.ParseValue(raw)
	if err != nil {
		return sha256.Sum256(raw) // a result nested beyond what any decoder takes
	}
	return sha256.Sum256(appendCanonical(nil, v))
}

// Digest is the Digest of Result.
func (r *Reducer) Digest() [sha256.Size]byte { return Digest(r.Result()) }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func appendCanonical(dst []byte, v agjson.Value) []byte {
	switch v.Kind() {
	case agjson.KindNumber:
		return appendDouble(dst, string(v.Raw()))
	case agjson.KindString:
		return appendCanonicalString(dst, v.Str())
	case agjson.KindList:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCanonical(dst, item)
		}
		return append(dst, ']')
	case agjson.KindObject:
		return appendCanonicalObject(dst, v)
	}
	return append(dst, v.Raw()...)
}

type canonicalMember struct {
	name  string
	units []uint16
	val   agjson.Value
}

func appendCanonicalObject(dst []byte, v agjson.Value) []byte {
	var list []canonicalMember
	for name, val := range v.Members {
		list = append(list, canonicalMember{name, utf16Units(name), val})
	}
	slices.SortStableFunc(list, func(a, b canonicalMember) int { return slices.Compare(a.units, b.units) })
	dst = append(dst, '{')
	n := 0
	for i, m := range list {
		if i+1 < len(list) && list[i+1].name == m.name {
			continue
		}
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		dst = appendCanonical(append(appendCanonicalString(dst, m.name), ':'), m.val)
	}
	return append(dst, '}')
}

// utf16Units is the string in UTF-16; a surrogate kept as three bytes is its own unit.
func utf16Units(s string) []uint16 {
	out := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 && len(s)-i >= 3 {
			r, n = rune(s[i]&0xF)<<12|rune(s[i+1]&0x3F)<<6|rune(s[i+2]&0x3F), 3
		}
		if r >= 0x10000 {
			out = append(out, uint16(0xD800+(r-0x10000)>>10), uint16(0xDC00+(r-0x10000)&0x3FF))
		} else {
			out = append(out, uint16(r))
		}
		i += n
	}
	return out
}

// appendCanonicalString is the string as RFC 8785 writes it, which is how package agjson does.
func appendCanonicalString(dst []byte, s string) []byte { return agjson.AppendString(dst, s) }

// appendDouble writes a number as ECMAScript does (RFC 8785 §3.2.2.3).
func appendDouble(dst []byte, s string) []byte {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return append(dst, s...)
	}
	if f == 0 {
		return append(dst, '0')
	}
	if f < 0 {
		dst = append(dst, '-')
		f = -f
	}
	if f >= 1e21 || f < 1e-6 {
		at := len(dst)
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		// ECMAScript writes no leading zero in an exponent.
		if e := slices.Index(dst[at:], 'e') + at; dst[e+2] == '0' {
			dst = slices.Delete(dst, e+2, e+3)
		}
		return dst
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}
