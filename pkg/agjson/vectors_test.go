package agjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
)

// A verdict is one line of a validate*.ndjson: a value, and what a lenient and a strict check say of it.
type verdict struct {
	Name   string          `json:"name"`
	Schema string          `json:"schema"`
	Value  json.RawMessage `json:"value"`
	Valid  bool            `json:"valid"`
	Strict *bool           `json:"strict"` // absent: the file has no strict verdict
}

// TestVectorVerdicts holds the check to the published verdicts, but for the departures listed in testdata/departures.txt. A
// listed case that agrees fails, so that the list cannot grow stale.
func TestVectorVerdicts(t *testing.T) {
	dir := os.Getenv("AGWIRE_VECTORS")
	if dir == "" {
		t.Log("AGWIRE_VECTORS is not set: the published vectors are NOT checked here, only the project's own testdata (the other tests)")
		return
	}
	listed := readDepartures(t, "testdata/departures.txt")
	for _, file := range []string{"validate.ndjson", "validate-mutations.ndjson"} {
		n := 0
		for line, data := range lines(t, filepath.Join(dir, file)) {
			var v verdict
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatalf("%s:%d: %v", file, line, err)
			}
			n++
			want := map[string]bool{"consumer": v.Valid}
			switch {
			case v.Strict != nil:
				want["producer"] = *v.Strict
			case !v.Valid:
				want["producer"] = false // a producer's check takes nothing that a consumer's refuses
			}
			for name, posture := range map[string]agjson.Posture{"consumer": agjson.Consumer, "producer": agjson.Producer} {
				w, ok := want[name]
				if !ok {
					continue
				}
				err := agjson.Check(v.Schema, posture, v.Value)
				key := fmt.Sprintf("%s:%d %s", file, line, name)
				reason, isListed := listed[key]
				delete(listed, key)
				switch agrees := (err == nil) == w; {
				case agrees && isListed:
					t.Errorf("%s agrees, but is listed as departing: %s", key, reason)
				case !agrees && !isListed:
					t.Errorf("%s (%s, %s): want valid %v, got %v", key, v.Name, v.Schema, w, err)
				}
			}
		}
		t.Logf("%s: %d cases", file, n)
	}
	for key := range listed {
		t.Errorf("testdata/departures.txt lists %s, which does not exist", key)
	}
}

// readDepartures reads lines "file:line posture reason…" by their first two words.
func readDepartures(t *testing.T, file string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for n, line := range lines(t, file) {
		w := strings.Fields(string(line))
		if len(w) == 0 || strings.HasPrefix(w[0], "#") {
			continue
		}
		if len(w) < 3 {
			t.Fatalf("%s:%d: want file:line, posture, reason", file, n)
		}
		agtest.CheckReason(t, fmt.Sprint(file, ":", n), string(line))
		key := w[0] + " " + w[1]
		if _, ok := out[key]; ok {
			t.Fatalf("%s:%d: listed twice", file, n)
		}
		out[key] = strings.Join(w[2:], " ")
	}
	return out
}

// lines yields the lines of a file with their 1-based numbers.
func lines(t testing.TB, file string) func(func(int, []byte) bool) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(int, []byte) bool) {
		n := 0
		for line := range bytes.Lines(data) {
			if n++; !yield(n, bytes.TrimRight(line, "\n")) {
				return
			}
		}
	}
}
