package main

import (
	"bytes"
	"fmt"
	"strings"
)

// codec writes, for every type T, decodeT(d, *T) error and appendT(dst, *T) []byte, and the member methods they run on.
func (g *generator) codec() []byte {
	var b bytes.Buffer
	b.WriteString(header)
	for _, e := range g.t.Enums {
		g.enumCodec(&b, e)
	}
	for _, o := range g.t.Objects {
		fmt.Fprintf(&b, "func decode%[1]s(d *decoder, v *%[1]s) error { return d.object(v, &v.Extra) }\n\n", o.Go)
		fmt.Fprintf(&b, "func append%[1]s(dst []byte, v *%[1]s) []byte { return closeObject(appendExtra(v.appendMembers(dst), v.Extra), len(dst)) }\n\n", o.Go)
		g.memberMethods(&b, &o.variant, 0, nil)
		jsonMethods(&b, o.Go, o.Schema)
	}
	for _, u := range g.t.Unions {
		g.unionCodec(&b, u)
	}
	return b.Bytes()
}

func (g *generator) enumCodec(b *bytes.Buffer, e *enum) {
	fmt.Fprintf(b, "func decode%[1]s(d *decoder, v *%[1]s) error {\n\ts, err := d.text()\n\tif err != nil {\n\t\treturn err\n\t}\n\tswitch s {\n", e.Go)
	for _, v := range e.Values {
		fmt.Fprintf(b, "\tcase %q:\n\t\t*v = %s%s\n", v, e.Go, goValue(v))
	}
	fmt.Fprintf(b, "\tdefault:\n\t\treturn d.wrong(%q)\n\t}\n\treturn nil\n}\n\n", "want one of "+strings.Join(e.Values, ", "))
	fmt.Fprintf(b, "func append%[1]s(dst []byte, v *%[1]s) []byte { return appendText(dst, string(*v)) }\n\n", e.Go)
}

// funcName is the tail of decodeX and appendX for a type.
func (g *generator) funcName(ty string) string {
	switch ty {
	case "string", "seq", "number", "bool", "any", "meta", "bag", "secret":
		return strings.ToUpper(ty[:1]) + ty[1:]
	}
	return g.elem(ty)
}

func (g *generator) decodeField(f field) string {
	dst := "v." + f.Go
	switch {
	case f.Type == "true":
		return "err = d.yes()"
	case strings.HasPrefix(f.Type, "=") && f.Optional:
		return fmt.Sprintf("%s, err = %q, d.literal(%q)", dst, f.Type[1:], f.Type[1:])
	case strings.HasPrefix(f.Type, "="):
		return fmt.Sprintf("err = d.literal(%q)", f.Type[1:])
	case strings.HasPrefix(f.Type, "[]"):
		return fmt.Sprintf("%s, err = decodeList(d, decode%s)", dst, g.funcName(f.Type[2:]))
	case strings.HasPrefix(f.Type, "map["):
		return fmt.Sprintf("%s, err = decodeMap(d, decode%s)", dst, g.funcName(strings.TrimSuffix(f.Type[4:], "]")))
	case g.pointer(f):
		return fmt.Sprintf("%s = new(%s)\n\t\terr = decode%s(d, %s)", dst, g.elem(f.Type), g.funcName(f.Type), dst)
	}
	return fmt.Sprintf("err = decode%s(d, &%s)", g.funcName(f.Type), dst)
}

func (g *generator) appendField(f field, needBit int) string {
	src := "v." + f.Go
	key := fmt.Sprintf("dst = append(dst, `,%q:`...)", f.Name)
	var val, present string
	switch {
	case f.Type == "true":
		val = "dst = append(dst, \"true\"...)"
	case strings.HasPrefix(f.Type, "="):
		val, present = fmt.Sprintf("dst = append(dst, `%q`...)", f.Type[1:]), src+" != \"\""
	case strings.HasPrefix(f.Type, "[]"):
		val, present = fmt.Sprintf("dst = appendList(dst, %s, append%s)", src, g.funcName(f.Type[2:])), src+" != nil"
	case strings.HasPrefix(f.Type, "map["):
		val, present = fmt.Sprintf("dst = appendMap(dst, %s, append%s)", src, g.funcName(strings.TrimSuffix(f.Type[4:], "]"))), src+" != nil"
	case g.pointer(f):
		val, present = fmt.Sprintf("dst = append%s(dst, %s)", g.funcName(f.Type), src), src+" != nil"
	default:
		val, present = fmt.Sprintf("dst = append%s(dst, &%s)", g.funcName(f.Type), src), src+" != nil"
		if g.enums[f.Type] != nil || f.Type == "number" || plainID(f) {
			present = src + " != \"\""
		}
	}
	if !f.Optional {
		return "\t" + key + "\n\t" + val + "\n"
	}
	if needBit >= 0 && plainID(f) {
		present += fmt.Sprintf(" || need&(1<<%d) != 0", needBit)
	}
	return fmt.Sprintf("\tif %s {\n\t\t%s\n\t\t%s\n\t}\n", present, key, val)
}

// jsonMethods lets encoding/json take a type as this package does.
func jsonMethods(b *bytes.Buffer, name, schema string) {
	fmt.Fprintf(b, "// MarshalJSON is the value as the wire has it.\nfunc (v %[1]s) MarshalJSON() ([]byte, error) { return append%[1]s(nil, &v), nil }\n\n", name)
	fmt.Fprintf(b, "// UnmarshalJSON reads a copy of data as Decode does. The error is a *DecodeError.\nfunc (v *%[1]s) UnmarshalJSON(data []byte) error { return decodeCopy(%[2]q, data, v, decode%[1]s) }\n\n", name, schema)
}

// memberMethods writes decodeMember, missing and appendMembers of one variant; bits from base on are its own.
func (g *generator) memberMethods(b *bytes.Buffer, c *variant, base int, shared []field) {
	fmt.Fprintf(b, "func (v *%s) decodeMember(d *decoder, name string) (uint64, error) {\n", c.Go)
	g.memberSwitch(b, c.Fields, base)
	b.WriteString("}\n\n")
	type req struct {
		bit  int
		name string
	}
	var reqs []req
	needMask := uint64(0)
	for _, n := range c.Need {
		for i, f := range shared {
			if f.Name == n {
				reqs = append(reqs, req{i, n})
				needMask |= 1 << i
			}
		}
	}
	for i, f := range c.Fields {
		if !f.Optional {
			reqs = append(reqs, req{base + i, f.Name})
		}
	}
	fmt.Fprintf(b, "func (v *%s) missing(seen uint64) string {\n", c.Go)
	mask := uint64(0)
	for _, r := range reqs {
		mask |= 1 << r.bit
	}
	if mask != 0 {
		fmt.Fprintf(b, "\tif seen&%#x == %#x {\n\t\treturn \"\"\n\t}\n", mask, mask)
		for _, r := range reqs {
			fmt.Fprintf(b, "\tif seen&(1<<%d) == 0 {\n\t\treturn %q\n\t}\n", r.bit, r.name)
		}
	}
	b.WriteString("\treturn \"\"\n}\n\n")
	if shared != nil {
		fmt.Fprintf(b, "func (v *%s) needs() uint64 { return %#x }\n\n", c.Go, needMask)
	}
	fmt.Fprintf(b, "func (v *%s) appendMembers(dst []byte) []byte {\n", c.Go)
	for _, f := range c.Fields {
		b.WriteString(g.appendField(f, -1))
	}
	b.WriteString("\treturn dst\n}\n\n")
}

func (g *generator) memberSwitch(b *bytes.Buffer, fs []field, base int) {
	if len(fs) == 0 {
		b.WriteString("\treturn 0, nil\n")
		return
	}
	b.WriteString("\tvar bit uint64\n\tvar err error\n\tswitch name {\n")
	for i, f := range fs {
		decode := g.decodeField(f)
		if f.Optional && plainID(f) {
			decode = fmt.Sprintf("if %s; v.%s == \"\" && err == nil {\n\t\t\tv.Extra = keepEmpty(v.Extra, v.Body, bit, name)\n\t\t}", decode, f.Go)
		}
		fmt.Fprintf(b, "\tcase %q:\n\t\tbit = 1 << %d\n\t\t%s\n", f.Name, base+i, decode)
	}
	b.WriteString("\t}\n\treturn bit, err\n")
}

func (g *generator) unionCodec(b *bytes.Buffer, u *union) {
	var shared []field
	if len(u.Shared) > 0 {
		shared = u.Shared
	}
	for _, c := range u.Cases {
		g.memberMethods(b, c, len(shared), shared)
	}
	g.unknownMethods(b, u, shared != nil)
	iface := u.Go
	if shared != nil {
		iface = bodyName(u)
	}
	fmt.Fprintf(b, "func new%s(d *decoder, kind string) %s {\n\tswitch kind {\n", iface, iface)
	for _, c := range u.Cases {
		val := c.Value
		if val == "-" {
			val = ""
		}
		fmt.Fprintf(b, "\tcase %q:\n\t\treturn new(%s)\n", val, c.Go)
	}
	b.WriteString("\t}\n")
	if u.Go == "Event" {
		b.WriteString("\tif isExt(kind) {\n\t\treturn &Ext{Name: kind}\n\t}\n")
	}
	fmt.Fprintf(b, "\tif d.unknownTypes {\n\t\treturn &%s{Name: kind}\n\t}\n\treturn nil\n}\n\n", unknownName(u))
	optional := u.Cases[len(u.Cases)-1].Value == "-"
	if shared == nil {
		g.plainUnion(b, u, optional)
		for _, c := range append([]string{unknownName(u)}, caseNames(u)...) {
			fmt.Fprintf(b, "// MarshalJSON is the value as the wire has it.\nfunc (v *%s) MarshalJSON() ([]byte, error) {\n\tvar u %s = v\n\treturn append%s(nil, &u), nil\n}\n\n", c, iface, u.Go)
		}
		return
	}
	g.sharedUnion(b, u)
	if u.Go != "Event" {
		jsonMethods(b, u.Go, u.Schema)
	}
}

func caseNames(u *union) []string {
	var out []string
	for _, c := range u.Cases {
		out = append(out, c.Go)
	}
	return out
}

// unknownMethods are those of the variant that keeps what it does not know.
func (g *generator) unknownMethods(b *bytes.Buffer, u *union, shared bool) {
	n := unknownName(u)
	fmt.Fprintf(b, "func (u *%s) decodeMember(d *decoder, name string) (uint64, error) { return anyMember, d.member(&u.Members, name) }\n", n)
	fmt.Fprintf(b, "func (u *%s) missing(uint64) string { return \"\" }\n", n)
	fmt.Fprintf(b, "func (u *%s) appendMembers(dst []byte) []byte { return appendExtra(dst, u.Members) }\n", n)
	if shared {
		fmt.Fprintf(b, "func (u *%s) needs() uint64 { return 0 }\n", n)
	}
	b.WriteString("\n")
}

func (g *generator) plainUnion(b *bytes.Buffer, u *union, optional bool) {
	fmt.Fprintf(b, `func decode%[1]s(d *decoder, v *%[1]s) error {
	kind, first, err := d.kind(%[3]q, %[2]t)
	if err != nil {
		return err
	}
	*v = new%[1]s(d, kind)
	switch b := (*v).(type) {
	case nil:
		return d.wrongAt(%[3]q, unknownKind)
`, u.Go, optional, u.Disc[0][0])
	for _, c := range u.Cases {
		fmt.Fprintf(b, "\tcase *%s:\n\t\terr = d.body(%q, first, b, &b.Extra)\n", c.Go, u.Disc[0][0])
	}
	fmt.Fprintf(b, "\tcase *%s:\n\t\terr = d.body(%q, first, b, &b.Members)\n\t}\n\treturn err\n}\n\n", unknownName(u), u.Disc[0][0])
	fmt.Fprintf(b, "func append%[1]s(dst []byte, v *%[1]s) []byte {\n\tat := len(dst)\n\tswitch b := (*v).(type) {\n", u.Go)
	for _, c := range u.Cases {
		lit := fmt.Sprintf("`,%q:%q`", u.Disc[0][0], c.Value)
		if c.Value == "-" {
			lit = "``"
		}
		fmt.Fprintf(b, "\tcase *%s:\n\t\tdst = appendExtra(b.appendMembers(append(dst, %s...)), b.Extra)\n", c.Go, lit)
	}
	fmt.Fprintf(b, "\tcase *%s:\n\t\tdst = appendExtra(appendText(append(dst, `,%q:`...), b.Name), b.Members)\n", unknownName(u), u.Disc[0][0])
	b.WriteString("\tdefault:\n\t\treturn append(dst, \"null\"...)\n\t}\n\treturn closeObject(dst, at)\n}\n\n")
}

func (g *generator) sharedUnion(b *bytes.Buffer, u *union) {
	fmt.Fprintf(b, "func (v *%s) decodeShared(d *decoder, name string) (uint64, error) {\n", u.Go)
	g.memberSwitch(b, u.Shared, 0)
	b.WriteString("}\n\n")
	fmt.Fprintf(b, "func (v *%s) missingShared(seen uint64) string {\n", u.Go)
	for i, f := range u.Shared {
		if !f.Optional {
			fmt.Fprintf(b, "\tif seen&(1<<%d) == 0 {\n\t\treturn %q\n\t}\n", i, f.Name)
		}
	}
	b.WriteString("\treturn \"\"\n}\n\n")
	fmt.Fprintf(b, "func (v *%s) appendShared(dst []byte, need uint64) []byte {\n", u.Go)
	for i, f := range u.Shared {
		b.WriteString(g.appendField(f, i))
	}
	b.WriteString("\treturn dst\n}\n\n")
	fmt.Fprintf(b, "// has says whether one of the ids is set that may be absent.\nfunc (v *%s) has(name string) bool {\n\tswitch name {\n", u.Go)
	for _, f := range u.Shared {
		if f.Optional && plainID(f) {
			fmt.Fprintf(b, "\tcase %q:\n\t\treturn v.%s != \"\"\n", f.Name, f.Go)
		}
	}
	b.WriteString("\t}\n\treturn false\n}\n\n")
	kind, rest := fmt.Sprintf("kind, first, err := d.kind(%q, false)", u.Disc[0][0]), fmt.Sprintf("d.shared(first, v, v.Body, &v.Extra, %q)", u.Disc[0][0])
	why := "unknownKind"
	switch {
	case u.Go == "Event":
		rest, why = "d.event(first, v)", "whyUnknown(kind)"
	case len(u.Disc) == 2:
		kind, rest = "kind, discs, err := d.surfaceKind()", "d.shared(true, v, v.Body, &v.Extra, discs...)"
	}
	fmt.Fprintf(b, `func decode%[1]s(d *decoder, v *%[1]s) error {
	%[3]s
	if err != nil {
		return err
	}
	if v.Body = new%[2]s(d, kind); v.Body == nil {
		return d.wrongAt(%[5]q, %[6]s)
	}
	if err := %[4]s; err != nil {
		return err
	}
`, u.Go, bodyName(u), kind, rest, u.Disc[0][0], why)
	if u.Check {
		b.WriteString("\tif err := v.check(); err != nil {\n\t\treturn err\n\t}\n")
	}
	b.WriteString("\tswitch b := v.Body.(type) {\n")
	n := 0
	for _, c := range u.Cases {
		if c.Check {
			n++
			fmt.Fprintf(b, "\tcase *%s:\n\t\treturn b.check(v)\n", c.Go)
		}
	}
	if n == 0 {
		b.Truncate(b.Len() - len("\tswitch b := v.Body.(type) {\n"))
	} else {
		b.WriteString("\t}\n")
	}
	b.WriteString("\treturn nil\n}\n\n")
	fmt.Fprintf(b, "func append%[1]s(dst []byte, v *%[1]s) []byte {\n\tat := len(dst)\n\tif v.Body == nil {\n\t\treturn append(dst, \"null\"...)\n\t}\n", u.Go)
	if len(u.Disc) == 1 {
		fmt.Fprintf(b, "\tdst = appendText(append(dst, `,%q:`...), v.Body.Type())\n", u.Disc[0][0])
	} else {
		b.WriteString("\tdst = appendSurfaceKind(dst, v.Body)\n")
	}
	b.WriteString("\tif dst = v.Body.appendMembers(v.appendShared(dst, v.Body.needs())); v.Extra != nil {\n\t\tdst = appendSharedExtra(dst, v.Extra, v.has)\n\t}\n\treturn closeObject(dst, at)\n}\n\n")
}

// schemas writes the table from a schema's name to the check of one value.
func (g *generator) schemas() []byte {
	var b bytes.Buffer
	b.WriteString(header)
	b.WriteString("var schemas = map[string]codec{\n")
	row := func(schema, goName string) {
		if strings.HasPrefix(schema, "Ag") {
			fmt.Fprintf(&b, "\t%q: codecOf(decode%s, append%s),\n", schema, goName, goName)
		}
	}
	for _, o := range g.t.Objects {
		row(o.Schema, o.Go)
	}
	for _, u := range g.t.Unions {
		row(u.Schema, u.Go)
	}
	b.WriteString("}\n\n")
	for _, u := range g.t.Unions {
		if u.Go != "Event" && u.Go != "Block" {
			continue
		}
		fmt.Fprintf(&b, "var %sProfiles = []typeProfile{\n", strings.ToLower(u.Go))
		for _, c := range u.Cases {
			fmt.Fprintf(&b, "\t{%q, Profile%s},\n", c.Value, c.Profile)
		}
		b.WriteString("}\n\n")
	}
	return b.Bytes()
}
