package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// observer folds what one client is told of one thread, as docs/protocol.md tells clients to, and notes every breach of it. Its
// methods are safe for concurrent use.
type observer struct {
	name, thread string

	mu     sync.Mutex
	fold   *reducer.Reducer
	begun  bool           // last is an ordinal
	last   int64          // ordinal of the event folded last
	pair   bool           // a reset was announced: the next batch must be its pair
	resets map[string]int // by reason
	events int            // folded, those of pairs not counted
	wrong  []string
}

// observe is an observer of a thread whose first event, if there is no reset, has the ordinal next; -1 is any.
func observe(name, thread string, next int64) *observer {
	return &observer{name: name, thread: thread, fold: reducer.New(), begun: next >= 0, last: next - 1, resets: map[string]int{}}
}

func (o *observer) bad(format string, args ...any) {
	if len(o.wrong) < 5 {
		o.wrong = append(o.wrong, fmt.Sprintf("%s of %s: ", o.name, o.thread)+fmt.Sprintf(format, args...))
	}
}

// connected says that a connection begins. A reset whose pair did not come with the last one is void: the client's cursor is still
// the one before it, and so is its fold.
func (o *observer) connected() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pair = false
}

// reset announces a pair.
func (o *observer) reset(reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.resets[reason]++
	o.pair = true
}

// batch folds a batch. A pair begins a new fold, and its ordinals end with the cursor's; all others follow one on another, each
// once.
func (o *observer) batch(pair bool, events []json.RawMessage, cursor string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if pair != o.pair {
		o.bad("a batch has pair %v where %v is due", pair, o.pair)
	}
	if o.pair = false; pair {
		o.fold = reducer.New()
	}
	for _, raw := range events {
		ev, err := agjson.Decode(raw)
		if err != nil {
			o.bad("%v", err)
			continue
		}
		if !pair {
			if o.begun && ev.Seq != o.last+1 {
				o.bad("ordinal %d after %d", ev.Seq, o.last)
			}
			o.events++
		}
		o.begun, o.last = true, ev.Seq
		o.fold.Push(ev)
	}
	if why := o.fold.Parked(); why != "" {
		o.bad("the fold is parked at %d: %s", o.last, why)
	}
	if len(events) == 0 && !pair {
		return // it tells an event stream where it begins
	}
	if at := strings.LastIndexByte(cursor, '-'); at < 0 || cursor[at+1:] != fmt.Sprint(o.last) {
		o.bad("the cursor after ordinal %d is %q", o.last, cursor)
	}
}

// at is the ordinal that was folded last, -1 before the first.
func (o *observer) at() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.begun {
		return -1
	}
	return o.last
}

// reasons are the reasons of its resets, each with how often.
func (o *observer) reasons() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.resets)
}

// check demands that the client stands where the thread ends, and has folded what is expected.
func (o *observer) check(t testing.TB, want expected) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range o.wrong {
		t.Error(w)
	}
	if o.last != want.events-1 {
		t.Errorf("%s of %s: the last ordinal is %d, want %d", o.name, o.thread, o.last, want.events-1)
	}
	res := o.fold.Result()
	if diff := agtest.Diff(want.result, agtest.Decode(agjson.AppendReduceResult(nil, &res))); diff != "" {
		t.Errorf("%s of %s, resets %v: the fold differs from convert | fold: %s", o.name, o.thread, o.resets, diff)
	}
}

// allAt says whether every observer has come to the end of its thread.
func allAt(list []*observer, ends map[string]expected) bool {
	return !slices.ContainsFunc(list, func(o *observer) bool { return o.at() < ends[o.thread].events-1 })
}

// behind lists the observers that have not, a few of them.
func behind(list []*observer, ends map[string]expected) string {
	var out []string
	for _, o := range list {
		if at, want := o.at(), ends[o.thread].events-1; at < want {
			out = append(out, fmt.Sprintf("%s of %s is at %d of %d", o.name, o.thread, at, want))
		}
	}
	more := ""
	if len(out) > 10 {
		out, more = out[:10], fmt.Sprintf(" and %d more", len(out)-10)
	}
	return strings.Join(out, "; ") + more
}
