package agtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
)

// Object is a decoded JSON object. Numbers are json.Number.
type Object = map[string]any

// Decode is the JSON value of raw, numbers as json.Number. It panics where raw is no JSON.
func Decode(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("agtest: %v", err))
	}
	return v
}

// Equal says whether two decoded values are the same: members in any order, numbers by value.
func Equal(a, b any) bool { return Diff(a, b) == "" }

// Diff is the JSON Pointer of the first place where two decoded values differ, with both values; "" when they are the same.
func Diff(want, got any) string { return diff("", want, got) }

func diff(at string, want, got any) string {
	switch w := want.(type) {
	case Object:
		g, ok := got.(Object)
		if !ok {
			break
		}
		for _, k := range keys(w, g) {
			wv, inW := w[k]
			gv, inG := g[k]
			switch {
			case !inG:
				return fmt.Sprintf("%s/%s: want %s, got none", at, k, show(wv))
			case !inW:
				return fmt.Sprintf("%s/%s: want none, got %s", at, k, show(gv))
			}
			if d := diff(at+"/"+k, wv, gv); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range min(len(w), len(g)) {
			if d := diff(fmt.Sprintf("%s/%d", at, i), w[i], g[i]); d != "" {
				return d
			}
		}
		if len(w) != len(g) {
			return fmt.Sprintf("%s: want %d items, got %d", at, len(w), len(g))
		}
		return ""
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(string(w), string(g)) {
			return ""
		}
	default:
		if reflect.DeepEqual(want, got) {
			return ""
		}
	}
	return fmt.Sprintf("%s: want %s, got %s", at, show(want), show(got))
}

func keys(a, b Object) []string {
	seen := map[string]bool{}
	for k := range a {
		seen[k] = true
	}
	for k := range b {
		seen[k] = true
	}
	list := make([]string, 0, len(seen))
	for k := range seen {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

func show(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	s := strings.TrimSpace(b.String())
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}

// Clone copies a decoded value.
func Clone(v any) any {
	switch x := v.(type) {
	case Object:
		out := make(Object, len(x))
		for k, m := range x {
			out[k] = Clone(m)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, m := range x {
			out[i] = Clone(m)
		}
		return out
	}
	return v
}
