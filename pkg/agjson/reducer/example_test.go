package reducer_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

func ExampleReducer() {
	r := reducer.New()
	for _, line := range []string{
		`{"type":"turn.start","seq":0,"turnId":"t1","threadId":"th"}`,
		`{"type":"message.start","seq":1,"id":"m1","turnId":"t1","role":"assistant","threadId":"th"}`,
		`{"type":"text.start","seq":2,"id":"b1","turnId":"t1"}`,
		`{"type":"text.delta","seq":3,"id":"b1","delta":"Hello"}`,
		`{"type":"text.delta","seq":4,"id":"b1","delta":" there"}`,
		`{"type":"text.delta","seq":6,"id":"b1","delta":"!"}`,
	} {
		if err := r.PushLine([]byte(line)); err != nil {
			fmt.Println(err)
		}
	}
	res := r.Result()
	fmt.Println(string(agjson.AppendMessage(nil, &res.Messages[0])))
	fmt.Println(r.Parked())
	// Output:
	// {"id":"m1","role":"assistant","content":[{"type":"text","text":"Hello there"}],"turnId":"t1","threadId":"th"}
	// event 6 (text.delta): a forward gap
}

func ExampleSnapshot_Pair() {
	r := reducer.Fold([]agjson.Event{
		{Seq: 0, Body: &agjson.MessagesSnapshot{Messages: []agjson.Message{}}},
		{Seq: 1, TurnID: "t1", Body: &agjson.TurnStart{ThreadID: "th"}},
		{Seq: 2, ID: "m1", TurnID: "t1", Body: &agjson.MessageStart{Role: agjson.RoleAssistant, ThreadID: "th"}},
		{Seq: 3, ID: "b1", TurnID: "t1", Body: &agjson.TextStart{}},
		{Seq: 4, ID: "b1", TurnID: "t1", Body: &agjson.TextDelta{Delta: "Hello"}},
		{Seq: 5, ID: "b1", TurnID: "t1", Body: &agjson.TextDelta{Delta: " there"}},
	})
	snap := r.Snapshot()
	for _, ev := range snap.Pair() {
		fmt.Println(string(agjson.AppendEvent(nil, &ev)))
	}
	// Output:
	// {"type":"messages.snapshot","seq":2,"messages":[],"turns":[{"turnId":"t1","threadId":"th"}],"artifacts":[],"memory":[]}
	// {"type":"message.start","seq":3,"id":"m1","turnId":"t1","role":"assistant","threadId":"th"}
	// {"type":"text.start","seq":4,"id":"b1","turnId":"t1"}
	// {"type":"text.delta","seq":5,"id":"b1","turnId":"t1","delta":"Hello there"}
}

// TestTrustBoundary: a malformed line is an error to the caller and leaves the fold as it was (SPEC §10.20).
func TestTrustBoundary(t *testing.T) {
	r := reducer.New()
	if err := r.PushLine([]byte(`{"type":"turn.start","seq":0,"turnId":"t1","threadId":"th"}`)); err != nil {
		t.Fatal(err)
	}
	before := resultText(r.Result(), false)
	for _, line := range []string{
		``, `{`, `{"type":"text.delta","seq":1,"id":"b"}`, `{"type":"message.remove","seq":1,"id":"*"}`, `{"type":"turn.start","seq":-1,"turnId":"t2","threadId":"th"}`,
		`{"type":"memory.write","seq":1,"scope":"user","value":1,"patch":[]}`, `{"type":"turn.start","seq":1,"turnId":"t2","threadId":"th"} x`,
	} {
		if err := r.PushLine([]byte(line)); !errors.Is(err, agjson.ErrMalformed) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if r.Parked() != "" || r.Seq() != 0 {
		t.Errorf("parked %q at %d", r.Parked(), r.Seq())
	}
	same(t, "the result", resultText(r.Result(), false), before)
}
