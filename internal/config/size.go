package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// sizeUnits are the units of a size, largest binary one first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// ParseSize reads a number of bytes: decimal digits, then one of B, kB, MB, GB, TB
// (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024) or nothing, in any case.
// A bare K, M or G is refused because it means either.
func ParseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit := text[len(digits):]
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%s is no size such as 512, 64KiB or 1MiB", quote(text))
	}
	if unit == "" {
		return int64(n), nil
	}
	for _, u := range sizeUnits {
		if strings.EqualFold(u.name, unit) {
			if int64(n) > math.MaxInt64/u.bytes {
				return 0, fmt.Errorf("%s is too large", quote(text))
			}
			return int64(n) * u.bytes, nil
		}
	}
	return 0, fmt.Errorf("%s has no unit of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB", quote(text))
}

// FormatSize is the shortest exact text [ParseSize] reads back as n bytes in
// binary units; n is at least 0.
func FormatSize(n int64) string {
	for _, u := range sizeUnits[:4] {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// formatDuration is d without the zero minutes and seconds that time prints.
func formatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

var errEmpty = errors.New("is empty")

// quote is text for a message: cut, so that a file given by mistake does not fill the screen.
func quote(text string) string {
	if r := []rune(text); len(r) > 32 {
		text = string(r[:32]) + "…"
	}
	return strconv.Quote(text)
}

func withUnit(text, unit string) string {
	if unit == "" {
		return text
	}
	return text + " " + unit
}

func rangeText[T int | int64 | time.Duration](lo, hi T, format func(T) string, unit string) string {
	switch {
	case hi != 0:
		return withUnit(format(lo)+" to "+format(hi), unit)
	case lo != 0:
		return withUnit("at least "+format(lo), unit)
	}
	return ""
}

func checkRange[T int | int64 | time.Duration](n, lo, hi T, format func(T) string, unit string) error {
	if n >= lo && (hi == 0 || n <= hi) {
		return nil
	}
	want := cmp.Or(rangeText(lo, hi, format, unit), withUnit("at least "+format(lo), unit))
	return fmt.Errorf("%s is out of range: %s", withUnit(format(n), unit), want)
}

func nilTarget(isNil bool) error {
	if isNil {
		return errors.New("has no variable to go to")
	}
	return nil
}

// brokenDefault is err as a defect of a default, which a required setting does not use.
func brokenDefault(required bool, err error) error {
	if err == nil || required {
		return nil
	}
	return fmt.Errorf("has a bad default: %w", err)
}
