package normalize_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/services/normalize"
)

func named(t testing.TB, source, name string) stream {
	t.Helper()
	for _, s := range recordings(t, source, 20) {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("no recording %s", name)
	return stream{}
}

// outcome is that of the turn in the fold of a log.
func outcome(t testing.TB, body, turn string) agjson.Outcome {
	t.Helper()
	for _, r := range foldable(t, body).Turns {
		if r.TurnID == turn {
			return r.Outcome
		}
	}
	t.Fatalf("no turn %s", turn)
	return nil
}

// An invoke that falls silent is ended as idle, never as a success (SPEC §5 INV-FLUSH); what comes after is late, and shows.
func TestSilentInvokeIsEnded(t *testing.T) {
	srv := natstest.New(t)
	b := connect(t, srv, 1)
	start(t, b, "w", func(c *normalize.Config) { c.IdleAfter = time.Second })
	s := named(t, "vercel", "vercel/tool_static")
	upload(t, b, "t", "i", s, 10, false)
	body := waitClosed(t, b, "t", "i")
	if o, ok := outcome(t, body, "turn_i").(*agjson.AbortedOutcome); !ok || o.Reason == nil || *o.Reason != "idle" {
		t.Errorf("outcome %+v", o)
	}
	if st, err := b.InvokeState(t.Context(), "t", "i"); err != nil || !st.Ended || st.End.Reason != bus.EndIdle {
		t.Errorf("state %+v, %v", st, err)
	}
}

// An invoke whose upload is open, though silent, is not ended.
func TestBeatsKeepAnInvoke(t *testing.T) {
	srv := natstest.New(t)
	b := connect(t, srv, 1)
	start(t, b, "w", func(c *normalize.Config) { c.IdleAfter = time.Second })
	s := named(t, "vercel", "vercel/tool_static")
	upload(t, b, "kept", "i", s, 10, false)
	upload(t, b, "left", "i", s, 10, false)
	natstest.Eventually(t, "the other one is ended", func() bool {
		if err := b.Beat("kept", "i"); err != nil {
			t.Fatal(err)
		}
		st, err := b.InvokeState(t.Context(), "left", "i")
		return err == nil && st.Ended
	})
	if st, err := b.InvokeState(t.Context(), "kept", "i"); err != nil || st.Ended {
		t.Errorf("state %+v, %v", st, err)
	}
}

// The reason of an end is the turn's.
func TestCancelledInvoke(t *testing.T) {
	srv := natstest.New(t)
	b := connect(t, srv, 1)
	start(t, b, "w", nil)
	s := named(t, "vercel", "vercel/tool_static")
	upload(t, b, "t", "i", s, 10, false)
	if ok, err := b.EndInvoke(t.Context(), "t", "i", 10, bus.End{Reason: bus.EndCancel}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	body := waitClosed(t, b, "t", "i")
	if o, ok := outcome(t, body, "turn_i").(*agjson.AbortedOutcome); !ok || o.Reason == nil || *o.Reason != "cancelled" {
		t.Errorf("outcome %+v", o)
	}
}

// A framework that nobody maps, named past ingest, is kept frame by frame, and its turn is an error.
func TestUnmappedFramework(t *testing.T) {
	srv := natstest.New(t)
	b := connect(t, srv, 1)
	start(t, b, "w", nil)
	s := stream{source: "nobody", frames: [][]byte{[]byte(`{"a":1}`), []byte(`{"b":2}`)}}
	upload(t, b, "t", "i", s, 2, true)
	body := waitClosed(t, b, "t", "i")
	if n := strings.Count(body, "ext.agwire.unparsed"); n != 2 {
		t.Errorf("%d frames kept, want 2", n)
	}
	if o, ok := outcome(t, body, "turn_i").(*agjson.ErrorOutcome); !ok || o.Code == nil || *o.Code != "unknown_source" {
		t.Errorf("outcome %+v", o)
	}
}

// An invoke whose replay differs from what the log says of it cannot go on in silence (DESIGN §3).
func TestMapperChanged(t *testing.T) {
	srv := natstest.New(t)
	b := connect(t, srv, 1)
	s := named(t, "vercel", "vercel/tool_static")
	upload(t, b, "t", "i", s, 10, false)

	// A predecessor of another version wrote this.
	w, err := b.Claim(t.Context(), 0, bus.WriterOptions{Owner: "old"})
	if err != nil {
		t.Fatal(err)
	}
	run := startWriter(t, w)
	events := []agjson.Event{
		{Body: &agjson.MessagesSnapshot{Messages: []agjson.Message{}, Turns: []agjson.TurnRecord{}, Artifacts: []agjson.Artifact{}, Memory: []agjson.MemoryRecord{}}},
		{Seq: 1, TurnID: "turn_i", Body: &agjson.TurnStart{ThreadID: "t"}},
	}
	head := bus.EventHeader{
		Thread: "t", Count: 2, Invoke: "i", Turn: "turn_i", Frame: 9, Next: 1, Opened: 1, FrameSeq: 10, Digest: "of another mapper",
	}
	if err := w.Publish(t.Context(), head, []byte(text(events)), nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	run()

	start(t, b, "new", nil)
	upload(t, b, "t", "i", s, 12, false)
	body := waitClosed(t, b, "t", "i")
	if o, ok := outcome(t, body, "turn_i").(*agjson.ErrorOutcome); !ok || o.Code == nil || *o.Code != "mapper_changed" {
		t.Errorf("outcome %+v", o)
	}
}

// Two invokes that want the same turn get two (DESIGN §7).
func TestTakenTurn(t *testing.T) {
	srv := natstest.New(t)
	b := connect(t, srv, 1)
	start(t, b, "w", nil)
	s := named(t, "vercel", "vercel/tool_static")
	for _, invoke := range []string{"a", "b", "c"} {
		a, _, err := b.OpenInvoke(t.Context(), "t", invoke, bus.InvokeStart{Source: "vercel", Turn: "T"})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range s.frames {
			if err := a.Append(t.Context(), int64(i), f); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.End(t.Context(), bus.End{Reason: bus.EndDone}); err != nil {
			t.Fatal(err)
		}
		if err := a.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.Close()
	}
	body := waitClosed(t, b, "t", "a", "b", "c")
	result := foldable(t, body)
	var turns, calls []string
	for _, r := range result.Turns {
		turns = append(turns, r.TurnID)
	}
	for _, m := range result.Messages {
		for _, block := range m.Content {
			if c, ok := block.(*agjson.ToolCallBlock); ok {
				calls = append(calls, c.ToolCallID)
				if strings.Contains(c.ToolCallID, "~") && !strings.Contains(string(c.ProviderMetadata), `"agwire":{"toolCallId":`) {
					t.Errorf("call %s does not say how the provider spells it", c.ToolCallID)
				}
			}
		}
	}
	if strings.Join(turns, " ") != "T T~2 T~3" {
		t.Errorf("turns %q", turns)
	}
	if len(calls) != 3 || calls[1] != calls[0]+"~T~2" || calls[2] != calls[0]+"~T~3" {
		t.Errorf("calls %q", calls)
	}
	if strings.Contains(body, "ext.agwire.refused") {
		t.Error("events were refused")
	}
}
