package vercel_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/vercel"
)

// stream is one recorded stream.
type stream struct {
	name   string // vercel6/text
	frames []json.RawMessage
	meta   meta
}

type meta struct {
	Ended struct {
		How   string
		Error json.RawMessage
	}
	After struct {
		FinishReason json.RawMessage
		Text         json.RawMessage
		TotalUsage   json.RawMessage
	}
	Truth struct {
		Texts     []string
		Reasoning []string
		Signature string
		ToolCalls []struct {
			ID, Name string
			Input    json.RawMessage
		}
	}
}

// streams are all recorded streams.
func streams(t testing.TB) []stream {
	t.Helper()
	paths, err := filepath.Glob("testdata/frames/*/*.ndjson")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded streams: %v", err)
	}
	var out []stream
	for _, path := range paths {
		if strings.HasSuffix(path, ".events.ndjson") {
			continue
		}
		s := stream{name: strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), "testdata/frames/"), ".ndjson")}
		s.frames = agtest.Lines(t, path)
		data, err := os.ReadFile(strings.TrimSuffix(path, ".ndjson") + ".meta.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &s.meta); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, s)
	}
	return out
}

var host = normalizer.Host{ThreadID: "th", TurnID: "T", Invoke: "i1"}

func run(s stream) []agjson.Event { return agtest.Run(vercel.New(host), s.frames) }

// TestGolden: what the mapper says of every recorded stream is as reviewed, and keeps the invariants of SPEC §5.0.
func TestGolden(t *testing.T) {
	for _, s := range streams(t) {
		t.Run(s.name, func(t *testing.T) {
			events := run(s)
			agtest.CheckStream(t, events)
			agtest.Golden(t, filepath.Join("testdata", "frames", s.name+".events.ndjson"), agtest.NDJSON(events))
		})
	}
}

// TestDeterminism: equal frames give equal events, and neither Push nor Flush keeps the caller's bytes.
func TestDeterminism(t *testing.T) {
	for _, s := range streams(t) {
		want := agtest.NDJSON(run(s))
		n := vercel.New(host)
		got := agtest.RunOverwriting(n, s.frames)
		if !bytes.Equal(want, agtest.NDJSON(got)) {
			t.Errorf("%s: the second run differs", s.name)
		}
		if st := n.Stats(); st.Panics > 0 || st.Unparsed > 0 || st.Refused > 0 {
			t.Errorf("%s: %+v", s.name, st)
		}
	}
}

// TestCases: frames written by hand, for what no recording shows.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/cases/*.ndjson")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".events.ndjson") {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".ndjson"), func(t *testing.T) {
			n := vercel.New(host)
			events := agtest.Run(n, agtest.Lines(t, path))
			if n.Stats().Panics > 0 {
				t.Errorf("%+v", n.Stats())
			}
			agtest.CheckStream(t, events)
			agtest.Golden(t, strings.TrimSuffix(path, ".ndjson")+".events.ndjson", agtest.NDJSON(events))
		})
	}
}
