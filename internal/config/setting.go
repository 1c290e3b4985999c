package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting is one setting of any kind; the kinds are the …Var types of this
// package. A Setting belongs to one [Set] and is not safe for concurrent use.
type Setting interface {
	// info describes the setting; it does not look at the stored value.
	info() info
	// parse stores what text says, or leaves the stored value and says, without
	// naming the setting, what is wrong.
	parse(text string) error
	// useDefault stores the default.
	useDefault()
	// logged is the stored value as text, with secrets left out.
	logged() string
	// broken says what is wrong with the definition itself.
	broken() error
}

// info is what help, flags and error messages need to know of a setting.
type info struct {
	name, help string
	kind       string // placeholder of the value in help; "" for a bool
	def        string // default as text; "" when there is none
	limits     string // range, values or units in words; "" when anything goes
	required   bool
	flagOnly   bool
}

// StringVar is a setting of free text.
type StringVar struct {
	Name     string             // lower case words joined by "-"
	To       *string            // where the value goes; never nil
	Default  string             // used when nothing gives a value
	Help     string             // one sentence without its full stop
	Kind     string             // placeholder in help, such as "path"; "" is "string"
	Required bool               // something must give a value, if there is no default; an empty one is refused
	FlagOnly bool               // no environment variable and no key in the file
	Check    func(string) error // further rule, or nil; its error must not repeat the value
}

func (v *StringVar) info() info {
	return info{name: v.Name, help: v.Help, kind: cmp.Or(v.Kind, "string"), def: v.Default,
		required: v.Required && v.Default == "", flagOnly: v.FlagOnly}
}

func (v *StringVar) parse(text string) error {
	if v.Required && text == "" {
		return errEmpty
	}
	if v.Check != nil {
		if err := v.Check(text); err != nil {
			return err
		}
	}
	*v.To = text
	return nil
}

func (v *StringVar) useDefault()    { *v.To = v.Default }
func (v *StringVar) logged() string { return *v.To }

func (v *StringVar) broken() error {
	var err error
	if v.Check != nil && v.Default != "" {
		err = v.Check(v.Default)
	}
	return cmp.Or(nilTarget(v.To == nil), brokenDefault(v.Required && v.Default == "", err))
}

// IntVar is a setting of a whole number in decimal digits.
type IntVar struct {
	Name     string // lower case words joined by "-"
	To       *int   // where the value goes; never nil
	Default  int    // used when nothing gives a value
	Min, Max int    // range, both included; Max 0 is no upper bound
	Unit     string // what is counted, such as "messages"; "bytes" makes it a size, as [SizeVar] has it
	Values   []int  // the only values, ascending; nil is all of the range
	Help     string // one sentence without its full stop
	Required bool   // something must give a value
	FlagOnly bool   // no environment variable and no key in the file
}

func (v *IntVar) isSize() bool { return v.Unit == "bytes" }

// text is a value as help and messages show it, and unit what stands behind it.
func (v *IntVar) text(n int) string {
	if v.isSize() && n >= 0 {
		return FormatSize(int64(n))
	}
	return strconv.Itoa(n)
}

func (v *IntVar) unit() string {
	if v.isSize() {
		return ""
	}
	return v.Unit
}

// limits are the values or the range in words.
func (v *IntVar) limits() string {
	if len(v.Values) == 0 {
		return rangeText(v.Min, v.Max, v.text, v.unit())
	}
	words := make([]string, len(v.Values))
	for i, n := range v.Values {
		words[i] = v.text(n)
	}
	last := words[len(words)-1]
	if len(words) > 1 {
		last = strings.Join(words[:len(words)-1], ", ") + " or " + last
	}
	return last
}

// check refuses what is outside of the values or the range.
func (v *IntVar) check(n int) error {
	if len(v.Values) == 0 {
		return checkRange(n, v.Min, v.Max, v.text, v.unit())
	}
	if !slices.Contains(v.Values, n) {
		return fmt.Errorf("%s is not %s", v.text(n), v.limits())
	}
	return nil
}

func (v *IntVar) info() info {
	kind := "int"
	if v.isSize() {
		kind = "size"
	}
	return info{name: v.Name, help: v.Help, kind: kind, def: withUnit(v.text(v.Default), v.unit()),
		limits: v.limits(), required: v.Required, flagOnly: v.FlagOnly}
}

func (v *IntVar) parse(text string) error {
	n, err := v.read(text)
	if err != nil {
		return err
	}
	if err := v.check(n); err != nil {
		return err
	}
	*v.To = n
	return nil
}

func (v *IntVar) read(text string) (int, error) {
	if v.isSize() {
		n, err := ParseSize(text)
		if err == nil && n > math.MaxInt {
			err = fmt.Errorf("%s is too large", quote(text))
		}
		return int(n), err
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is no whole number", quote(text))
	}
	return n, nil
}

func (v *IntVar) useDefault()    { *v.To = v.Default }
func (v *IntVar) logged() string { return v.text(*v.To) }

func (v *IntVar) broken() error {
	return cmp.Or(nilTarget(v.To == nil), brokenDefault(v.Required, v.check(v.Default)))
}

// SizeVar is a setting of a number of bytes, written as digits with one of the
// units of [ParseSize] behind it, such as 1MiB.
type SizeVar struct {
	Name     string // lower case words joined by "-"
	To       *int64 // where the value goes, in bytes; never nil
	Default  int64  // bytes; used when nothing gives a value
	Min, Max int64  // range in bytes, both included; Max 0 is no upper bound
	Help     string // one sentence without its full stop
	Required bool   // something must give a value
	FlagOnly bool   // no environment variable and no key in the file
}

func (v *SizeVar) info() info {
	return info{name: v.Name, help: v.Help, kind: "size", def: FormatSize(v.Default),
		limits: rangeText(v.Min, v.Max, FormatSize, ""), required: v.Required, flagOnly: v.FlagOnly}
}

func (v *SizeVar) parse(text string) error {
	n, err := ParseSize(text)
	if err != nil {
		return err
	}
	if err := checkRange(n, v.Min, v.Max, FormatSize, ""); err != nil {
		return err
	}
	*v.To = n
	return nil
}

func (v *SizeVar) useDefault()    { *v.To = v.Default }
func (v *SizeVar) logged() string { return FormatSize(*v.To) }

func (v *SizeVar) broken() error {
	return cmp.Or(nilTarget(v.To == nil), brokenDefault(v.Required, checkRange(v.Default, v.Min, v.Max, FormatSize, "")))
}

// DurationVar is a setting of a length of time as [time.ParseDuration] reads it,
// such as 300ms or 1h30m.
type DurationVar struct {
	Name     string         // lower case words joined by "-"
	To       *time.Duration // where the value goes; never nil
	Default  time.Duration  // used when nothing gives a value
	Min, Max time.Duration  // range, both included; Max 0 is no upper bound
	Help     string         // one sentence without its full stop
	Required bool           // something must give a value
	FlagOnly bool           // no environment variable and no key in the file
}

func (v *DurationVar) info() info {
	return info{name: v.Name, help: v.Help, kind: "duration", def: formatDuration(v.Default),
		limits: rangeText(v.Min, v.Max, formatDuration, ""), required: v.Required, flagOnly: v.FlagOnly}
}

func (v *DurationVar) parse(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%s is no duration such as 300ms, 5s or 1h30m", quote(text))
	}
	if err := checkRange(d, v.Min, v.Max, formatDuration, ""); err != nil {
		return err
	}
	*v.To = d
	return nil
}

func (v *DurationVar) useDefault()    { *v.To = v.Default }
func (v *DurationVar) logged() string { return formatDuration(*v.To) }

func (v *DurationVar) broken() error {
	return cmp.Or(nilTarget(v.To == nil), brokenDefault(v.Required, checkRange(v.Default, v.Min, v.Max, formatDuration, "")))
}

// BoolVar is a setting that is true or false; as a flag, --name alone is true.
type BoolVar struct {
	Name     string // lower case words joined by "-"
	To       *bool  // where the value goes; never nil
	Default  bool   // used when nothing gives a value
	Help     string // one sentence without its full stop
	FlagOnly bool   // no environment variable and no key in the file
}

func (v *BoolVar) info() info {
	return info{name: v.Name, help: v.Help, def: strconv.FormatBool(v.Default), flagOnly: v.FlagOnly}
}

func (v *BoolVar) parse(text string) error {
	if text != "true" && text != "false" {
		return fmt.Errorf("%s is neither true nor false", quote(text))
	}
	*v.To = text == "true"
	return nil
}

func (v *BoolVar) useDefault()    { *v.To = v.Default }
func (v *BoolVar) logged() string { return strconv.FormatBool(*v.To) }
func (v *BoolVar) broken() error  { return nilTarget(v.To == nil) }

// EnumVar is a setting of one word out of a closed list.
type EnumVar struct {
	Name     string   // lower case words joined by "-"
	To       *string  // where the value goes; never nil
	Default  string   // one of Values; used when nothing gives a value
	Values   []string // what is allowed, spelt exactly so
	Help     string   // one sentence without its full stop
	Required bool     // something must give a value
	FlagOnly bool     // no environment variable and no key in the file
}

func (v *EnumVar) info() info {
	return info{name: v.Name, help: v.Help, kind: "word", def: v.Default,
		limits: "one of " + strings.Join(v.Values, ", "), required: v.Required, flagOnly: v.FlagOnly}
}

func (v *EnumVar) parse(text string) error {
	if !slices.Contains(v.Values, text) {
		return fmt.Errorf("%s is not one of %s", quote(text), strings.Join(v.Values, ", "))
	}
	*v.To = text
	return nil
}

func (v *EnumVar) useDefault()    { *v.To = v.Default }
func (v *EnumVar) logged() string { return *v.To }

func (v *EnumVar) broken() error {
	var err error
	if !slices.Contains(v.Values, v.Default) {
		err = errors.New("is not one of the values")
	}
	return cmp.Or(nilTarget(v.To == nil), brokenDefault(v.Required, err))
}

// ListVar is a setting of several texts. A flag and a variable hold them
// comma-separated, a flag may be given again to add more, and the file may hold a
// YAML sequence. An item is never empty, holds no comma, and is trimmed of
// surrounding spaces. The empty text is the empty list.
type ListVar struct {
	Name     string             // lower case words joined by "-"
	To       *[]string          // where the value goes; never nil
	Default  []string           // used when nothing gives a value
	Help     string             // one sentence without its full stop
	Required bool               // something must give at least one item
	FlagOnly bool               // no environment variable and no key in the file
	Check    func(string) error // further rule for an item, or nil; its error must not repeat the item
}

func (v *ListVar) info() info {
	return info{name: v.Name, help: v.Help, kind: "list", def: strings.Join(v.Default, ","),
		required: v.Required, flagOnly: v.FlagOnly}
}

func (v *ListVar) parse(text string) error {
	items, err := splitList(text)
	if err != nil {
		return err
	}
	if v.Required && len(items) == 0 {
		return errEmpty
	}
	for i, item := range items {
		if v.Check != nil {
			if err := v.Check(item); err != nil {
				return fmt.Errorf("item %d: %w", i+1, err)
			}
		}
	}
	*v.To = items
	return nil
}

func (v *ListVar) useDefault()    { *v.To = slices.Clone(v.Default) }
func (v *ListVar) logged() string { return strings.Join(*v.To, ",") }

func (v *ListVar) broken() error {
	items, err := splitList(strings.Join(v.Default, ","))
	if err == nil && !slices.Equal(items, v.Default) {
		err = errors.New("is not what its own text gives back")
	}
	return cmp.Or(nilTarget(v.To == nil), brokenDefault(v.Required, err))
}

func splitList(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
		if items[i] == "" {
			return nil, fmt.Errorf("item %d is empty", i+1)
		}
	}
	return items, nil
}
