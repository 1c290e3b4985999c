package main

import (
	"bytes"
	"fmt"
	"strings"
)

// plain writes the same types once more, for encoding/json, as one would write them by hand with tags and with a look at the
// discriminant: what the codec is compared with in tests and measured against in benchmarks.
func (g *generator) plain() []byte {
	var b bytes.Buffer
	b.WriteString(strings.Replace(header, "package agjson\n", "package agjson_test\n", 1) + "import \"encoding/json\"\n\n")
	for _, o := range g.t.Objects {
		fmt.Fprintf(&b, "type plain%s struct {\n", o.Go)
		g.plainFields(&b, o.Fields)
		b.WriteString("}\n\n")
	}
	for _, u := range g.t.Unions {
		g.plainUnionTypes(&b, u)
	}
	b.WriteString("// plainSchemas makes, by a schema's name, a value for encoding/json to decode into.\nvar plainSchemas = map[string]func() any{\n")
	for _, o := range g.t.Objects {
		fmt.Fprintf(&b, "%q: func() any { return new(plain%s) },\n", o.Schema, o.Go)
	}
	for _, u := range g.t.Unions {
		fmt.Fprintf(&b, "%q: func() any { return new(plain%s) },\n", u.Schema, u.Go)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func (g *generator) plainFields(b *bytes.Buffer, fs []field) {
	for _, f := range fs {
		ty, omit := g.plainType(f.Type), ""
		if f.Optional {
			omit = ",omitzero"
			switch {
			case ty == "string", ty == "bool", ty == "int64", strings.HasPrefix(ty, "plain"):
				ty = "*" + ty
			}
		}
		fmt.Fprintf(b, "\t%s %s `json:\"%s%s\"`\n", f.Go, ty, f.Name, omit)
	}
}

func (g *generator) plainType(ty string) string {
	switch {
	case strings.HasPrefix(ty, "[]"):
		return "[]" + g.plainType(ty[2:])
	case strings.HasPrefix(ty, "map["):
		return "map[string]" + g.plainType(strings.TrimSuffix(ty[4:], "]"))
	case strings.HasPrefix(ty, "="), ty == "string", ty == "secret", g.enums[ty] != nil:
		return "string"
	case ty == "true", ty == "bool":
		return "bool"
	case ty == "seq":
		return "int64"
	case ty == "number":
		return "json.Number"
	case g.objects[ty] != nil:
		return "plain" + g.objects[ty].Go
	case g.unions[ty] != nil:
		return "plain" + g.unions[ty].Go
	}
	return "json.RawMessage"
}

func (g *generator) plainUnionTypes(b *bytes.Buffer, u *union) {
	fmt.Fprintf(b, "type plain%s struct{ V any }\n\n", u.Go)
	fmt.Fprintf(b, "func (u plain%s) MarshalJSON() ([]byte, error) { return json.Marshal(u.V) }\n\n", u.Go)
	fmt.Fprintf(b, "func (u *plain%s) UnmarshalJSON(data []byte) error {\n\tvar d struct {\n", u.Go)
	for i, disc := range u.Disc {
		for j, name := range disc {
			fmt.Fprintf(b, "\t\tD%d%d string `json:%q`\n", i, j, name)
		}
	}
	b.WriteString("\t}\n\tif err := json.Unmarshal(data, &d); err != nil {\n\t\treturn err\n\t}\n")
	kind := "d.D00"
	if len(u.Disc) == 2 {
		kind = `d.D00 + "/" + d.D10 + d.D11`
	}
	fmt.Fprintf(b, "\tswitch %s {\n", kind)
	for _, c := range u.Cases {
		val := c.Value
		if val == "-" {
			val = ""
		}
		fmt.Fprintf(b, "\tcase %q:\n\t\tu.V = new(plain%s)\n", val, c.Go)
	}
	b.WriteString("\tdefault:\n\t\tu.V = new(json.RawMessage)\n\t}\n\treturn json.Unmarshal(data, u.V)\n}\n\n")
	if len(u.Shared) > 0 {
		fmt.Fprintf(b, "type plain%sShared struct {\n", u.Go)
		g.plainFields(b, u.Shared)
		b.WriteString("}\n\n")
	}
	for _, c := range u.Cases {
		fmt.Fprintf(b, "type plain%s struct {\n", c.Go)
		for _, disc := range u.Disc {
			for _, name := range disc {
				fmt.Fprintf(b, "\tDisc%s string `json:\"%s,omitzero\"`\n", goName(name), name)
			}
		}
		if len(u.Shared) > 0 {
			fmt.Fprintf(b, "\tplain%sShared\n", u.Go)
		}
		g.plainFields(b, c.Fields)
		b.WriteString("}\n\n")
	}
}
