package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// node is a JSON object whose members keep their order.
type node []pair

type pair struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (n node) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(p.name)
		if err != nil {
			return nil, err
		}
		value, err := plainJSON(p.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// checks are the hand-written rules of check.go in the words of JSON Schema, by the variant's or the union's Go name.
var checks = map[string]node{
	"MessageRemove": {
		{"if", node{{"properties", node{{"id", node{{"const", "*"}}}}}}},
		{"then", node{{"properties", node{{"turnId", node{{"minLength", 1}}}}}, {"required", []string{"turnId"}}}},
	},
	"MemoryWrite": {{"oneOf", []node{required("value"), required("patch")}}},
	"A2UIAction": {
		{"if", node{{"properties", node{{"wantResponse", node{{"const", true}}}}}, {"required", []string{"wantResponse"}}}},
		{"then", required("actionId")},
	},
	"A2UIError": {
		{"oneOf", []node{required("surfaceId"), required("functionCallId")}},
		{"if", node{{"properties", node{{"code", node{{"const", "VALIDATION_FAILED"}}}}}}},
		{"then", required("path")},
	},
	"Input": {{"properties", node{{"version", node{{"pattern", `^1(\.|$)`}}}}}},
}

func required(names ...string) node { return node{{"required", names}} }

// jsonSchema writes the JSON Schema of what a producer may send; its root is AgEvent, the rest is under $defs.
func (g *generator) jsonSchema() ([]byte, error) {
	var defs node
	def := func(name string, value any) { defs = append(defs, pair{name, value}) }
	for _, e := range g.t.Enums {
		def(e.Go, node{{"enum", e.Values}})
	}
	for _, o := range g.t.Objects {
		s, err := g.objectSchema(&o.variant, nil, o.Fields)
		if err != nil {
			return nil, err
		}
		def(o.Schema, s)
	}
	for _, u := range g.t.Unions {
		var refs []node
		for _, c := range u.Cases {
			s, err := g.variantSchema(u, c)
			if err != nil {
				return nil, err
			}
			name := caseName(u, c)
			refs = append(refs, ref(name))
			def(name, s)
		}
		if u.Schema == "AgEvent" {
			def("AgClosedEvent", node{{"oneOf", refs}})
			def("AgEvent.ext", g.extSchema(u))
			refs = append(refs, ref("AgEvent.ext"))
		}
		union := node{{"oneOf", refs}}
		if u.Check {
			union = append(node{{"type", "object"}}, append(checks[u.Go], union...)...)
		}
		def(u.Schema, union)
		g.envelopes(u, def)
	}
	object := node{{"type", "object"}}
	def("AgMeta", object)
	def("AgProviderMeta", object)
	def("JsonValue", true)
	raw, err := plainJSON(node{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", "https://raw.githubusercontent.com/agwire/agwire/main/docs/agjson.schema.json"},
		{"title", "AgJSON v1 (1.0.0-draft.1)"},
		{"description", "What a producer may send (SPEC §0.2): nothing outside the specification but ext.<vendor>.<key>, _meta and provider bags. The root is " +
			"one AgEvent; the other schemas are under $defs, each kind of a union as <union>.<kind>. A consumer lets unknown members and types pass. " +
			"Generated from pkg/agjson/protocol.table. Beyond what a schema can say, a member given twice is malformed."},
		{"$ref", "#/$defs/AgEvent"},
		{"$defs", defs},
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", " "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// envelopes adds the schemas that the specification names beside a union: its shared members alone, or some of its kinds.
func (g *generator) envelopes(u *union, def func(string, any)) {
	switch u.Schema {
	case "AgInput":
		s, _ := g.objectSchema(&variant{}, nil, u.Shared)
		def("AgInputEnvelope", node{{"allOf", []any{s, checks["Input"]}}})
	case "AgSurfaceInteraction":
		s, _ := g.objectSchema(&variant{Need: []string{"surfaceId"}}, []pair{{"surface", ref("Surface")}}, u.Shared)
		def("AgSurfaceEnvelope", s)
		for _, s := range []struct{ name, prefix string }{
			{"AgA2uiSurfaceAction", "a2ui/action"}, {"AgA2uiFunctionResponse", "a2ui/function-response"}, {"AgA2uiError", "a2ui/error"},
			{"AgMcpAppViewMessage", "mcp-app/"}, {"AgOpenAiWidgetAction", "openai-app/"},
		} {
			var refs []node
			for _, c := range u.Cases {
				if strings.HasPrefix(c.Value, s.prefix) {
					refs = append(refs, ref(caseName(u, c)))
				}
			}
			def(s.name, node{{"oneOf", refs}})
		}
	}
}

func ref(name string) node { return node{{"$ref", "#/$defs/" + name}} }

func caseName(u *union, c *variant) string {
	value := strings.ReplaceAll(c.Value, "/", ".")
	if value == "-" {
		value = "link"
	}
	return u.Schema + "." + value
}

func (g *generator) variantSchema(u *union, c *variant) (node, error) {
	var discs []pair
	switch {
	case len(u.Disc) == 2:
		surface, inner, _ := strings.Cut(c.Value, "/")
		second := u.Disc[1][1]
		if surface == "a2ui" {
			second = u.Disc[1][0]
		}
		discs = []pair{{u.Disc[0][0], node{{"const", surface}}}, {second, node{{"const", inner}}}}
	case c.Value != "-":
		discs = []pair{{u.Disc[0][0], node{{"const", c.Value}}}}
	}
	return g.objectSchema(c, discs, append(append([]field{}, u.Shared...), c.Fields...))
}

func (g *generator) objectSchema(c *variant, discs []pair, fields []field) (node, error) {
	properties, names := node(discs), []string{}
	for _, d := range discs {
		names = append(names, d.name)
	}
	for _, f := range fields {
		properties = append(properties, pair{f.Name, g.typeSchema(f.Type)})
		if !f.Optional {
			names = append(names, f.Name)
		}
	}
	names = append(names, c.Need...)
	s := node{{"type", "object"}, {"properties", properties}}
	if len(properties) == 0 {
		s = s[:1]
	}
	if len(names) > 0 {
		s = append(s, pair{"required", names})
	}
	s = append(s, pair{"additionalProperties", false})
	if c.Check {
		if checks[c.Go] == nil {
			return nil, fmt.Errorf("%s has a check in Go and none in the JSON Schema", c.Go)
		}
		s = append(s, checks[c.Go]...)
	}
	return s, nil
}

// extSchema is a vendor's event: its own members are the vendor's affair (SPEC §12).
func (g *generator) extSchema(u *union) node {
	properties := node{{"type", node{{"type", "string"}, {"pattern", `^ext(\.[^.\u0000-\u001f\u007f-\u009f]+){2,}$`}}}}
	for _, f := range u.Shared {
		properties = append(properties, pair{f.Name, g.typeSchema(f.Type)})
	}
	return node{{"type", "object"}, {"properties", properties}, {"required", []string{"type", "seq"}}}
}

func (g *generator) typeSchema(ty string) any {
	str := node{{"type", "string"}}
	num := node{{"type", "number"}, {"minimum", -math.MaxFloat64}, {"maximum", math.MaxFloat64}} // some validators have no bounds of their own
	list := func(item any) node { return node{{"type", "array"}, {"items", item}} }
	switch {
	case strings.HasPrefix(ty, "[]"):
		return list(g.typeSchema(ty[2:]))
	case strings.HasPrefix(ty, "map["):
		return node{{"type", "object"}, {"additionalProperties", g.typeSchema(strings.TrimSuffix(ty[4:], "]"))}}
	case strings.HasPrefix(ty, "="):
		return node{{"const", ty[1:]}}
	}
	switch ty {
	case "string", "secret":
		return str
	case "number":
		return num
	case "bool":
		return node{{"type", "boolean"}}
	case "seq":
		return node{{"type", "integer"}, {"minimum", 0}, {"maximum", int64(1<<53 - 1)}}
	case "any":
		return true
	case "meta", "bag":
		return node{{"type", "object"}}
	case "true":
		return node{{"const", true}}
	case "Confidence":
		return node{{"oneOf", []node{num, list(num)}}}
	case "SystemPrompt":
		return node{{"oneOf", []node{str, list(ref("AgBlock"))}}}
	case "ToolChoice":
		tool := node{{"type", "object"}, {"properties", node{{"type", node{{"const", "tool"}}}, {"name", str}}}, {"required", []string{"type", "name"}}, {"additionalProperties", false}}
		return node{{"oneOf", []node{{{"enum", []string{"auto", "none", "required"}}}, tool}}}
	}
	return ref(ty)
}
