package agtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Case is one recorded run of a normalizer.
type Case struct {
	Key        string // `normalize-claude:3` (file and line from 0), or `corpus/<scenario>:claude`
	Name       string
	Frames     []json.RawMessage
	Events     []Object
	PerPush    []int // events of each push; nil in the corpus
	FlushCount int
	Result     any  // the SDK's fold
	Deviates   bool // the SDK's stream breaks the text in a known way
}

// VectorsDir is the folder with the vectors. Where there is none it logs that and answers false.
func VectorsDir(t testing.TB) (string, bool) {
	dir := os.Getenv("AGWIRE_VECTORS")
	if dir == "" {
		t.Log("AGWIRE_VECTORS is not set: the public SDK's vectors are NOT checked here, only the project's own testdata is")
		return "", false
	}
	return dir, true
}

// Lines reads the lines of a vectors file such as engine.ndjson.
func Lines(t testing.TB, path string) []json.RawMessage {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return SplitLines(data)
}

// SplitLines are the lines of NDJSON, blank ones left out.
func SplitLines(data []byte) []json.RawMessage {
	var out []json.RawMessage
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, len(data)+1)
	for s.Scan() {
		if line := bytes.TrimSpace(s.Bytes()); len(line) > 0 {
			out = append(out, bytes.Clone(line))
		}
	}
	return out
}

// NormalizeCases are the cases of one source: those of normalize-<source>.ndjson and those of the corpus. ok is false where
// there are no vectors.
func NormalizeCases(t testing.TB, source string) (cases []Case, ok bool) {
	t.Helper()
	dir, ok := VectorsDir(t)
	if !ok {
		return nil, false
	}
	file := "normalize-" + source
	for i, line := range Lines(t, filepath.Join(dir, file+".ndjson")) {
		var c struct {
			Name       string
			Frames     []json.RawMessage
			Events     []json.RawMessage
			PerPush    []int
			FlushCount int
			Result     json.RawMessage
			Deviates   []string
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s:%d: %v", file, i, err)
		}
		cases = append(cases, Case{fmt.Sprintf("%s:%d", file, i), c.Name, c.Frames, objects(c.Events), c.PerPush, c.FlushCount, maybe(c.Result), c.Deviates != nil})
	}
	return append(cases, corpus(t, dir, source)...), true
}

func corpus(t testing.TB, dir, source string) []Case {
	t.Helper()
	natives, err := filepath.Glob(filepath.Join(dir, "corpus", "*", source+".native.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(natives)
	var cases []Case
	for _, path := range natives {
		c := Case{Key: "corpus/" + filepath.Base(filepath.Dir(path)) + ":" + source, Name: filepath.Base(filepath.Dir(path))}
		var events []json.RawMessage
		var result json.RawMessage
		for suffix, into := range map[string]any{"native": &c.Frames, "agjson": &events, "result": &result} {
			data, err := os.ReadFile(strings.TrimSuffix(path, "native.json") + suffix + ".json")
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, into); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		c.Events, c.Result = objects(events), maybe(result)
		cases = append(cases, c)
	}
	return cases
}

func maybe(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return Decode(raw)
}

func objects(list []json.RawMessage) []Object {
	out := make([]Object, len(list))
	for i, raw := range list {
		out[i] = Decode(raw).(Object)
	}
	return out
}
