package reducer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// mixed is the real captures and the project's own streams as one thread, a line an event.
func mixed(b *testing.B) [][]byte {
	b.Helper()
	var out [][]byte
	s := reducer.NewStructure()
	for _, st := range streams(b) {
		if filepath.Ext(st.name) != ".json" && filepath.Dir(st.name) != "testdata/streams" {
			continue
		}
		for _, ev := range st.events {
			ev.Seq = int64(len(out))
			if _, ok := ev.Body.(*agjson.MessagesSnapshot); ok && len(out) > 0 || s.Admit(&ev) != "" {
				continue
			}
			s.Apply(&ev)
			out = append(out, agjson.AppendEvent(nil, &ev))
		}
	}
	return out
}

// BenchmarkMixed is from bytes to the fold: decode and Push of real streams, a reducer each.
func BenchmarkMixed(b *testing.B) {
	lines := mixed(b)
	size := 0
	for _, l := range lines {
		size += len(l)
	}
	b.SetBytes(int64(size))
	b.Run("fold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := reducer.New()
			for _, l := range lines {
				if err := r.PushLine(l); err != nil {
					b.Fatal(err)
				}
			}
			if r.Parked() != "" {
				b.Fatal(r.Parked())
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(lines)), "ns/event")
	})
	b.Run("push", func(b *testing.B) {
		events := make([]agjson.Event, len(lines))
		for i := range lines {
			events[i], _ = agjson.Decode(lines[i])
		}
		b.ReportAllocs()
		for b.Loop() {
			r := reducer.New()
			for _, ev := range events {
				r.Push(ev)
			}
			if r.Parked() != "" {
				b.Fatal(r.Parked())
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(lines)), "ns/event")
	})
	b.Run("encoding/json decode into any", func(b *testing.B) {
		for b.Loop() {
			for _, l := range lines {
				var v any
				if err := json.Unmarshal(l, &v); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(lines)), "ns/event")
	})
}

// encoded is the events as they come from the wire.
func encoded(events []agjson.Event) [][]byte {
	out := make([][]byte, len(events))
	for i := range events {
		out[i] = agjson.AppendEvent(nil, &events[i])
	}
	return out
}

// BenchmarkRatioThread has a thread of 2,000 messages against ten of 200, from bytes: the cost an event must be the same.
func BenchmarkRatioThread(b *testing.B) {
	side := func(name string, messages, passes int) agtest.Side {
		lines := encoded(thread(messages))
		return agtest.Side{Name: name, Ops: len(lines) * passes, Run: func() {
			for range passes {
				r := reducer.New()
				for _, l := range lines {
					if err := r.PushLine(l); err != nil {
						b.Fatal(err)
					}
				}
				if r.Parked() != "" {
					b.Fatal(r.Parked())
				}
			}
		}}
	}
	agtest.Race(b, side("2000-messages", 2000, 1), side("200-messages", 200, 10))
}

// BenchmarkRatioDelta has the text deltas of a message, from bytes to the fold, against encoding/json that reads them into a
// struct of their members. It reports the allocations of a delta, growth of the text included.
func BenchmarkRatioDelta(b *testing.B) {
	const n = 10000
	var lines [][]byte
	for i := range n {
		lines = append(lines, fmt.Appendf(nil, `{"type":"text.delta","seq":%d,"id":"m1:text:0","turnId":"turn-1","messageId":"m1","delta":" word"}`, i+3))
	}
	fold := func() {
		r := openText()
		for _, l := range lines {
			if err := r.PushLine(l); err != nil {
				b.Fatal(err)
			}
		}
	}
	plain := func() {
		for _, l := range lines {
			var v struct {
				Type, ID, TurnID, MessageID, Delta string
				Seq                                int64
			}
			if err := json.Unmarshal(l, &v); err != nil {
				b.Fatal(err)
			}
		}
	}
	agtest.Race(b, agtest.Side{Name: "fold", Run: fold, Ops: n}, agtest.Side{Name: "json", Run: plain, Ops: n})
	b.ReportMetric(testing.AllocsPerRun(5, fold)/n, "fold-allocs")
}

// openText is a fold with an open text, of which the next seq is 3.
func openText() *reducer.Reducer {
	r := reducer.New()
	r.Push(agjson.Event{Seq: 0, TurnID: "turn-1", Body: &agjson.TurnStart{ThreadID: "th"}})
	r.Push(agjson.Event{Seq: 1, TurnID: "turn-1", ID: "m1", Body: &agjson.MessageStart{Role: agjson.RoleAssistant, ThreadID: "th"}})
	r.Push(agjson.Event{Seq: 2, TurnID: "turn-1", ID: "m1:text:0", Body: &agjson.TextStart{}})
	return r
}

// BenchmarkDelta is one text delta, from bytes to the fold.
func BenchmarkDelta(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"short", `{"type":"text.delta","seq":%d,"id":"m1:text:0","turnId":"turn-1","messageId":"m1","delta":" word"}`},
		{"long", `{"type":"text.delta","seq":%d,"id":"m1:text:0","turnId":"turn-1","messageId":"m1","delta":"a sentence of some eighty characters, as a slower provider sends them at once"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			lines := make([][]byte, 100000)
			for i := range lines {
				lines[i] = fmt.Appendf(nil, c.line, i+3)
			}
			r, i := openText(), 0
			for b.Loop() {
				if i == len(lines) {
					if r.Parked() != "" {
						b.Fatal(r.Parked())
					}
					r, i = openText(), 0
				}
				if err := r.PushLine(lines[i]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// thread is a thread of n messages with 10 events each, in turns of 4.
func thread(n int) []agjson.Event {
	var out []agjson.Event
	add := func(ev agjson.Event) {
		ev.Seq = int64(len(out))
		out = append(out, ev)
	}
	for i := range n {
		turn := fmt.Sprint("turn-", i/4)
		if i%4 == 0 {
			add(agjson.Event{TurnID: turn, Body: &agjson.TurnStart{ThreadID: "th"}})
		}
		id := fmt.Sprint("m", i)
		add(agjson.Event{ID: id, TurnID: turn, Body: &agjson.MessageStart{Role: agjson.RoleAssistant, ThreadID: "th"}})
		add(agjson.Event{ID: id + ":t", TurnID: turn, Body: &agjson.TextStart{}})
		for range 6 {
			add(agjson.Event{ID: id + ":t", TurnID: turn, Body: &agjson.TextDelta{Delta: "some words of text"}})
		}
		add(agjson.Event{ID: id + ":t", TurnID: turn, Body: &agjson.TextEnd{}})
		add(agjson.Event{ID: id, TurnID: turn, Body: &agjson.MessageEnd{}})
		if i%4 == 3 {
			add(agjson.Event{TurnID: turn, Body: &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: agjson.FinishReasonStop}})
		}
	}
	return out
}

// BenchmarkThread folds threads of 200, 2,000 and 20,000 messages, with and without removals, and takes the changes as a
// service does: the cost an event must be the same.
func BenchmarkThread(b *testing.B) {
	for _, n := range []int{200, 2000, 20000} {
		events := thread(n)
		b.Run(fmt.Sprintf("fold/%d", n), func(b *testing.B) {
			for b.Loop() {
				reducer.Fold(events)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
		})
		b.Run(fmt.Sprintf("changes/%d", n), func(b *testing.B) {
			for b.Loop() {
				r := reducer.New()
				for i := range events {
					r.Push(events[i])
					if i%8 == 0 {
						r.Changes()
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
		})
		removed := thread(n)
		for i := range n {
			removed = append(removed, agjson.Event{Seq: int64(len(removed)), ID: fmt.Sprint("m", (i*7919)%n), Body: &agjson.MessageRemove{}})
		}
		b.Run(fmt.Sprintf("remove/%d", n), func(b *testing.B) {
			for b.Loop() {
				reducer.Fold(removed)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(removed)), "ns/event")
		})
		b.Run(fmt.Sprintf("structure/%d", n), func(b *testing.B) {
			for b.Loop() {
				s := reducer.NewStructure()
				for i := range events {
					if s.Admit(&events[i]) == "" {
						s.Apply(&events[i])
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
		})
	}
}

// TestLinear: an event costs the same in a long thread as in a short one, removals and changes included (in allocations,
// which do not depend on what else the machine does; BenchmarkThread has the times).
func TestLinear(t *testing.T) {
	cost := map[string][]float64{}
	for _, n := range []int{200, 2000, 20000} {
		events := thread(n)
		whole := events
		for i := range n {
			whole = append(whole, agjson.Event{Seq: int64(len(whole)), ID: fmt.Sprint("m", (i*7919)%n), Body: &agjson.MessageRemove{}})
		}
		allocs := func(what string, f func()) {
			cost[what] = append(cost[what], testing.AllocsPerRun(1, f)/float64(len(events)))
		}
		allocs("fold", func() { reducer.Fold(events) })
		allocs("remove", func() { reducer.Fold(whole) })
		allocs("changes", func() {
			r := reducer.New()
			for i := range events {
				if r.Push(events[i]); i%8 == 0 {
					r.Changes()
				}
			}
		})
	}
	t.Log(cost)
	for what, c := range cost {
		for _, v := range c[1:] {
			if v > 1.2*c[0] {
				t.Errorf("%s: %v allocations an event", what, c)
			}
		}
	}
}

// heap is the bytes in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// textMemory is the bytes that a fold of many text deltas takes, and those of its text, of messages of deltas of 40 bytes.
func textMemory(t testing.TB, messages, deltas int) (used uint64, text int) {
	before := heap()
	r := reducer.New()
	seq := int64(0)
	push := func(ev agjson.Event) {
		ev.Seq = seq
		seq++
		if err := r.PushLine(agjson.AppendEvent(nil, &ev)); err != nil {
			t.Fatal(err)
		}
	}
	words := string(bytes.Repeat([]byte("word "), 8))
	push(agjson.Event{TurnID: "t", Body: &agjson.TurnStart{ThreadID: "th"}})
	for i := range messages {
		id := fmt.Sprint("m", i)
		push(agjson.Event{ID: id, TurnID: "t", Body: &agjson.MessageStart{Role: agjson.RoleAssistant, ThreadID: "th"}})
		push(agjson.Event{ID: id + ":t", TurnID: "t", Body: &agjson.TextStart{}})
		for range deltas {
			push(agjson.Event{ID: id + ":t", Body: &agjson.TextDelta{Delta: words}})
			text += len(words)
		}
		if i < messages-1 {
			push(agjson.Event{ID: id + ":t", Body: &agjson.TextEnd{}})
			push(agjson.Event{ID: id, Body: &agjson.MessageEnd{}})
		}
	}
	used = heap() - before
	runtime.KeepAlive(r)
	return used, text
}

// BenchmarkRatioMemory reports how many bytes a fold takes for one of its text.
func BenchmarkRatioMemory(b *testing.B) {
	for _, deltas := range []int{25, 100, 400, 1600} {
		b.Run(fmt.Sprint(deltas*40, "-byte-messages"), func(b *testing.B) {
			for b.Loop() {
				used, text := textMemory(b, 80000/deltas, deltas)
				b.ReportMetric(float64(used)/float64(text), "bytes/text-byte")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// TestMemory: the memory of a fold is at most twice its text, and a closed turn costs a structure little.
func TestMemory(t *testing.T) {
	used, text := textMemory(t, 200, 400)
	t.Logf("%d bytes of text in %d bytes of memory", text, used)
	if used > uint64(2*text) {
		t.Errorf("%d bytes of text take %d bytes of memory", text, used)
	}

	const threads = 2000
	events := thread(threads)
	before := heap()
	s := reducer.NewStructure()
	for i := range events {
		s.Apply(&events[i])
	}
	used = heap() - before
	runtime.KeepAlive(events)
	t.Logf("a structure of %d closed turns, %d messages takes %d bytes, its export %d", threads/4, threads, used, len(s.Export(nil)))
	if used > threads*600 {
		t.Errorf("a structure takes %d bytes a message", used/threads)
	}
	runtime.KeepAlive(s)
}
