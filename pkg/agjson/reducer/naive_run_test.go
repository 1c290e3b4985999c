package reducer_test

import (
	"fmt"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// TestNaiveAgrees folds every stream with the plain reducer as well, event by event (SPEC §5 INV-FOLD: two conformant
// implementations produce structurally identical results).
func TestNaiveAgrees(t *testing.T) {
	for _, s := range streams(t) {
		r, n := reducer.New(), &naive{last: -1}
		for k := range s.events {
			r.Push(s.events[k])
			n.push(&s.events[k])
			if (r.Parked() == "") != (n.parked == "") {
				t.Fatalf("%s: %d parks %q, the plain reducer %q", s.name, k, r.Parked(), n.parked)
			}
		}
		same(t, s.name, resultText(r.Result(), false), resultText(n.fold(), false))
	}
}

// TestNaiveCut is TestCut with the plain reducer as the client.
func TestNaiveCut(t *testing.T) {
	for _, s := range streams(t) {
		whole := naiveFold(s.events)
		want := resultText(whole.fold(), true)
		live := reducer.New()
		for k, ev := range s.events {
			if live.Push(ev); live.Parked() != "" {
				continue
			}
			snap := live.Snapshot()
			n := naiveFold(append(snap.Pair(), s.events[k+1:]...))
			if (n.parked == "") != (whole.parked == "") {
				t.Errorf("%s cut after %d: parks %q, the whole %q", s.name, k, n.parked, whole.parked)
			}
			same(t, fmt.Sprintf("%s cut after %d", s.name, k), resultText(n.fold(), true), want)
			if t.Failed() {
				return
			}
		}
	}
}
