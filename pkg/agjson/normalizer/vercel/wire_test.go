package vercel_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer/vercel"
)

// TestWires: the frames themselves, the lines of their SSE body, and those as JSON strings give equal events.
func TestWires(t *testing.T) {
	quoted := func(line string) json.RawMessage { return agjson.Quote(line) }
	for _, s := range streams(t) {
		if strings.HasSuffix(s.name, "sse_wire") {
			continue
		}
		want := agtest.NDJSON(run(s))
		var bare, strs, spaced []json.RawMessage
		for _, f := range s.frames {
			line := "data: " + string(f)
			bare = append(bare, json.RawMessage(line), nil, json.RawMessage(": keep-alive"))
			strs = append(strs, quoted(line), quoted(""), quoted("event: message"), quoted("id: 7"), quoted("retry: 10"))
			var b bytes.Buffer
			if err := json.Indent(&b, f, "", "\t"); err != nil {
				t.Fatal(err)
			}
			spaced = append(spaced, append([]byte(" \n"), b.Bytes()...))
		}
		bare = append(bare, json.RawMessage("data: [DONE]"))
		strs = append(strs, quoted("data:[DONE]"), quoted("[DONE]"))
		spaced = append(spaced, json.RawMessage("[DONE]"))
		for name, frames := range map[string][]json.RawMessage{"bare": bare, "strings": strs, "spaced": spaced} {
			if got := agtest.NDJSON(agtest.Run(vercel.New(host), frames)); !bytes.Equal(want, got) {
				t.Errorf("%s as %s gives other events", s.name, name)
			}
		}
	}
}

// TestPushAsRuns: what a push returns is all that its frame has caused, so that a client sees each token when it comes.
func TestPushAsRuns(t *testing.T) {
	for _, s := range streams(t) {
		n := vercel.New(host)
		for i, f := range s.frames {
			var v struct{ Type string }
			_ = json.Unmarshal(f, &v)
			got := n.Push(f)
			if strings.HasSuffix(v.Type, "-delta") && len(got) == 0 {
				t.Errorf("%s: frame %d, a %s, yields nothing", s.name, i, v.Type)
			}
			if v.Type == "finish" {
				last := got[len(got)-1].Body.Type()
				if !strings.HasPrefix(last, "turn.") {
					t.Errorf("%s: finish ends with %s", s.name, last)
				}
			}
		}
	}
}

// TestTwoInvokes: the ids of two invokes of a thread are apart, whatever the SDK calls its parts (SPEC §5 INV-BLOCK).
func TestTwoInvokes(t *testing.T) {
	for _, s := range streams(t) {
		second := host
		second.TurnID = "U"
		ids := func(events []agjson.Event) map[string]bool {
			out := map[string]bool{}
			for i := range events {
				switch b := events[i].Body.(type) {
				case *agjson.MessageStart, *agjson.TextStart, *agjson.ReasoningStart:
					out[events[i].ID] = true
				case *agjson.ContentBlock:
					if d, ok := b.Block.(*agjson.DataBlock); ok && d.ID != nil {
						out[*d.ID] = true
					}
				}
			}
			return out
		}
		first := ids(run(s))
		for id := range ids(agtest.Run(vercel.New(second), s.frames)) {
			if first[id] {
				t.Errorf("%s: %q in both", s.name, id)
			}
		}
	}
}
