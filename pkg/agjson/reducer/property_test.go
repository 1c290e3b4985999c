package reducer_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

func equal(t *rapid.T, what string, got, want []byte, events []agjson.Event) {
	if place, ok := jsonpatch.Difference(got, want); !ok {
		t.Fatalf("%s: differs at %s\n got %s\nwant %s\n%s", what, place, got, want, describe(events))
	}
}

// SPEC §5 INV-FOLD over hostile streams: batch and live agree, a result stays as it was taken, a second implementation
// agrees event by event, and the structure judges as the fold does.
func TestPropertyFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := hostile(t)
		live, plain, structure := reducer.New(), &naive{last: -1}, reducer.NewStructure()
		var results []agjson.ReduceResult
		var texts [][]byte
		for i := range events {
			why := structure.Admit(&events[i])
			was := structure.Parked()
			structure.Apply(&events[i])
			live.Push(events[i])
			plain.push(&events[i])
			if (live.Parked() == "") != (plain.parked == "") {
				t.Fatalf("event %d parks %q, the plain reducer %q\n%s", i, live.Parked(), plain.parked, describe(events[:i+1]))
			}
			if live.Parked() != structure.Parked() || was == "" && (why == "") != (live.Parked() == "") {
				t.Fatalf("event %d: admitted %q, parks %q and %q\n%s", i, why, structure.Parked(), live.Parked(), describe(events[:i+1]))
			}
			res := live.Result()
			results, texts = append(results, res), append(texts, resultText(res, false))
			equal(t, "the plain reducer", texts[i], resultText(plain.fold(), false), events[:i+1])
		}
		for i := range results {
			equal(t, "a result taken before", resultText(results[i], false), texts[i], events)
		}
		lines, buf := reducer.New(), make([]byte, 0, 1<<12)
		for i := range events {
			buf = agjson.AppendEvent(buf[:0], &events[i])
			if err := lines.PushLine(buf); err != nil {
				t.Fatal(err)
			}
			clear(buf)
		}
		equal(t, "from a buffer that is used again", resultText(lines.Result(), false), texts[len(texts)-1], events)
		equal(t, "and its snapshot", snapshotText(lines.Snapshot()), snapshotText(live.Snapshot()), events)
		equal(t, "batch", resultText(reducer.Fold(events).Result(), false), texts[len(texts)-1], events)
	})
}

// SPEC §5 INV-FOLD at cuts: the pair and the rest, an import and the rest, and a store that is told changes alone all end in
// the fold of the whole; with the plain reducer as the client as well.
func TestPropertyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := admitted(t)
		whole := reducer.Fold(events)
		if whole.Parked() != "" {
			t.Fatalf("parks: %s\n%s", whole.Parked(), describe(events))
		}
		want := resultText(whole.Result(), true)
		live, kept := reducer.New(), newShadow()
		for k := range events {
			live.Push(events[k])
			if rapid.IntRange(0, 3).Draw(t, "cut") != 0 {
				continue
			}
			snap := live.Snapshot()
			pair := snap.Pair()
			for i := range pair {
				pair[i] = wire(t, pair[i]) // seqs from 0 up, and well-formed
			}
			joined := reducer.Fold(slices.Concat(pair, events[k+1:]))
			if joined.Parked() != "" {
				t.Fatalf("cut after %d parks: %s\n%s\npair\n%s", k, joined.Parked(), describe(events), describe(pair))
			}
			equal(t, "the pair", resultText(joined.Result(), true), want, slices.Concat(events, pair))
			imported := reducer.Import(snap)
			equal(t, "the import's snapshot", snapshotText(imported.Snapshot()), snapshotText(snap), events[:k+1])
			rest := imported.Changes()
			if len(rest.Messages) > 0 || rest.OpenChanged || rest.LiveChanged || rest.MemoryChanged || rest.StateChanged {
				t.Fatal("an import begins with changes")
			}
			for _, ev := range events[k+1:] {
				imported.Push(ev)
			}
			equal(t, "the import", resultText(imported.Result(), false), resultText(whole.Result(), false), events)
			plain := naiveFold(slices.Concat(pair, events[k+1:]))
			equal(t, "the plain reducer joins", resultText(plain.fold(), true), want, events)
			kept.apply(live.Changes())
			equalStore(t, kept, snap, events[:k+1])
		}
	})
}

func equalStore(t *rapid.T, kept *shadow, snap reducer.Snapshot, events []agjson.Event) {
	want := newShadow()
	want.apply(reducer.Changes{
		Messages: snap.Messages, Turns: snap.Turns, Artifacts: snap.Artifacts, MemoryChanged: true, Memory: snap.Memory,
		StateChanged: true, State: snap.State, LiveChanged: true, Live: snap.Live, OpenChanged: true, Open: snap.Open,
	})
	if kept.String() != want.String() {
		t.Fatalf("the store differs from the snapshot\n got %s\nwant %s\n%s", kept, want, describe(events))
	}
}

// then folds one more event onto the stream, and says why that parks and whether the result is as before.
func then(t *rapid.T, events []agjson.Event, ev agjson.Event) (parked string, changed bool) {
	r := reducer.Fold(events)
	before := resultText(r.Result(), false)
	ev.Seq = r.Seq() + 1
	r.Push(ev)
	_, same := jsonpatch.Difference(resultText(r.Result(), false), before)
	if r.Parked() != "" && !same {
		t.Fatalf("parks, and changes the result\n%s", describe(append(slices.Clone(events), ev)))
	}
	return r.Parked(), !same
}

// SPEC §5 INV-SEQ: a forward gap parks, only a snapshot ends that, a backward jump folds on, the same seq folds once.
func TestPropertySeq(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := admitted(t)
		k := rapid.IntRange(0, len(events)-1).Draw(t, "at")
		r := reducer.Fold(events[:k+1])
		before := resultText(r.Result(), false)
		gap := agjson.Event{Seq: r.Seq() + rapid.Int64Range(2, 9).Draw(t, "gap"), Body: &agjson.Ext{Name: "ext.acme.x"}}
		r.Push(gap)
		if r.Parked() == "" {
			t.Fatal("a forward gap does not park")
		}
		for _, ev := range events[k+1:] {
			if _, ok := ev.Body.(*agjson.StateSnapshot); !ok {
				r.Push(ev)
			}
		}
		equal(t, "while parked", resultText(r.Result(), false), before, events)
		r.Push(agjson.Event{Seq: 100, Body: &agjson.StateSnapshot{Snapshot: []byte("1")}})
		if r.Parked() != "" || r.Seq() != 100 || string(r.Result().State) != "1" {
			t.Fatal("a snapshot does not end it")
		}
		again := reducer.New()
		for _, ev := range events {
			again.Push(ev)
			again.Push(ev)
		}
		if _, snapshot := events[0].Body.(*agjson.MessagesSnapshot); snapshot {
			equal(t, "each event twice", resultText(again.Result(), false), resultText(reducer.Fold(events).Result(), false), events)
		}
		again.Push(agjson.Event{Seq: 0, TurnID: "new", Body: &agjson.TurnStart{ThreadID: "th"}})
		if n := len(again.Result().Turns); again.Parked() != "" || again.Seq() != 0 || again.Result().Turns[n-1].TurnID != "new" {
			t.Fatalf("a 0-restart does not fold: %s", again.Parked())
		}
	})
}

// SPEC §5 INV-TURN: opening is idempotent, a turn has one terminal.
func TestPropertyTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := admitted(t)
		s := reducer.NewStructure()
		for i := range events {
			s.Apply(&events[i])
		}
		for _, rec := range reducer.Fold(events).Result().Turns {
			_, open := s.Turn(rec.TurnID)
			for _, body := range []agjson.Body{
				&agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: agjson.FinishReasonStop}, &agjson.TurnError{Message: "m"}, &agjson.TurnAbort{},
			} {
				if parked, _ := then(t, events, agjson.Event{TurnID: rec.TurnID, Body: body}); (parked == "") != open {
					t.Fatalf("%s on a turn that is open %v parks %q\n%s", body.Type(), open, parked, describe(events))
				}
			}
			if parked, changed := then(t, events, agjson.Event{TurnID: rec.TurnID, Body: &agjson.TurnStart{ThreadID: rec.ThreadID}}); parked != "" || changed {
				t.Fatalf("a second turn.start parks %q, changes %v", parked, changed)
			}
		}
		if parked, _ := then(t, events, agjson.Event{TurnID: "never", Body: &agjson.TurnAbort{}}); parked == "" {
			t.Fatal("the end of a turn that was never opened does not park")
		}
	})
}

// SPEC §5 INV-MSG: what is sealed, and all of a closed turn, takes no block and no delta.
func TestPropertyMsg(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := admitted(t)
		r := reducer.Fold(events)
		if r.OpenTurn() {
			events = closeAll(events)
		}
		for _, m := range reducer.Fold(events).Result().Messages {
			if m.TurnID == nil {
				continue
			}
			for _, ev := range []agjson.Event{
				{ID: "fresh", TurnID: *m.TurnID, Body: &agjson.TextStart{}},
				{ID: m.ID, Body: &agjson.MessageEnd{}},
				{ID: "fresh", TurnID: *m.TurnID, Body: &agjson.MessageStart{Role: agjson.RoleUser, ThreadID: "th"}},
				{TurnID: *m.TurnID, Body: &agjson.ToolStart{ToolCallID: "fresh", Name: "f"}},
				{TurnID: *m.TurnID, Body: &agjson.ContentBlock{Block: &agjson.TextBlock{Text: "x"}}},
			} {
				if parked, _ := then(t, events, ev); parked == "" {
					t.Fatalf("%s lands in a closed turn\n%s", ev.Body.Type(), describe(events))
				}
			}
		}
		for _, id := range []string{"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"} {
			for _, body := range []agjson.Body{&agjson.TextDelta{Delta: "x"}, &agjson.ReasoningDelta{Delta: "x"}, &agjson.TextEnd{}, &agjson.ReasoningEnd{}} {
				if parked, _ := then(t, events, agjson.Event{ID: id, Body: body}); parked == "" {
					t.Fatalf("%s lands in a closed turn\n%s", body.Type(), describe(events))
				}
			}
		}
	})
}

// closeAll ends every open turn, as a normalizer's flush does.
func closeAll(events []agjson.Event) []agjson.Event {
	s := reducer.NewStructure()
	for i := range events {
		s.Apply(&events[i])
	}
	events = slices.Clone(events)
	for _, m := range reducer.Fold(events).Result().Messages {
		ev := agjson.Event{Seq: int64(len(events)), ID: m.ID, Body: &agjson.MessageEnd{}}
		if s.Admit(&ev) == "" {
			s.Apply(&ev)
			events = append(events, ev)
		}
	}
	for _, rec := range slices.Backward(reducer.Fold(events).Result().Turns) {
		if _, open := s.Turn(rec.TurnID); open {
			events = append(events, agjson.Event{Seq: int64(len(events)), TurnID: rec.TurnID, Body: &agjson.TurnAbort{Reason: ptr("stream-truncated")}})
		}
	}
	return events
}

// SPEC §5 INV-FLUSH: after what a flush sends nothing is open, every turn has an outcome or was a nested one that
// subagent.done closed, and a snapshot can be cut there with no open part.
func TestPropertyFlush(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := reducer.Fold(closeAll(admitted(t)))
		if r.Parked() != "" {
			t.Fatalf("a flush parks: %s", r.Parked())
		}
		if snap := r.Snapshot(); r.OpenTurn() || len(snap.Open) > 0 {
			t.Fatal("something is open after a flush")
		}
		for _, rec := range r.Result().Turns {
			if rec.Outcome == nil && rec.ParentTurnID == nil {
				t.Fatalf("turn %s has no outcome", rec.TurnID)
			}
		}
	})
}

// SPEC §5 INV-BLOCK: an id that is taken parks, and blocks stand in the order of the events that created them.
func TestPropertyBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := admitted(t)
		s := reducer.NewStructure()
		for i := range events {
			s.Apply(&events[i])
		}
		turn := agjson.Event{TurnID: "fresh", Body: &agjson.TurnStart{ThreadID: "th"}}
		msg := agjson.Event{ID: "fresh", TurnID: "fresh", Body: &agjson.MessageStart{Role: agjson.RoleAssistant, ThreadID: "th"}}
		for _, ev := range []*agjson.Event{&turn, &msg} {
			ev.Seq = int64(len(events))
			events = append(events, *ev)
			s.Apply(ev)
		}
		for _, id := range []string{"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"} {
			parked, _ := then(t, events, agjson.Event{ID: id, TurnID: "fresh", Body: &agjson.TextStart{}})
			if (parked == "") == s.Block(id) {
				t.Fatalf("text.start of a block that is there %v parks %q\n%s", s.Block(id), parked, describe(events))
			}
		}
		for _, id := range []string{"c1", "c2", "c3", "c4", "c5"} {
			known, _ := s.Call(id)
			if parked, _ := then(t, events, agjson.Event{TurnID: "fresh", Body: &agjson.ToolStart{ToolCallID: id, Name: "f"}}); (parked == "") == known {
				t.Fatalf("tool.start of a call that is there %v parks %q\n%s", known, parked, describe(events))
			}
		}
		var want []string
		for i := range rapid.IntRange(1, 20).Draw(t, "blocks") {
			name := string(rune('A' + i))
			ev := agjson.Event{Seq: int64(len(events)), TurnID: "fresh", Body: &agjson.ContentBlock{Block: &agjson.DataBlock{Name: name, ID: ptr("n" + name), Data: []byte("1")}}}
			events = append(events, ev)
			want = append(want, name)
			if rapid.Bool().Draw(t, "again") {
				ev.Seq++
				events = append(events, ev)
			}
		}
		res := reducer.Fold(events).Result()
		content := res.Messages[len(res.Messages)-1].Content
		got := make([]string, len(content))
		for i := range content {
			got[i] = content[i].(*agjson.DataBlock).Name
		}
		if !slices.Equal(got, want) {
			t.Fatalf("blocks stand %v, want %v", got, want)
		}
	})
}

// SPEC §5 INV-DELTA: deltas are appended blindly, whatever stands between them; usage lands verbatim.
func TestPropertyDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := gen{t: t}
		events := []agjson.Event{
			{TurnID: "t", Body: &agjson.TurnStart{ThreadID: "th"}},
			{Seq: 1, ID: "m", TurnID: "t", Body: &agjson.MessageStart{Role: agjson.RoleAssistant, ThreadID: "th"}},
			{Seq: 2, ID: "x", TurnID: "t", Body: &agjson.TextStart{}},
			{Seq: 3, ID: "y", TurnID: "t", Body: &agjson.TextStart{}},
		}
		want := map[string]string{"x": "", "y": ""}
		for range rapid.IntRange(0, 40).Draw(t, "deltas") {
			id, text := g.pick("block", "x", "y"), g.text()
			want[id] += text
			events = append(events, agjson.Event{Seq: int64(len(events)), ID: id, Body: &agjson.TextDelta{Delta: text}})
		}
		usage := &agjson.Usage{InputTokens: "007.50e1", Cumulative: ptr(true)}
		events = append(events, agjson.Event{Seq: int64(len(events)), ID: "m", Body: &agjson.MessageEnd{Usage: usage}})
		res := reducer.Fold(events).Result()
		for i, id := range []string{"x", "y"} {
			text := res.Messages[0].Content[i].(*agjson.TextBlock).Text
			if got, want := agjson.AppendString(nil, text), agjson.AppendString(nil, want[id]); string(got) != string(want) {
				t.Fatalf("block %s is %s, want %s", id, got, want)
			}
		}
		if res.Messages[0].Usage.InputTokens != usage.InputTokens {
			t.Fatal("usage is not verbatim")
		}
	})
}

// SPEC §5 INV-OWNER: an event whose turn cannot be told parks; with one turn open it is that one's.
func TestPropertyOwner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := admitted(t)
		s := reducer.NewStructure()
		for i := range events {
			s.Apply(&events[i])
		}
		open := 0
		for _, rec := range reducer.Fold(events).Result().Turns {
			if _, is := s.Turn(rec.TurnID); is {
				open++
			}
		}
		for _, body := range []agjson.Body{
			&agjson.Handoff{}, &agjson.SourceEvent{SourceID: "s", Source: &agjson.LinkGrounding{URL: "u"}}, &agjson.DisplayRequired{}, &agjson.PromptBlocked{Reason: agjson.BlockReasonOther},
		} {
			if parked, _ := then(t, events, agjson.Event{Body: body}); (parked == "") != (open == 1) {
				t.Fatalf("%s without an owner, %d turns open, parks %q\n%s", body.Type(), open, parked, describe(events))
			}
			if parked, _ := then(t, events, agjson.Event{TurnID: "ghost", Body: body}); parked == "" {
				t.Fatalf("%s of a turn that was never opened does not park", body.Type())
			}
		}
	})
}
