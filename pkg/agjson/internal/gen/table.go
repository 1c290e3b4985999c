package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// field is one row: a member of an object, a shared member of a union, or a member of one of its variants.
type field struct {
	Name     string // wire name
	Go       string // Go name
	Type     string // type as the table spells it
	Optional bool
	Shared   bool // a member that a union's variants share
}

// variant is a `case` of a union, or a whole object.
type variant struct {
	Value   string // discriminant, "-" for the one without
	Go      string
	Profile string
	Need    []string
	Check   bool
	Fields  []field
}

// union is a sum of variants told apart by the members in Disc.
type union struct {
	Schema, Go string
	Disc       [][]string // one or two members; each a list of alternatives
	Shared     []field
	Check      bool // a hand-written rule over the whole
	Cases      []*variant
}

// object is a plain product.
type object struct {
	Schema string
	variant
}

type enum struct {
	Go     string
	Values []string
}

type table struct {
	Enums   []*enum
	Objects []*object
	Unions  []*union
}

// parseTable reads the rows. Errors name the line.
func parseTable(r io.Reader) (*table, error) {
	t := &table{}
	var obj *object
	var un *union
	var cur *variant
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		w := strings.Fields(line)
		if len(w) == 0 || w[0] == "#" || strings.HasPrefix(w[0], "#") {
			continue
		}
		switch {
		case w[0] == "enum" && len(w) > 2:
			t.Enums = append(t.Enums, &enum{Go: w[1], Values: w[2:]})
			obj, un, cur = nil, nil, nil
		case w[0] == "object" && len(w) == 3:
			obj = &object{Schema: w[1], variant: variant{Go: w[2]}}
			t.Objects = append(t.Objects, obj)
			un, cur = nil, &obj.variant
		case w[0] == "union" && len(w) == 4:
			un = &union{Schema: w[1], Go: w[2]}
			for _, d := range strings.Split(w[3], "+") {
				un.Disc = append(un.Disc, strings.Split(d, "|"))
			}
			t.Unions = append(t.Unions, un)
			obj, cur = nil, nil
		case w[0] == "case" && un != nil && len(w) >= 3:
			cur = &variant{Value: w[1], Go: w[2]}
			rest := w[3:]
			if len(rest) > 0 && rest[0] != "need" {
				cur.Profile, rest = rest[0], rest[1:]
			}
			if len(rest) > 0 {
				cur.Need = rest[1:]
			}
			un.Cases = append(un.Cases, cur)
		case len(w) == 1 && w[0] == "check" && cur != nil:
			cur.Check = true
		case len(w) == 1 && w[0] == "check" && un != nil:
			un.Check = true
		case len(w) == 2 && strings.HasPrefix(line, "  "):
			f := field{Name: strings.TrimSuffix(w[0], "?"), Type: w[1], Optional: strings.HasSuffix(w[0], "?")}
			f.Go = goName(f.Name)
			switch {
			case cur != nil:
				cur.Fields = append(cur.Fields, f)
			case un != nil:
				f.Shared = true
				un.Shared = append(un.Shared, f)
			default:
				return nil, fmt.Errorf("line %d: a field outside an object", n)
			}
		default:
			return nil, fmt.Errorf("line %d: cannot read %q", n, line)
		}
	}
	return t, sc.Err()
}

var initialisms = map[string]string{"Id": "ID", "Ids": "IDs", "Url": "URL", "Html": "HTML", "Ui": "UI", "Usd": "USD", "Uri": "URI", "Json": "JSON"}

// goName turns a wire name into a Go name: turnId → TurnID, _meta → Meta, uiData → UIData.
func goName(s string) string {
	s = strings.TrimPrefix(s, "_")
	var words []string
	start := 0
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) {
			words = append(words, s[start:i])
			start = i
		}
	}
	words = append(words, s[start:])
	for i, w := range words {
		w = strings.ToUpper(w[:1]) + w[1:]
		if v, ok := initialisms[w]; ok {
			w = v
		}
		words[i] = w
	}
	return strings.Join(words, "")
}

// goValue turns an enum's value into the tail of a Go name: code-result → CodeResult.
func goValue(s string) string {
	switch s {
	case "[start,end)":
		return "HalfOpen"
	case "[start,end]":
		return "Closed"
	}
	var b strings.Builder
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' }) {
		w = strings.ToUpper(w[:1]) + w[1:]
		if v, ok := initialisms[w]; ok {
			w = v
		}
		b.WriteString(w)
	}
	return b.String()
}
