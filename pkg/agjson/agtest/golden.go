package agtest

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

// Golden compares got with a file, byte for byte, and says at which line they part. With AGWIRE_GOLDEN=write in the environment it
// writes the file instead.
func Golden(t testing.TB, path string, got []byte) {
	t.Helper()
	if os.Getenv("AGWIRE_GOLDEN") == "write" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make golden writes it)", err)
	}
	if bytes.Equal(want, got) {
		return
	}
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || !bytes.Equal(w[i], g[i]) {
			t.Errorf("%s:%d:\n  want %s\n  got  %s", path, i+1, line(w, i), line(g, i))
			return
		}
	}
}

func line(list [][]byte, i int) string {
	if i >= len(list) {
		return "(nothing)"
	}
	if len(list[i]) > 600 {
		return fmt.Sprintf("%s… (%d bytes)", list[i][:600], len(list[i]))
	}
	return string(list[i])
}

// NDJSON are events one a line.
func NDJSON(events []agjson.Event) []byte {
	var b []byte
	for i := range events {
		b = append(agjson.AppendEvent(b, &events[i]), '\n')
	}
	return b
}
