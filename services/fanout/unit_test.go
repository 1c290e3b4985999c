package fanout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/agwire/agwire/internal/bus"
)

func logged(first int64, lines ...string) *bus.EventMessage {
	m := &bus.EventMessage{StreamSeq: uint64(10 + first), FirstSeq: uint64(10 + first), Body: []byte(strings.Join(lines, "\n") + "\n")}
	m.First, m.Count = first, int64(len(lines))
	return m
}

func TestFrameHeaders(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 127, 65535, 65536, 1 << 20} {
		text := strings.Repeat("x", n)
		f := endFrame(append(startFrame(n), text...))
		var got int
		switch f[1] {
		case 126:
			got = int(f[2])<<8 | int(f[3])
			f = f[4:]
		case 127:
			for _, b := range f[2:10] {
				got = got<<8 | int(b)
			}
			f = f[10:]
		default:
			got = int(f[1])
			f = f[2:]
		}
		if got != n || string(f) != text {
			t.Errorf("a frame of %d says %d and holds %d", n, got, len(f))
		}
	}
}

func TestEntries(t *testing.T) {
	e, err := newEntry(logged(3, `{"a":3}`, `{"a":4}`, `{"a":5}`))
	if err != nil || e.first != 3 || e.last != 5 || e.seq != 13 {
		t.Fatalf("%+v %v", e, err)
	}
	for ordinal, want := range map[int64]string{
		3: `[{"a":3},{"a":4},{"a":5},{"a":6}]`, 4: `[{"a":4},{"a":5},{"a":6}]`, 5: `[{"a":5},{"a":6}]`, 0: `[{"a":3},{"a":4},{"a":5},{"a":6}]`,
	} {
		next, err := newEntry(logged(6, `{"a":6}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendList(nil, []*entry{e, next}, ordinal)); got != want {
			t.Errorf("from %d: %s", ordinal, got)
		}
	}
	if string(e.lines) != "{\"a\":3}\n{\"a\":4}\n{\"a\":5}" {
		t.Errorf("the entry was changed: %s", e.lines)
	}
	// Empty lines and space are no events.
	m := logged(0, ` {"a":0} `, ``, `{"a":1}`, `  `)
	m.Count = 2
	if e, err = newEntry(m); err != nil || string(appendList(nil, []*entry{e}, 1)) != `[{"a":1}]` {
		t.Errorf("%v %v", e, err)
	}
	m.Count = 3
	if _, err = newEntry(m); !errors.Is(err, bus.ErrPoison) {
		t.Errorf("a wrong count: %v", err)
	}
}

// A line break inside a JSON text is space, and must not end a line of an event stream.
func TestEventStreamLines(t *testing.T) {
	list := "[{\"a\":\r1},\n{\"b\":\r\n2}]"
	b := eventStream.encodeEvents(name("t"), bus.Cursor{Epoch: bus.Epoch{Incarnation: 1, Seq: 1}, Ordinal: 7}, true, 0, func(b []byte) []byte {
		return append(b, list...)
	})
	lines := strings.Split(string(b), "\n")
	if len(lines) != 5 || lines[0] != "id: 1.1-7" || strings.Contains(string(b), "\r") {
		t.Fatalf("%q", b)
	}
	var v struct {
		Pair   bool
		Events []map[string]int
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[2], "data: ")), &v); err != nil || !v.Pair || len(v.Events) != 2 {
		t.Errorf("%q: %v", lines[2], err)
	}
}

// Whatever a thread is called, messages are JSON.
func TestNamesInMessages(t *testing.T) {
	for _, thread := range []string{"t", `a"b\c`, "line\nbreak", "</script>", "日本", strings.Repeat("x", 256)} {
		n := name(thread)
		c := bus.Cursor{Epoch: bus.Epoch{Incarnation: 1, Seq: 1}, Ordinal: 1}
		for what, f := range map[string][]byte{
			"events":    webSocket.encodeEvents(n, c, false, 0, func(b []byte) []byte { return append(b, "[]"...) }),
			"reset":     webSocket.encodeReset(n, reasonGap),
			"answer":    encodeAnswer("subscribed", n, &c),
			"error":     webSocket.encodeError(thread, "x", "y"),
			"heartbeat": webSocket.encodeHeartbeat([]head{{name: n, at: c, open: true}, {name: name("other")}}),
		} {
			var v struct {
				Thread string
				Heads  map[string]any
			}
			text := f[bytes.IndexByte(f, '{'):]
			if err := json.Unmarshal(text, &v); err != nil {
				t.Fatalf("%s of %q: %v in %s", what, thread, err, text)
			}
			if _, named := v.Heads[thread]; v.Thread != thread && !named {
				t.Errorf("%s of %q names %q", what, thread, v.Thread)
			}
		}
	}
}

// Who stands at one place is given one message, unless there is much more by now.
func TestBatchesAreShared(t *testing.T) {
	r := &room{s: &Service{cfg: Defaults(), m: newMetrics(prometheus.NewRegistry())}, name: name("t"), tail: -1, trimAt: trimStep, subs: map[*sub]struct{}{}}
	add := func(n int) {
		for range n {
			e, err := newEntry(logged(r.tail+1, fmt.Sprintf(`{"type":"x","seq":%d}`, r.tail+1)))
			if err != nil {
				t.Fatal(err)
			}
			r.append(e)
		}
	}
	at := func(w wire, ordinal int64) *batch {
		i, ok := r.after(ordinal)
		if !ok {
			t.Fatalf("nothing behind %d", ordinal)
		}
		return r.batch(w, i, ordinal)
	}
	r.behind = 1 // somebody will come who needs all
	add(4)
	b := at(webSocket, -1)
	add(2)
	if at(webSocket, -1) != b || b.to != 3 {
		t.Error("the second is given another message")
	}
	if c := at(webSocket, 3); c.from != 4 || c.to != 5 {
		t.Errorf("then %d to %d", c.from, c.to)
	}
	add(20)
	if c := at(webSocket, -1); c == b || c.to != 25 {
		t.Errorf("a late one is given up to %d", c.to)
	}
	if c := at(eventStream, -1); bytes.Contains(c.data, []byte(`"op"`)) {
		t.Error("an event stream is given a message of the other kind")
	}
	if _, ok := r.after(25); ok {
		t.Error("there is something behind the tail")
	}
	if _, ok := r.after(-2); ok {
		t.Error("there is something before the ring")
	}
	r.s.cfg.Chunk = 60
	if c := at(webSocket, 9); c.from != 10 || c.events() != 3 {
		t.Errorf("a chunk holds %d events from %d", c.events(), c.from)
	}
	r.s.cfg.Keep = 100
	add(1)
	if _, ok := r.after(3); ok || len(r.ring) > 6 {
		t.Errorf("%d messages are kept", len(r.ring))
	}
}
