package agjson

import (
	"encoding/json"
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
	f, ok := allSchemas[schema]
	if !ok {
		return &DecodeError{Type: schema, Why: "no such schema"}
	}
	d := newDecoder(schema, data)
	defer d.free()
	d.unknownTypes = false
	d.unknownFields = posture == Consumer
	return d.whole(func() error { return f(d) })
}

var allSchemas = func() map[string]func(*decoder) error {
	m := maps.Clone(schemas)
	m["JsonValue"] = func(d *decoder) error { return decodeAny(d, new(json.RawMessage)) }
	m["AgMeta"] = func(d *decoder) error { return decodeMeta(d, new(json.RawMessage)) }
	m["AgProviderMeta"] = m["AgMeta"]
	m["AgClosedEvent"] = func(d *decoder) error {
		var ev Event
		if err := decodeEvent(d, &ev); err != nil {
			return err
		}
		if _, ok := ev.Body.(*Ext); ok {
			return d.wrongAt("type", unknownKind)
		}
		return nil
	}
	m["AgInputEnvelope"] = func(d *decoder) error {
		var in Input
		return d.envelope(&in, &in.Extra, nil)
	}
	m["AgSurfaceEnvelope"] = func(d *decoder) error {
		var s SurfaceInteraction
		return d.envelope(&s, &s.Extra, &surfaceEnvelope{})
	}
	surface := func(kinds ...string) func(*decoder) error {
		return func(d *decoder) error {
			var s SurfaceInteraction
			if err := decodeSurfaceInteraction(d, &s); err != nil {
				return err
			}
			for _, k := range kinds {
				if strings.HasPrefix(s.Body.Type(), k) {
					return nil
				}
			}
			return d.wrongAt("surface", unknownKind)
		}
	}
	m["AgA2uiSurfaceAction"] = surface("a2ui/action")
	m["AgA2uiFunctionResponse"] = surface("a2ui/function-response")
	m["AgA2uiError"] = surface("a2ui/error")
	m["AgMcpAppViewMessage"] = surface("mcp-app/")
	m["AgOpenAiWidgetAction"] = surface("openai-app/")
	return m
}()

// envelope reads an object of shared members alone.
func (d *decoder) envelope(s sharer, extra *[]Member, own members) error {
	if d.peek() != '{' {
		return d.wrong("want an object")
	}
	if own == nil {
		own = &noMembers{}
	}
	if err := d.shared(nil, s, own, extra); err != nil {
		return err
	}
	if in, ok := s.(*Input); ok {
		return in.check()
	}
	return nil
}

type noMembers struct{}

func (noMembers) decodeMember(*decoder, string) (uint64, error) { return 0, nil }
func (noMembers) missing(uint64) string                         { return "" }
func (noMembers) appendMembers(dst []byte) []byte               { return dst }

// surfaceEnvelope is AgSurfaceEnvelope by itself, where `surface` is a plain member and `surfaceId` is required.
type surfaceEnvelope struct{ noMembers }

func (*surfaceEnvelope) decodeMember(d *decoder, name string) (uint64, error) {
	if name == "surface" {
		return 1 << 40, decodeSurface(d, new(Surface))
	}
	return 0, nil
}

func (*surfaceEnvelope) missing(seen uint64) string {
	switch {
	case seen&1 == 0:
		return "surfaceId"
	case seen&(1<<40) == 0:
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
	switch {
	case s.SurfaceID != "" && b.FunctionCallID != nil:
		return within(&DecodeError{Why: "surfaceId and functionCallId exclude each other"}, "functionCallId")
	case s.SurfaceID == "" && b.FunctionCallID == nil:
		return within(&DecodeError{Why: "missing, and so is functionCallId"}, "surfaceId")
	case b.Code == "VALIDATION_FAILED" && b.Path == nil:
		return within(&DecodeError{Why: "missing, and code is VALIDATION_FAILED"}, "path")
	}
	return nil
}

// check: same major version (SPEC §12).
func (v *Input) check() error {
	major, _, _ := strings.Cut(v.Version, ".")
	if want, _, _ := strings.Cut(Version, "."); major != want {
		return within(&DecodeError{Why: "want major version " + want}, "version")
	}
	return nil
}
