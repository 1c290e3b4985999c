package agjson

import (
	"bytes"
	"strings"
	"unicode"
)

//go:generate go run ./internal/gen

// Ext is a vendor's own event, ext.<vendor>.<key> (SPEC §12); live-only for the fold.
type Ext struct {
	Name    string   // the whole type, "ext.anthropic.frame"
	Members []Member // its payload: all members that are not the event's own
}

// Type is the wire discriminant.
func (x *Ext) Type() string { return x.Name }
func (*Ext) isBody()        {}

func (x *Ext) decodeMember(d *decoder, name string) (uint64, error) {
	return anyMember, d.member(&x.Members, name)
}
func (x *Ext) missing(uint64) string           { return "" }
func (x *Ext) needs() uint64                   { return 0 }
func (x *Ext) appendMembers(dst []byte) []byte { return appendExtra(dst, x.Members) }
func (x *Ext) payload() []Member               { return x.Members }
func (u *Unknown) payload() []Member           { return u.Members }

// isExt says whether a type is ext.<vendor>.<key>: at least two segments after the prefix, none of them empty or with a
// control character. What stands in the key is the vendor's own affair (SPEC §0.3).
func isExt(kind string) bool {
	rest, ok := strings.CutPrefix(kind, "ext.")
	if !ok {
		return false
	}
	segs := strings.Split(rest, ".")
	if len(segs) < 2 {
		return false
	}
	for _, s := range segs {
		if s == "" || strings.ContainsFunc(s, unicode.IsControl) {
			return false
		}
	}
	return true
}

// lastWords end the dotted type of an event (SPEC §0.3).
const lastWords = " start delta end done call result ask error abort blocked required snapshot metadata block capabilities " +
	"action-result update remove write assembled opaque context display-mode data-model "

// whyUnknown says which rule of spelling a type breaks that the specification does not have, if any (SPEC §0.3, §0.4).
func whyUnknown(kind string) string {
	switch i := strings.LastIndexByte(kind, '.'); {
	case strings.HasPrefix(kind, "ext."):
		return "want ext.<vendor>.<key>"
	case strings.ContainsFunc(kind, unicode.IsUpper), strings.Contains(kind, "_"):
		return "unknown kind, and types are in lower kebab-case"
	case i < 0:
		return "unknown kind, and a type without a dot is a block"
	case !strings.Contains(lastWords, " "+kind[i+1:]+" "):
		return "unknown kind, and not ended by a lifecycle word"
	}
	return unknownKind
}

// Decode reads one event as a consumer does (SPEC §0.2): an unknown type becomes *Unknown, unknown members are kept in Extra
// at every depth, and both re-encode as they came. What the specification does not allow is a *DecodeError, which is an
// ErrMalformed. The event aliases data, which must not change afterwards. Safe for concurrent use.
func Decode(data []byte) (Event, error) {
	d := newDecoder("AgEvent", data)
	err := d.tooLong()
	var ev Event
	if err == nil {
		err = d.end(decodeEvent(d, &ev))
	}
	d.free()
	if err != nil {
		return Event{}, err
	}
	return ev, nil
}

// AppendEvent appends the event as JSON to dst and returns the longer slice.
func AppendEvent(dst []byte, ev *Event) []byte { return appendEvent(dst, ev) }

// MarshalJSON is AppendEvent.
func (v Event) MarshalJSON() ([]byte, error) { return appendEvent(nil, &v), nil }

// UnmarshalJSON is Decode over a copy of data.
func (v *Event) UnmarshalJSON(data []byte) (err error) {
	*v, err = Decode(bytes.Clone(data))
	return err
}
