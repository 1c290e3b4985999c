package agjson

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// Version is the version of the specification that this package implements (SPEC §12).
const Version = "1.0.0-draft.1"

// Posture says how a value is checked (SPEC §0.2).
type Posture int

const (
	// Producer refuses everything outside the specification, unknown members included.
	Producer Posture = iota
	// Consumer lets unknown members pass, but no unknown kinds.
	Consumer
)

// SchemaNames lists what Check can check, sorted.
func SchemaNames() []string { return slices.Sorted(maps.Keys(allSchemas)) }

// Check says whether data is a value of the named schema, as the specification spells it, such as AgEvent. The error is a
// *DecodeError with the JSON Pointer of the first fault; an unknown name is one too. Safe for concurrent use.
func Check(schema string, posture Posture, data []byte) error {
	c, ok := allSchemas[schema]
	if !ok {
		return &DecodeError{Type: schema, Why: "no such schema"}
	}
	d := newDecoder(schema, data)
	defer d.free()
	d.unknownTypes = false
	d.unknownFields = posture == Consumer
	return d.whole(func() error { return c.check(d) })
}

// codec is what is done with a value of one schema.
type codec struct {
	check func(*decoder) error                   // read it
	again func(*decoder, []byte) ([]byte, error) // read it, and append it as it is written
}

func codecOf[T any](decode func(*decoder, *T) error, write func([]byte, *T) []byte) codec {
	return codec{
		check: func(d *decoder) error { return decode(d, new(T)) },
		again: func(d *decoder, dst []byte) ([]byte, error) {
			var v T
			if err := decode(d, &v); err != nil {
				return dst, err
			}
			return write(dst, &v), nil
		},
	}
}

// decodeCopy reads a copy of data, so that what is read does not alias it.
func decodeCopy[T any](schema string, data []byte, v *T, decode func(*decoder, *T) error) error {
	d := newDecoder(schema, bytes.Clone(data))
	defer d.free()
	var out T
	if err := d.whole(func() error { return decode(d, &out) }); err != nil {
		return err
	}
	*v = out
	return nil
}

var allSchemas = func() map[string]codec {
	m := maps.Clone(schemas)
	m["JsonValue"] = codecOf(decodeAny, appendAny)
	m["AgMeta"] = codecOf(decodeMeta, appendMeta)
	m["AgProviderMeta"] = codecOf(decodeBag, appendBag)
	m["AgClosedEvent"] = codecOf(func(d *decoder, ev *Event) error {
		if err := decodeEvent(d, ev); err != nil {
			return err
		}
		if _, ok := ev.Body.(*Ext); ok {
			return d.wrongAt("type", unknownKind)
		}
		return nil
	}, appendEvent)
	m["AgInputEnvelope"] = codecOf(decodeInputEnvelope, func(dst []byte, v *Input) []byte {
		return closeObject(appendExtra(v.appendShared(dst, 0), v.Extra), len(dst))
	})
	m["AgSurfaceEnvelope"] = codecOf(decodeSurfaceEnvelope, func(dst []byte, v *surfaceEnvelope) []byte {
		dst, at := appendText(append(dst, `,"surface":`...), string(v.Surface)), len(dst)
		return closeObject(appendExtra(v.appendShared(dst, 0), v.Extra), at)
	})
	surface := func(kinds string) codec {
		return codecOf(func(d *decoder, s *SurfaceInteraction) error {
			if err := decodeSurfaceInteraction(d, s); err != nil {
				return err
			}
			if !strings.HasPrefix(s.Body.Type(), kinds) {
				return d.wrongAt("surface", unknownKind)
			}
			return nil
		}, appendSurfaceInteraction)
	}
	m["AgA2uiSurfaceAction"] = surface("a2ui/action")
	m["AgA2uiFunctionResponse"] = surface("a2ui/function-response")
	m["AgA2uiError"] = surface("a2ui/error")
	m["AgMcpAppViewMessage"] = surface("mcp-app/")
	m["AgOpenAiWidgetAction"] = surface("openai-app/")
	return m
}()

// decodeInputEnvelope reads the members that the kinds of AgInput share, alone.
func decodeInputEnvelope(d *decoder, v *Input) error {
	if err := d.enter(); err != nil {
		return err
	}
	if err := d.shared(true, v, noMembers{}, &v.Extra); err != nil {
		return err
	}
	return v.check()
}

type noMembers struct{}

func (noMembers) decodeMember(*decoder, string) (uint64, error) { return 0, nil }
func (noMembers) missing(uint64) string                         { return "" }
func (noMembers) appendMembers(dst []byte) []byte               { return dst }

// surfaceEnvelope is AgSurfaceEnvelope by itself, where `surface` is a plain member and `surfaceId` is required.
type surfaceEnvelope struct {
	SurfaceInteraction
	Surface Surface
}

func decodeSurfaceEnvelope(d *decoder, v *surfaceEnvelope) error {
	if err := d.enter(); err != nil {
		return err
	}
	return d.shared(true, &v.SurfaceInteraction, surfaceMember{v}, &v.Extra)
}

type surfaceMember struct{ *surfaceEnvelope }

func (s surfaceMember) appendMembers(dst []byte) []byte { return dst }

func (s surfaceMember) decodeMember(d *decoder, name string) (uint64, error) {
	if name == "surface" {
		return kindBit, decodeSurface(d, &s.Surface)
	}
	return 0, nil
}

func (s surfaceMember) missing(seen uint64) string {
	switch {
	case seen&1 == 0:
		return "surfaceId"
	case seen&kindBit == 0:
		return "surface"
	}
	return ""
}

// check: `"*"` names every message of a turn, so the turn must be named (SPEC §5 message.remove).
func (b *MessageRemove) check(ev *Event) error {
	if ev.ID == "*" && ev.TurnID == "" {
		return within(&DecodeError{Why: `missing, and id is "*"`}, "turnId")
	}
	return nil
}

// check: exactly one of value and patch (SPEC §4 memory.write).
func (b *MemoryWrite) check(*Event) error {
	switch {
	case b.Value != nil && b.Patch != nil:
		return within(&DecodeError{Why: "value and patch exclude each other"}, "patch")
	case b.Value == nil && b.Patch == nil:
		return within(&DecodeError{Why: "missing, and so is patch"}, "value")
	}
	return nil
}

// check: an action that wants a response names itself (SPEC §3 AgA2uiSurfaceAction).
func (b *A2UIAction) check(*SurfaceInteraction) error {
	if b.WantResponse != nil && *b.WantResponse && b.ActionID == nil {
		return within(&DecodeError{Why: "missing, and wantResponse is true"}, "actionId")
	}
	return nil
}

// check: exactly one of surfaceId and functionCallId, and a path where validation failed (SPEC §3 AgA2uiError).
func (b *A2UIError) check(s *SurfaceInteraction) error {
	surface := s.SurfaceID != "" || slices.ContainsFunc(s.Extra, func(m Member) bool { return m.Name == "surfaceId" })
	switch {
	case surface && b.FunctionCallID != nil:
		return within(&DecodeError{Why: "surfaceId and functionCallId exclude each other"}, "functionCallId")
	case !surface && b.FunctionCallID == nil:
		return within(&DecodeError{Why: "missing, and so is functionCallId"}, "surfaceId")
	case b.Code == "VALIDATION_FAILED" && b.Path == nil:
		return within(&DecodeError{Why: "missing, and code is VALIDATION_FAILED"}, "path")
	}
	return nil
}

// AcceptsVersion says whether a consumer takes an envelope of that version: one of the same major version (SPEC §12).
func AcceptsVersion(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	want, _, _ := strings.Cut(Version, ".")
	return major == want
}

// check: same major version (SPEC §12).
func (v *Input) check() error {
	if !AcceptsVersion(v.Version) {
		return within(&DecodeError{Why: "another major version than " + Version}, "version")
	}
	return nil
}
