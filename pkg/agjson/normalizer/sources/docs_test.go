package sources_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/sources"
)

const docs = "../../../../docs"

// proof is what the recorded streams of a facet count up to.
type proof struct {
	versions                map[string]bool
	streams, frames, events int
	leaves, absent, listed  int
}

// prove counts the recorded streams of a facet, which lie anywhere below its testdata/frames.
func prove(t *testing.T, source string) proof {
	t.Helper()
	p := proof{versions: map[string]bool{}}
	dir := filepath.Join("..", source, "testdata")
	count := agtest.Census{Drops: filepath.Join(dir, "drops.txt"), Kind: func(agtest.Object) string { return "" }}
	for _, depth := range []string{"*", "*/*"} {
		metas, err := filepath.Glob(filepath.Join(dir, "frames", depth+".meta.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range metas {
			var meta struct{ Package, Version string }
			if err := json.Unmarshal(read(t, path), &meta); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			base := strings.TrimSuffix(path, ".meta.json")
			frames := agtest.Lines(t, base+".ndjson")
			p.versions[meta.Package+" "+meta.Version] = true
			p.streams++
			p.frames += len(frames)
			p.events += bytes.Count(read(t, base+".events.ndjson"), []byte("\n"))
			n, err := sources.New(source, normalizer.Host{ThreadID: "th", TurnID: "T", Invoke: "i1"})
			if err != nil {
				t.Fatal(err)
			}
			count.Stream(t, base, frames, agtest.Run(n, frames))
		}
	}
	p.leaves, p.absent = count.Leaves, count.Absent
	for line := range bytes.Lines(read(t, count.Drops)) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			p.listed++
		}
	}
	return p
}

func (p proof) row(source string) string {
	return fmt.Sprintf("| [%s](sources/%s.md) | %s | %d | %d | %d | %d | %d | %d | %d |\n", source, source,
		strings.Join(slices.Sorted(maps.Keys(p.versions)), ", "), p.streams, p.frames, p.events,
		p.leaves, p.leaves-p.absent, p.absent, p.listed)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDocs: docs/sources.md has a row for each source that is built, with the numbers that counting gives, and each has its page.
func TestDocs(t *testing.T) {
	const first, last = "<!-- counted -->\n", "<!-- /counted -->"
	path := filepath.Join(docs, "sources.md")
	page := string(read(t, path))
	head, rest, ok := strings.Cut(page, first)
	_, tail, closed := strings.Cut(rest, last)
	if !ok || !closed {
		t.Fatalf("%s has no counted table", path)
	}
	var table strings.Builder
	table.WriteString("| source | versions proved | streams | frames | events | leaves | in the events | dropped | paths dropped |\n")
	table.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, source := range sources.Built() {
		p := prove(t, source)
		if p.streams == 0 {
			t.Errorf("%s has no recorded streams", source)
		}
		table.WriteString(p.row(source))
		about := string(read(t, filepath.Join(docs, "sources", source+".md")))
		for v := range p.versions {
			if name, version, _ := strings.Cut(v, " "); !strings.Contains(about, name) || !strings.Contains(about, version) {
				t.Errorf("docs/sources/%s.md does not name %s", source, v)
			}
		}
	}
	agtest.Golden(t, path, []byte(head+first+table.String()+last+tail))
}
