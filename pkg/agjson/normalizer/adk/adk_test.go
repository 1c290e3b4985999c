package adk_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/adk"
)

// stream is one recorded stream.
type stream struct {
	name   string
	frames []json.RawMessage // with the host's word on what the SDK threw
	meta   meta
}

type meta struct {
	Ended struct {
		Error *struct{ Name, Message string }
	}
	After struct {
		SessionState map[string]json.RawMessage
		IsFinal      []bool
	}
	Truth *truth
}

// truth is what the model said.
type truth struct {
	Texts     []string
	Reasoning string
	ToolCalls []struct {
		Name  string
		Input json.RawMessage
	}
}

func streams(t testing.TB) []stream {
	t.Helper()
	paths, err := filepath.Glob("testdata/frames/*.meta.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded streams: %v", err)
	}
	var out []stream
	for _, path := range paths {
		base := strings.TrimSuffix(path, ".meta.json")
		s := stream{name: filepath.Base(base), frames: agtest.Lines(t, base+".ndjson")}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &s.meta); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if e := s.meta.Ended.Error; e != nil {
			s.frames = append(s.frames, agtest.HostError(e.Name, e.Message))
		}
		out = append(out, s)
	}
	return out
}

var host = normalizer.Host{ThreadID: "th", TurnID: "T", Invoke: "i1"}

func run(frames []json.RawMessage) []agjson.Event { return agtest.Run(adk.New(host), frames) }

// TestGolden: what the mapper says of every recorded stream is as reviewed, keeps the invariants of SPEC §5.0 and folds.
func TestGolden(t *testing.T) {
	for _, s := range streams(t) {
		t.Run(s.name, func(t *testing.T) {
			n := adk.New(host)
			events := agtest.Run(n, s.frames)
			agtest.CheckStream(t, events)
			res := agtest.CheckFold(t, events)
			if err := agjson.Check("AgReduceResult", agjson.Producer, agjson.AppendReduceResult(nil, &res)); err != nil {
				t.Error(err)
			}
			if st := n.Stats(); st.Panics+st.Unparsed+st.Refused > 0 {
				t.Errorf("%+v", st)
			}
			agtest.Golden(t, filepath.Join("testdata", "frames", s.name+".events.ndjson"), agtest.NDJSON(events))
		})
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
		base := strings.TrimSuffix(path, ".ndjson")
		t.Run(filepath.Base(base), func(t *testing.T) {
			n := adk.New(host)
			events := agtest.Run(n, agtest.Lines(t, path))
			agtest.CheckStream(t, events)
			agtest.CheckFold(t, events)
			if st := n.Stats(); st.Panics+st.Refused > 0 {
				t.Errorf("%+v", st)
			}
			agtest.Golden(t, base+".events.ndjson", agtest.NDJSON(events))
		})
	}
}

// TestDeterminism: equal frames give equal events, and the caller's bytes are not kept.
func TestDeterminism(t *testing.T) {
	for _, s := range streams(t) {
		n := adk.New(host)
		got := agtest.RunOverwriting(n, s.frames)
		if !bytes.Equal(agtest.NDJSON(run(s.frames)), agtest.NDJSON(got)) {
			t.Errorf("%s: the second run differs", s.name)
		}
	}
}

// TestCut: a stream that ends anywhere still closes all it opened (SPEC §5 INV-FLUSH), and folds.
func TestCut(t *testing.T) {
	for _, s := range streams(t) {
		for i := 0; i < len(s.frames); i += 1 + len(s.frames)/100 { // of a long stream, a hundred places
			events := run(s.frames[:i])
			agtest.CheckTurn(t, events)
			agtest.CheckMsg(t, events)
			agtest.CheckFold(t, events)
			if t.Failed() {
				t.Fatalf("%s cut at frame %d", s.name, i)
			}
		}
	}
}

// TestHostile: whatever the frames, nothing throws, the events are valid, keep the invariants of SPEC §5.0, and fold.
func TestHostile(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "stream")
		n := adk.New(host)
		events := agtest.Run(n, agtest.Hostile(t, s.frames))
		agtest.CheckStream(t, events)
		agtest.CheckFold(t, agtest.WithoutOrphans(events))
		if st := n.Stats(); st.Panics > 0 {
			t.Errorf("%s: %+v", s.name, st)
		}
	})
}

// FuzzPush: no bytes make Push panic or yield an invalid event.
func FuzzPush(f *testing.F) {
	for _, s := range streams(f) {
		for i, frame := range s.frames {
			if i%7 == 0 && len(frame) < 4000 {
				f.Add([]byte(frame))
			}
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		n := adk.New(host)
		events := append(n.Push(frame), n.Push([]byte(`{"invocationId":"i","content":{"parts":[{"text":"a"}]},"partial":true}`))...)
		events = append(append(events, n.Push(frame)...), n.Flush()...)
		agtest.CheckStream(t, events)
		if n.Stats().Panics > 0 {
			t.Error("a panic")
		}
	})
}
