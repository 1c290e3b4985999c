package agjson

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

func (d *decoder) text() (string, error) {
	if d.peek() != '"' {
		return "", d.wrong("want a string")
	}
	s, ok := d.str()
	if !ok {
		return "", d.syntax()
	}
	return s, nil
}

func (d *decoder) literal(want string) error {
	s, err := d.text()
	if err == nil && s != want {
		err = d.wrong("want " + strconv.Quote(want))
	}
	return err
}

func (d *decoder) yes() error {
	var v bool
	err := decodeBool(d, &v)
	if err == nil && !v {
		err = d.wrong("want true")
	}
	return err
}

func decodeString(d *decoder, v *string) (err error) {
	*v, err = d.text()
	return err
}

func decodeSecret(d *decoder, v *Secret) error {
	s, err := d.text()
	*v = Secret(s)
	return err
}

func decodeBool(d *decoder, v *bool) error {
	c := d.peek()
	if c != 't' && c != 'f' {
		return d.wrong("want true or false")
	}
	if !d.skip() {
		return d.syntax()
	}
	*v = c == 't'
	return nil
}

func decodeNumber(d *decoder, v *Number) error {
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		return d.wrong("want a number")
	}
	start := d.i
	if !d.skip() {
		return d.syntax()
	}
	if *v = Number(alias(d.from(start))); tooGreat(string(*v)) {
		return d.wrong("want a number that a double can hold")
	}
	return nil
}

// tooGreat says whether a number is beyond a float64, where readers of other languages have no number for it.
func tooGreat(s string) bool {
	if len(s) < 300 && !strings.ContainsAny(s, "eE") {
		return false
	}
	f, _ := strconv.ParseFloat(s, 64)
	return math.IsInf(f, 0)
}

// maxInt is the largest integer that every JSON reader keeps exact.
const maxInt = 1<<53 - 1

func decodeSeq(d *decoder, v *int64) error {
	if n, ok := d.shortInt(); ok {
		*v = n
		return nil
	}
	var n Number
	if err := decodeNumber(d, &n); err != nil {
		return err
	}
	i, err := n.Int64()
	if err != nil || i < 0 || i > maxInt {
		return d.wrong("want an integer from 0 to 2^53-1")
	}
	*v = i
	return nil
}

// parseInt reads an integer, however it is spelt: 1, 1.0 and 1e0 are the same (SPEC is silent; a JSON number has no type).
func parseInt(s string) (int64, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil || !strings.ContainsAny(s, ".eE") {
		return i, err
	}
	if digits, ok := strings.CutPrefix(s, "-"); ok {
		return parseIntParts("-", digits)
	}
	return parseIntParts("", s)
}

// parseIntParts reads the number of that sign whose digits, point and exponent are s.
func parseIntParts(sign, s string) (int64, error) {
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		if mantissa = s[:i]; len(s)-i > 8 {
			return 0, strconv.ErrRange
		}
		if exponent, err = strconv.Atoi(s[i+1:]); err != nil {
			return 0, err
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(whole+fraction, "0")
	zeros := len(whole) + exponent - len(digits)
	switch digits = strings.TrimLeft(digits, "0"); {
	case digits == "":
		return 0, nil
	case zeros < 0 || len(digits)+zeros > 19:
		return 0, strconv.ErrRange
	}
	return strconv.ParseInt(sign+digits+strings.Repeat("0", zeros), 10, 64)
}

func decodeAny(d *decoder, v *json.RawMessage) error {
	d.peek()
	start := d.i
	if !d.skip() {
		return d.syntax()
	}
	*v = d.from(start)
	return nil
}

func decodeMeta(d *decoder, v *json.RawMessage) error {
	if d.peek() != '{' {
		return d.wrong("want an object")
	}
	return decodeAny(d, v)
}

func decodeBag(d *decoder, v *Opaque) error { return decodeMeta(d, (*json.RawMessage)(v)) }

func decodeList[T any](d *decoder, f func(*decoder, *T) error) ([]T, error) {
	if d.peek() != '[' {
		return nil, d.wrong("want an array")
	}
	if !d.open() {
		return nil, d.syntax()
	}
	list := []T{}
	for {
		more, ok := d.nextItem(len(list) == 0)
		if !ok {
			return nil, d.syntax()
		}
		if !more {
			return list, nil
		}
		n := len(list)
		list = append(list, *new(T))
		err := f(d, &list[n])
		if err == nil {
			err = d.count()
		}
		if err != nil {
			return nil, within(err, strconv.Itoa(n))
		}
	}
}

func decodeMap[T any](d *decoder, f func(*decoder, *T) error) (map[string]T, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	m := map[string]T{}
	for first := true; ; first = false {
		name, more, ok := d.nextName(first)
		if !ok {
			return nil, d.syntax()
		}
		if !more {
			return m, nil
		}
		var v T
		err := f(d, &v)
		if _, ok := m[name]; ok && err == nil {
			err = d.wrong(twice)
		}
		if err == nil {
			err = d.count()
		}
		if err != nil {
			return nil, within(err, name)
		}
		m[name] = v
	}
}
