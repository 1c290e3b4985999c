package jsonpatch

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestVectors runs the recorded cases of the public SDK, where they are at hand (SPEC §5 state.delta, RFC 6902).
func TestVectors(t *testing.T) {
	dir := os.Getenv("AGWIRE_VECTORS")
	if dir == "" {
		t.Log("AGWIRE_VECTORS IS NOT SET: the recorded cases are not run; the package's own are")
		return
	}
	f, err := os.Open(filepath.Join(dir, "jsonpatch.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	n := 0
	for lines.Scan() {
		n++
		var c struct {
			Name              string
			Doc, Patch, Value json.RawMessage
			OK                bool
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		got, err := Apply(c.Doc, c.Patch)
		if c.OK != (err == nil) {
			t.Errorf("line %d, %s: error %v, want ok %v", n, c.Name, err, c.OK)
		} else if c.OK && !Equal(got, c.Value) {
			t.Errorf("line %d, %s: got %s, want %s", n, c.Name, got, c.Value)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Error("no cases")
	}
}
