package agtest

import (
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// CheckFold folds the events and reports what parks the fold (SPEC §5); it returns the result.
func CheckFold(t TB, events []agjson.Event) agjson.ReduceResult {
	t.Helper()
	r := reducer.Fold(events)
	if why := r.Parked(); why != "" {
		t.Errorf("the fold parks: %s", why)
	}
	return r.Result()
}

// WithoutOrphans leaves out the results of tool calls that the events do not make. One invoke cannot tell whether such a call
// is of an earlier one; the log can, and refuses what would park.
func WithoutOrphans(events []agjson.Event) []agjson.Event {
	made := map[string]bool{}
	var out []agjson.Event
	for _, ev := range events {
		switch b := ev.Body.(type) {
		case *agjson.ToolStart:
			made[b.ToolCallID] = true
		case *agjson.ToolDone:
			if !made[b.ToolCallID] {
				continue
			}
		}
		ev.Seq = int64(len(out))
		out = append(out, ev)
	}
	return out
}

// HostError is the line that a host adds for what the SDK threw instead of streaming (SPEC §8.0).
func HostError(code, message string) []byte {
	raw := append([]byte(`{"type":"__host_error__","code":`), agjson.Quote(code)...)
	return append(append(append(raw, `,"message":`...), agjson.Quote(message)...), '}')
}
