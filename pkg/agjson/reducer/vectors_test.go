package reducer_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

type vector struct {
	Name        string
	Events      []json.RawMessage
	Result      json.RawMessage
	NeedsResync bool
	Deviates    []string
}

// decodeAll decodes each event, which must be well-formed.
func decodeAll(t testing.TB, raw []json.RawMessage) []agjson.Event {
	t.Helper()
	events := make([]agjson.Event, len(raw))
	for i := range raw {
		var err error
		if events[i], err = agjson.Decode(raw[i]); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	return events
}

// lines calls f with each line of a file of cases.
func lines(t testing.TB, path string, f func(n int, v vector)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sc := bufio.NewScanner(file)
	sc.Buffer(nil, 64<<20)
	n := 0
	for sc.Scan() {
		n++
		var v vector
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatalf("%s:%d: %v", path, n, err)
		}
		f(n, v)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Errorf("%s: no cases", path)
	}
}

// vectors is the folder of recorded cases, "" (said loudly) where there is none.
func vectors(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("AGWIRE_VECTORS")
	if dir == "" {
		t.Log("AGWIRE_VECTORS IS NOT SET: the recorded cases are not run; the project's own are")
	}
	return dir
}

// departures are the cases whose recorded result is expected to differ, each with its reason.
func departures(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/departures.txt")
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at, why, ok := strings.Cut(line, " ")
		if !ok || strings.TrimSpace(why) == "" {
			t.Fatalf("departures.txt: no reason in %q", line)
		}
		agtest.CheckReason(t, "departures.txt", line)
		m[at] = strings.TrimSpace(why)
	}
	return m
}

// TestVectors folds the recorded cases (SPEC §10.1, §10.2, SPEC §5 INV-FOLD).
func TestVectors(t *testing.T) {
	dir := vectors(t)
	if dir == "" {
		return
	}
	expected := departures(t)
	for _, name := range []string{"reduce.ndjson", "reduce-random.ndjson", "reduce-deviating.ndjson"} {
		lines(t, filepath.Join(dir, name), func(n int, v vector) {
			at := fmt.Sprintf("%s:%d", name, n)
			r := reducer.Fold(decodeAll(t, v.Events))
			res := r.Result()
			got := agjson.AppendReduceResult(nil, &res)
			why := ""
			switch {
			case v.NeedsResync != (r.Parked() != ""):
				why = fmt.Sprintf("parked %q, want %v", r.Parked(), v.NeedsResync)
			default:
				if place, ok := jsonpatch.Difference(got, v.Result); !ok {
					why = fmt.Sprintf("differs at %s, parked %q", place, r.Parked())
				}
			}
			reason, listed := expected[at]
			switch {
			case why != "" && !listed:
				t.Errorf("%s %v %s: %s", at, v.Deviates, v.Name, why)
			case why == "" && listed:
				t.Errorf("%s agrees, yet is listed as a departure: %s", at, reason)
			}
			delete(expected, at)
		})
	}
	for at := range expected {
		t.Errorf("%s is listed as a departure, and there is no such case", at)
	}
}
