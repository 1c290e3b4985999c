package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
)

const (
	schemaFile = "../../docs/agjson.schema.json"
	testdata   = "../../pkg/agjson/testdata"
)

// ecmaEscape is how a pattern of JSON Schema, of the dialect of ECMA-262, spells a character by its number.
var ecmaEscape = regexp.MustCompile(`\\u([0-9a-fA-F]{4})`)

// published compiles, once each, the parts of the published JSON Schema.
type published struct {
	compiler *jsonschema.Compiler
	parts    map[string]*jsonschema.Schema
}

func readPublished(t *testing.T) *published {
	t.Helper()
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		return regexp.Compile(ecmaEscape.ReplaceAllString(pattern, `\x{$1}`))
	})
	if err := c.AddResource("agjson.json", doc); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile("agjson.json"); err != nil {
		t.Fatal(err)
	}
	return &published{c, map[string]*jsonschema.Schema{}}
}

// verdict says whether the JSON Schema takes the value.
func (p *published) verdict(t *testing.T, name string, data []byte) error {
	t.Helper()
	part := p.parts[name]
	if part == nil {
		var err error
		if part, err = p.compiler.Compile("agjson.json#/$defs/" + name); err != nil {
			t.Fatal(err)
		}
		p.parts[name] = part
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return part.Validate(value)
}

// TestPublishedSchema has a validator that is not ours read the published JSON Schema: the schema is a valid one of draft
// 2020-12, and takes and refuses what a producer's check does (SPEC §0.2).
func TestPublishedSchema(t *testing.T) {
	p := readPublished(t)
	taken, refused := 0, 0
	agree := func(where, schema string, data []byte) {
		t.Helper()
		ours, theirs := agjson.Check(schema, agjson.Producer, data), p.verdict(t, schema, data)
		if (ours == nil) != (theirs == nil) {
			t.Errorf("%s, %s: Check says %v, the JSON Schema %v", where, schema, ours, theirs)
		}
		if ours == nil {
			taken++
		} else {
			refused++
		}
	}
	each := func(path string, into func(line string, data []byte)) {
		for i, data := range agtest.Lines(t, path) {
			into(fmt.Sprintf("%s:%d", filepath.Base(path), i+1), data)
		}
	}
	each(filepath.Join(testdata, "samples.ndjson"), func(at string, data []byte) {
		var s struct {
			Schema string
			Value  json.RawMessage
		}
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		agree(at, s.Schema, s.Value)
	})
	for _, name := range []string{"kinds", "events", "input", "numbers"} {
		data, err := os.ReadFile(filepath.Join(testdata, "malformed", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var list []struct{ Name, Schema, Text string }
		if err := json.Unmarshal(data, &list); err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if text := []byte(r.Text); r.Schema != "AgNothing" && json.Valid(text) && utf8.Valid(text) && !repeated(text) {
				agree(name+": "+r.Name, r.Schema, text)
			}
		}
	}
	if dir, ok := agtest.VectorsDir(t); ok {
		for _, name := range []string{"validate.ndjson", "validate-mutations.ndjson"} {
			each(filepath.Join(dir, name), func(at string, data []byte) {
				var v struct {
					Schema string
					Value  json.RawMessage
				}
				if err := json.Unmarshal(data, &v); err != nil {
					t.Fatal(err)
				}
				agree(at, v.Schema, v.Value)
			})
		}
	}
	if taken < 100 || refused < 100 {
		t.Errorf("only %d values were taken, %d refused", taken, refused)
	}
	t.Logf("%d values taken, %d refused", taken, refused)
}

// repeated reports whether an object within the text has a member twice, which no schema can see.
func repeated(data []byte) bool {
	v, err := agjson.ParseValue(data)
	return err == nil && repeats(v)
}

func repeats(v agjson.Value) bool {
	seen := map[string]bool{}
	for name, member := range v.Members {
		if seen[name] || repeats(member) {
			return true
		}
		seen[name] = true
	}
	for _, item := range v.Items {
		if repeats(item) {
			return true
		}
	}
	return false
}
