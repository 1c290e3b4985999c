package agjson_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
)

const schemaFile = "../../docs/agjson.schema.json"

func readSchema(t *testing.T) validator {
	t.Helper()
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return validator{root: agtest.Decode(data).(agtest.Object)}
}

// The published JSON Schema and a producer's check, made from one table in two ways, give the same verdicts.
func TestJSONSchemaAgreesWithCheck(t *testing.T) {
	v := readSchema(t)
	agree := func(where, schema string, data []byte) {
		t.Helper()
		check := agjson.Check(schema, agjson.Producer, data)
		theirs := v.validate(agtest.Object{"$ref": "#/$defs/" + schema}, agtest.Decode(data))
		if (check == nil) != (theirs == nil) {
			t.Errorf("%s, %s: Check says %v, the JSON Schema %v", where, schema, check, theirs)
		}
	}
	for n, s := range samples(t) {
		agree(fmt.Sprint("samples.ndjson:", n+1), s.Schema, s.Value)
	}
	for file, list := range refusals(t) {
		for _, r := range list {
			if data := r.data(t); json.Valid(data) && utf8.Valid(data) && r.Schema != "AgNothing" && !repeats(t, data) {
				agree(file+": "+r.Name, r.Schema, data)
			}
		}
	}
	dir := os.Getenv("AGWIRE_VECTORS")
	if dir == "" {
		t.Log("AGWIRE_VECTORS is not set: only the project's own samples are compared")
		return
	}
	for _, file := range []string{"validate.ndjson", "validate-mutations.ndjson"} {
		for n, data := range lines(t, filepath.Join(dir, file)) {
			var c verdict
			if err := json.Unmarshal(data, &c); err != nil {
				t.Fatal(err)
			}
			agree(fmt.Sprint(file, ":", n), c.Schema, c.Value)
		}
	}
}

// repeats says whether a member is given twice somewhere, which a schema cannot see.
func repeats(t *testing.T, data []byte) bool {
	t.Helper()
	v, err := agjson.ParseValue(data)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(agjson.Value) bool
	walk = func(v agjson.Value) bool {
		seen := map[string]bool{}
		for name, val := range v.Members {
			if seen[name] || walk(val) {
				return true
			}
			seen[name] = true
		}
		for _, item := range v.Items {
			if walk(item) {
				return true
			}
		}
		return false
	}
	return walk(v)
}

// Every schema that Check knows and every type stands in the JSON Schema, with what it requires.
func TestJSONSchemaIsComplete(t *testing.T) {
	v := readSchema(t)
	defs := v.root["$defs"].(agtest.Object)
	for _, name := range agjson.SchemaNames() {
		if _, ok := defs[name]; !ok {
			t.Errorf("%s is not in $defs", name)
		}
	}
	all := samples(t)
	kinds := func(union string, names []string) {
		for _, name := range names {
			def, ok := defs[union+"."+name].(agtest.Object)
			if !ok {
				t.Errorf("%s.%s is not in $defs", union, name)
				continue
			}
			for _, member := range def["required"].([]any) {
				if err := agjson.Check(union, agjson.Producer, without(t, all, union, name, member.(string))); err == nil {
					t.Errorf("%s %s requires %s in the JSON Schema only", union, name, member)
				}
			}
		}
	}
	kinds("AgEvent", agjson.Types())
	kinds("AgBlock", agjson.BlockTypes())
}

// without is the smallest sample of the kind, less one member.
func without(t *testing.T, all []sample, schema, kind, member string) []byte {
	t.Helper()
	var smallest agtest.Object
	for _, s := range all {
		if s.Schema != schema {
			continue
		}
		if v := agtest.Decode(s.Value).(agtest.Object); v["type"] == kind && (smallest == nil || len(v) < len(smallest)) {
			smallest = v
		}
	}
	if _, ok := smallest[member]; !ok {
		t.Errorf("the sample of %s %s has no %s", schema, kind, member)
	}
	delete(smallest, member)
	out, err := json.Marshal(smallest)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// validator knows the keywords of JSON Schema 2020-12 that the published schema uses, and refuses any other.
type validator struct{ root agtest.Object }

func (v validator) validate(schema, value any) error {
	if b, ok := schema.(bool); ok {
		if !b {
			return fmt.Errorf("nothing is allowed")
		}
		return nil
	}
	s := schema.(agtest.Object)
	for keyword, arg := range s {
		if err := v.keyword(s, keyword, arg, value); err != nil {
			return fmt.Errorf("%s: %w", keyword, err)
		}
	}
	return nil
}

func (v validator) keyword(s agtest.Object, keyword string, arg, value any) error {
	object, isObject := value.(agtest.Object)
	list, isList := value.([]any)
	str, isString := value.(string)
	switch keyword {
	case "$ref":
		return v.validate(v.root["$defs"].(agtest.Object)[strings.TrimPrefix(arg.(string), "#/$defs/")], value)
	case "type":
		return hasType(arg.(string), value)
	case "const":
		return want(agtest.Equal(arg, value))
	case "enum":
		return want(slices.ContainsFunc(arg.([]any), func(a any) bool { return agtest.Equal(a, value) }))
	case "minimum", "maximum":
		n, ok := value.(json.Number)
		if !ok {
			return nil
		}
		a, _ := arg.(json.Number).Float64()
		f, _ := n.Float64()
		return want(keyword == "minimum" && f >= a || keyword == "maximum" && f <= a)
	case "minLength":
		n, _ := arg.(json.Number).Int64()
		return want(!isString || utf8.RuneCountInString(str) >= int(n))
	case "pattern":
		re := regexp.MustCompile(regexp.MustCompile(`\\u([0-9a-f]{4})`).ReplaceAllString(arg.(string), `\x{$1}`))
		return want(!isString || re.MatchString(str))
	case "required":
		for _, name := range arg.([]any) {
			if _, ok := object[name.(string)]; isObject && !ok {
				return fmt.Errorf("%s is missing", name)
			}
		}
	case "properties":
		for name, sub := range arg.(agtest.Object) {
			if val, ok := object[name]; ok {
				if err := v.validate(sub, val); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	case "additionalProperties":
		known, _ := s["properties"].(agtest.Object)
		for name, val := range object {
			if _, ok := known[name]; !ok {
				if err := v.validate(arg, val); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	case "items":
		for i, item := range list {
			if err := v.validate(arg, item); isList && err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
	case "oneOf", "allOf":
		n := 0
		for _, sub := range arg.([]any) {
			if v.validate(sub, value) == nil {
				n++
			}
		}
		return want(keyword == "oneOf" && n == 1 || keyword == "allOf" && n == len(arg.([]any)))
	case "if":
		if v.validate(arg, value) == nil {
			return v.validate(s["then"], value)
		}
	case "then":
	default:
		return fmt.Errorf("a keyword that this test does not know")
	}
	return nil
}

func want(ok bool) error {
	if !ok {
		return fmt.Errorf("does not hold")
	}
	return nil
}

func hasType(name string, value any) error {
	n, isNumber := value.(json.Number)
	if isNumber {
		if _, err := n.Float64(); err != nil {
			return err // a validator's numbers are doubles
		}
	}
	ok := false
	switch name {
	case "object":
		_, ok = value.(agtest.Object)
	case "array":
		_, ok = value.([]any)
	case "string":
		_, ok = value.(string)
	case "boolean":
		_, ok = value.(bool)
	case "number":
		ok = isNumber
	case "integer":
		if isNumber {
			exact, isRat := new(big.Rat).SetString(n.String())
			ok = isRat && exact.IsInt()
		}
	}
	if !ok {
		return fmt.Errorf("want %s", name)
	}
	return nil
}
