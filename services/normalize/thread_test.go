package normalize

import (
	"testing"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/pkg/agjson"
)

// A successor knows which turns have lost events, so that their end is an error whoever writes it.
func TestReplayKnowsWhatWasRefused(t *testing.T) {
	th := newThread("t")
	inv := &invoke{id: "i", turn: "T", digest: newDigest(), qualify: newQualifier(th.structure, "T")}
	th.open["i"] = inv
	done := agjson.Event{Seq: 2, TurnID: "T", Body: &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: agjson.FinishReasonStop}}
	body, n := th.write(nil, inv, []agjson.Event{
		{Seq: 0, TurnID: "T", Body: &agjson.TurnStart{ThreadID: "t"}},
		{Seq: 1, ID: "nothing", TurnID: "T", Body: &agjson.TextDelta{Delta: "lost"}},
	})
	if inv.refused != 1 {
		t.Fatalf("%d events refused, want 1", inv.refused)
	}
	next := newThread("t")
	err := next.replayMessage(bus.EventMessage{EventHeader: bus.EventHeader{Thread: "t", Count: int64(n), Invoke: "i", Turn: "T", Next: 2}, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	heir := next.open["i"]
	heir.digest, heir.qualify = newDigest(), newQualifier(next.structure, "T")
	if heir.lost["T"] != inv.lost["T"] || heir.lost["T"] == "" {
		t.Errorf("lost %q, want %q", heir.lost, inv.lost)
	}
	body, _ = next.write(nil, heir, []agjson.Event{done})
	ev, err := agjson.Decode(body[:len(body)-1])
	if err != nil {
		t.Fatal(err)
	}
	if end, ok := ev.Body.(*agjson.TurnError); !ok || end.Code == nil || *end.Code != "events_refused" {
		t.Errorf("the turn ends in %s", ev.Body.Type())
	}
}
