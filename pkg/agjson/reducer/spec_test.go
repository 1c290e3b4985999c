package reducer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// TestSpec has one hand-written case a clause: the listing of testdata/spec reads as the specification (SPEC §5, §10). A case
// is its clause, the events, why the fold ends parked, and the result; both reducers must give it, and where it does not park,
// so must every cut.
func TestSpec(t *testing.T) {
	paths, err := filepath.Glob("testdata/spec/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			c := readCase(t, path)
			events := decodeAll(t, c.events)
			r, plain := reducer.Fold(events), naiveFold(events)
			if r.Parked() != c.parked {
				t.Errorf("parks %q, want %q", r.Parked(), c.parked)
			}
			if (plain.parked == "") != (c.parked == "") {
				t.Errorf("the plain reducer parks %q", plain.parked)
			}
			same(t, "the result", resultText(r.Result(), false), c.result)
			same(t, "the plain reducer's", resultText(plain.fold(), false), c.result)
			if c.parked != "" {
				return
			}
			live := reducer.New()
			for k := range events {
				if live.Push(events[k]); live.Parked() != "" {
					continue
				}
				snap := live.Snapshot()
				joined := reducer.Fold(append(snap.Pair(), events[k+1:]...))
				same(t, "a cut", resultText(joined.Result(), true), resultText(r.Result(), true))
			}
		})
	}
}

type specCase struct {
	events []json.RawMessage
	parked string
	result []byte
}

// readCase reads the parts of a case: a line "-- name --" begins one.
func readCase(t *testing.T, path string) specCase {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parts, name := map[string]string{}, "clause"
	for line := range strings.Lines(string(data)) {
		if s, ok := strings.CutPrefix(line, "-- "); ok {
			if s, ok = strings.CutSuffix(s, " --\n"); ok {
				name = s
				parts[name] = ""
				continue
			}
		}
		parts[name] += line
	}
	if !strings.HasPrefix(parts["clause"], "SPEC §") {
		t.Errorf("%s names no clause", path)
	}
	c := specCase{parked: strings.TrimSpace(parts["parked"]), result: []byte(parts["result"])}
	for line := range strings.Lines(parts["events"]) {
		c.events = append(c.events, json.RawMessage(line))
	}
	if len(c.events) == 0 || len(c.result) == 0 {
		t.Fatalf("%s lacks a part", path)
	}
	return c
}
