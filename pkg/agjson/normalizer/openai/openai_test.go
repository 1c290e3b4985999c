package openai_test

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
	"github.com/agwire/agwire/pkg/agjson/normalizer/openai"
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
		Error *struct{ Ctor, Message string }
	}
	After struct {
		FinalOutput   json.RawMessage
		Interruptions []struct{ RawItem struct{ CallID string } }
		CurrentAgent  string
		Usage         struct{ Requests, InputTokens, TotalTokens int64 }
	}
	Truth truth
}

// truth is what the model said.
type truth struct {
	Texts, Reasoning []string
	Encrypted        string
	ToolCalls        []struct {
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
			s.frames = append(s.frames, agtest.HostError(e.Ctor, e.Message))
		}
		out = append(out, s)
	}
	return out
}

var host = normalizer.Host{ThreadID: "th", TurnID: "T", Invoke: "i1"}

func newWith(h normalizer.Host) agtest.Normalizer { return openai.New(h) }

func run(frames []json.RawMessage) []agjson.Event { return agtest.Run(openai.New(host), frames) }

// TestGolden: what the mapper says of every recorded stream is as reviewed, keeps the invariants of SPEC §5.0 and folds.
func TestGolden(t *testing.T) {
	for _, s := range streams(t) {
		t.Run(s.name, func(t *testing.T) {
			n := openai.New(host)
			events := agtest.Run(n, s.frames)
			agtest.CheckStream(t, events)
			agtest.CheckFold(t, agtest.WithoutOrphans(events)) // results of an earlier run: see TestResume
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
			n := openai.New(host)
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

// TestDeterminism: equal frames give equal events, and the caller's bytes are not kept.
func TestDeterminism(t *testing.T) {
	for _, s := range streams(t) {
		n := openai.New(host)
		got := agtest.RunOverwriting(n, s.frames)
		if !bytes.Equal(agtest.NDJSON(run(s.frames)), agtest.NDJSON(got)) {
			t.Errorf("%s: the second run differs", s.name)
		}
	}
}

// TestCut: a stream that ends anywhere still closes all it opened (SPEC §5 INV-FLUSH), and folds; and one that ends within a
// response, or before the results of its calls, is no success.
func TestCut(t *testing.T) {
	for _, s := range streams(t) {
		for i := 0; i < len(s.frames); i += 1 + len(s.frames)/100 { // of a long stream, a hundred places
			events := run(s.frames[:i])
			agtest.CheckTurn(t, events)
			agtest.CheckMsg(t, events)
			agtest.CheckFold(t, agtest.WithoutOrphans(events))
			if len(events) > 0 && open(s.frames[:i]) {
				if _, done := events[len(events)-1].Body.(*agjson.TurnDone); done {
					t.Errorf("the stream was cut, and is said to be done")
				}
			}
			if t.Failed() {
				t.Fatalf("%s cut at frame %d", s.name, i)
			}
		}
	}
}

// open says that the last response of frames is not complete, or that a call of it has no result; read with a decoder and rules of its
// own.
func open(frames []json.RawMessage) bool {
	streaming := false
	calls := map[string]bool{}
	for _, raw := range frames {
		var f struct {
			Type, Name string
			Data       struct {
				Type     string
				Response struct {
					Output []struct{ Type, CallID string }
				}
			}
			Item struct{ RawItem struct{ CallID string } }
		}
		_ = json.Unmarshal(raw, &f)
		switch {
		case f.Data.Type == "response_started":
			streaming = true
			clear(calls)
		case f.Data.Type == "response_done":
			streaming = false
			for _, o := range f.Data.Response.Output {
				switch o.Type {
				case "function_call", "shell_call", "computer_call":
					calls[o.CallID] = true
				}
			}
		case f.Name == "tool_approval_requested":
			return false // the run waits
		case f.Name == "tool_output" || f.Name == "handoff_occurred":
			delete(calls, f.Item.RawItem.CallID)
		case f.Type == "__host_error__":
			return false
		}
	}
	return streaming || len(calls) > 0
}

// TestHostile: whatever the frames, nothing throws, the events are valid, keep the invariants of SPEC §5.0, and fold.
func TestHostile(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "stream")
		n := openai.New(host)
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
		n := openai.New(host)
		events := append(n.Push(frame), n.Push([]byte(`{"type":"raw_model_stream_event","data":{"type":"response_done","response":{"id":"r","output":[]}}}`))...)
		events = append(append(events, n.Push(frame)...), n.Flush()...)
		agtest.CheckStream(t, events)
		if n.Stats().Panics > 0 {
			t.Error("a panic")
		}
	})
}
