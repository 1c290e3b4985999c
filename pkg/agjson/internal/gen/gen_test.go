package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// The checked-in files are what the table says: `go generate ./pkg/agjson` was run.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(root, "protocol.table"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := Generate(src)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what protocol.table gives: run go generate ./pkg/agjson", name)
		}
	}
}

// Every row of the table occurs in a sample, so that no field can be added without one.
func TestEveryFieldHasASample(t *testing.T) {
	tab := readTable(t)
	data, err := os.ReadFile(filepath.Join(root, "testdata", "samples.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]bool{} // by schema, or schema and kind: the members that occur
	for line := range bytes.Lines(data) {
		var s struct {
			Schema string
			Value  json.RawMessage
		}
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		note(tab, seen, s.Schema, s.Value)
	}
	need := func(owner string, fs []field) {
		for _, f := range fs {
			if !seen[owner][f.Name] {
				t.Errorf("%s.%s occurs in no sample", owner, f.Name)
			}
		}
	}
	for _, o := range tab.Objects {
		need(o.Schema, o.Fields)
	}
	for _, u := range tab.Unions {
		for _, c := range u.Cases {
			need(u.Schema+" "+c.Value, c.Fields)
		}
	}
}

// note records the members of a value of the schema, and of the values in it.
func note(tab *table, seen map[string]map[string]bool, schema string, value json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return
	}
	owner, fields := fieldsOf(tab, schema, members)
	if seen[owner] == nil {
		seen[owner] = map[string]bool{}
	}
	for _, f := range fields {
		v, ok := members[f.Name]
		if !ok {
			continue
		}
		seen[owner][f.Name] = true
		ty := strings.TrimPrefix(f.Type, "[]")
		switch {
		case strings.HasPrefix(f.Type, "[]"):
			var list []json.RawMessage
			_ = json.Unmarshal(v, &list)
			for _, item := range list {
				note(tab, seen, ty, item)
			}
		case strings.HasPrefix(f.Type, "map["):
			var m map[string]json.RawMessage
			_ = json.Unmarshal(v, &m)
			for _, item := range m {
				note(tab, seen, strings.TrimSuffix(f.Type[4:], "]"), item)
			}
		default:
			note(tab, seen, ty, v)
		}
	}
}

func fieldsOf(tab *table, schema string, members map[string]json.RawMessage) (string, []field) {
	for _, o := range tab.Objects {
		if o.Schema == schema {
			return schema, o.Fields
		}
	}
	str := func(name string) (s string) {
		_ = json.Unmarshal(members[name], &s)
		return s
	}
	for _, u := range tab.Unions {
		if u.Schema != schema {
			continue
		}
		kind := str(u.Disc[0][0])
		if len(u.Disc) == 2 {
			kind += "/" + str(u.Disc[1][0]) + str(u.Disc[1][1])
		}
		for _, c := range u.Cases {
			if c.Value == kind || c.Value == "-" && kind == "" {
				return schema + " " + c.Value, append(append([]field{}, u.Shared...), c.Fields...)
			}
		}
	}
	return schema, nil
}

func readTable(t *testing.T) *table {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "protocol.table"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tab, err := parseTable(f)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestTableFaultsAreNamed(t *testing.T) {
	for src, want := range map[string]string{
		"enum Empty":                               "line 1",
		"object A B C":                             "line 1",
		"# a comment\n  name string":               "line 2: a field outside an object",
		"object AgX X\n  name strin":               `AgX.name: unknown type "strin"`,
		"object AgX X\n  name []AgY":               `AgX.name: unknown type "AgY"`,
		"union AgU U type\n  case a A\n  b map[q]": `AgU a.b: unknown type "q"`,
		"union AgU U type\n  b nope\n  case a A":   `AgU.b: unknown type "nope"`,
	} {
		_, err := Generate([]byte(src))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", src, err, want)
		}
	}
}
