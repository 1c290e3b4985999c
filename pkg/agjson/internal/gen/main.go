// Command gen makes the Go types, the codec and the checks of pkg/agjson, and the JSON Schema, from protocol.table.
//
// It is run by `go generate ./pkg/agjson`; a test fails when its output and the checked-in files differ.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", ".", "the folder of protocol.table, and where the files go")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	src, err := os.ReadFile(filepath.Join(dir, "protocol.table"))
	if err != nil {
		return err
	}
	files, err := Generate(src)
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// schemaFile is where the JSON Schema goes, as seen from pkg/agjson.
const schemaFile = "../../docs/agjson.schema.json"

// Generate returns the generated files by name, for a table given as bytes.
func Generate(src []byte) (map[string][]byte, error) {
	t, err := parseTable(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	g := newGenerator(t)
	if err := g.verify(); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for name, raw := range map[string][]byte{
		"types_gen.go": g.types(), "codec_gen.go": g.codec(), "schema_gen.go": g.schemas(), "plain_gen_test.go": g.plain(),
	} {
		src, err := format.Source(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", name, err, raw)
		}
		out[name] = src
	}
	schema, err := g.jsonSchema()
	if err != nil {
		return nil, err
	}
	out[schemaFile] = schema
	return out, nil
}
