package claude_test

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
	"github.com/agwire/agwire/pkg/agjson/normalizer/claude"
	"pgregory.net/rapid"
)

// stream is one recorded stream.
type stream struct {
	name   string
	frames []json.RawMessage // with the host's word on what the SDK threw
	meta   meta
}

type meta struct {
	Ended struct {
		Error *struct {
			Message    string
			ErrorClass string
		}
	}
	Truth *truth
}

// truth is what the model said.
type truth struct {
	Texts     []string
	Reasoning string
	Signature string
	ToolCalls []struct {
		ID, Name string
		Input    json.RawMessage
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
			code := e.ErrorClass
			if code == "" {
				code = "error"
			}
			s.frames = append(s.frames, agtest.HostError(code, e.Message))
		}
		out = append(out, s)
	}
	return out
}

var host = normalizer.Host{ThreadID: "th", TurnID: "T", Invoke: "i1"}

func newWith(h normalizer.Host) agtest.Normalizer { return claude.New(h) }

func run(frames []json.RawMessage) []agjson.Event { return agtest.Run(claude.New(host), frames) }

// TestGolden: what the mapper says of every recorded stream is as reviewed, keeps the invariants of SPEC §5.0 and folds.
func TestGolden(t *testing.T) {
	for _, s := range streams(t) {
		t.Run(s.name, func(t *testing.T) {
			n := claude.New(host)
			events := agtest.Run(n, s.frames)
			agtest.CheckStream(t, events)
			agtest.CheckFold(t, events)
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
			n := claude.New(host)
			events := agtest.Run(n, agtest.Lines(t, path))
			agtest.CheckStream(t, events)
			agtest.CheckFold(t, events)
			if n.Stats().Panics > 0 {
				t.Errorf("%+v", n.Stats())
			}
			agtest.Golden(t, base+".events.ndjson", agtest.NDJSON(events))
		})
	}
}

// TestTruth: the fold says what the model said, once each, in order.
func TestTruth(t *testing.T) {
	checked := 0
	for _, s := range streams(t) {
		if s.meta.Truth == nil {
			continue
		}
		checked++
		t.Run(s.name, func(t *testing.T) { checkTruth(t, *s.meta.Truth, agtest.CheckFold(t, run(s.frames))) })
	}
	if checked < 9 {
		t.Errorf("only %d streams have a truth", checked)
	}
}

func checkTruth(t *testing.T, want truth, got agjson.ReduceResult) {
	t.Helper()
	var texts []string
	reasoning, signature := "", ""
	var calls []*agjson.ToolCallBlock
	for _, m := range got.Messages {
		for _, b := range m.Content {
			switch b := b.(type) {
			case *agjson.TextBlock:
				texts = append(texts, b.Text)
			case *agjson.ReasoningBlock:
				reasoning += *b.Text
				signature = string(b.Opaque.Value)
			case *agjson.ToolCallBlock:
				calls = append(calls, b)
			}
		}
	}
	if want.Texts != nil && strings.Join(texts, "\n") != strings.Join(want.Texts, "\n") {
		t.Errorf("texts %q, want %q", texts, want.Texts)
	}
	if want.Reasoning != "" && reasoning != want.Reasoning || want.Signature != "" && signature != want.Signature {
		t.Errorf("reasoning %q, signature of %d bytes", reasoning, len(signature))
	}
	if want.ToolCalls == nil {
		return
	}
	if len(calls) != len(want.ToolCalls) {
		t.Fatalf("%d tool calls, want %d", len(calls), len(want.ToolCalls))
	}
	for i, c := range want.ToolCalls {
		if calls[i].ToolCallID != c.ID || calls[i].Name != c.Name {
			t.Errorf("call %d is %s %s", i, calls[i].ToolCallID, calls[i].Name)
		}
		if d := agtest.Diff(agtest.Decode(c.Input), agtest.Decode(calls[i].Input)); d != "" {
			t.Errorf("input of %s: %s", c.ID, d)
		}
	}
}

// TestDeterminism: equal frames give equal events, and the caller's bytes are not kept.
func TestDeterminism(t *testing.T) {
	for _, s := range streams(t) {
		n := claude.New(host)
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
		n := claude.New(host)
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
		n := claude.New(host)
		events := append(n.Push(frame), n.Push([]byte(`{"type":"stream_event","event":{"type":"message_stop"}}`))...)
		events = append(append(events, n.Push(frame)...), n.Flush()...)
		agtest.CheckStream(t, events)
		if n.Stats().Panics > 0 {
			t.Error("a panic")
		}
	})
}
