package fanout_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/pkg/client"
	"github.com/agwire/agwire/services/fanout"
)

// small makes the bounds of a client small.
func small(c *fanout.Config) {
	c.Queue, c.Keep, c.Chunk, c.SocketBuffer = 128<<10, 64<<10, 16<<10, 16<<10
}

// A client that does not read for a while is bounded, and then resynced: its fold is right, and others notice nothing (B4 104,
// 105).
func TestSlowReader(t *testing.T) {
	r := newRig(t, options{change: small})
	r.narrow = true
	s := longest(t)
	l := r.thread("t")
	l.append(t, s.events[0])
	slow := r.raw(t, nil)
	slow.subscribe(t, "t", "now")
	slow.want(t, "subscribed")
	slow.pair(t, "join")
	quick, _ := follow(t, r.dial(t, nil), "t", client.Start, nil)
	// Far more than fits its socket and its bounds.
	pad := strings.Repeat("x", 32<<10)
	sent := 1
	natstest.Eventually(t, "what waits is dropped", func() bool {
		if sent < len(s.events) {
			l.append(t, s.events[sent])
			sent++
		}
		l.append(t, note(pad))
		quick.wait(t, l.next-1)
		return r.metric("drops_total") > 0
	})
	for ; sent < len(s.events); sent++ {
		l.append(t, s.events[sent])
		quick.wait(t, l.next-1)
	}
	quick.wait(t, l.next-1)
	f := client.NewFold()
	resets := readUntil(t, slow, f, l.cursor())
	if text(f) != quick.result() {
		t.Errorf("the fold differs:\n%s\n%s", text(f), quick.result())
	}
	if len(resets) == 0 || slices.ContainsFunc(resets, func(s string) bool { return s != "slow" }) || len(quick.reasons()) > 0 {
		t.Errorf("resets %q, and %q of the quick one", resets, quick.reasons())
	}
}

// readUntil folds what comes until a cursor, and returns the reasons of the resets.
func readUntil(t testing.TB, k *raw, f *client.Fold, cursor string) (resets []string) {
	t.Helper()
	reset := ""
	for {
		m := k.next(t)
		switch m.Op {
		case "reset":
			reset = m.Reason
			resets = append(resets, reset)
		case "events":
			if m.Pair != (reset != "") {
				t.Fatalf("pair %v after reset %q", m.Pair, reset)
			}
			if err := f.Apply(client.Batch{Events: m.Events, Cursor: m.cursor(), Reset: reset}); err != nil && len(resets) > 0 {
				t.Fatal(err)
			}
			reset = ""
			if m.cursor() == cursor {
				return resets
			}
		}
	}
}

// A client that takes nothing at all is closed in bounded time, and costs a bounded amount until then (B4 104).
func TestStuckReader(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { small(c); c.Stuck = 200 * time.Millisecond }})
	r.narrow = true
	l := r.thread("t")
	l.append(t, first())
	stuck := r.raw(t, nil)
	stuck.subscribe(t, "t", "start")
	stuck.want(t, "subscribed")
	stuck.batch(t, 0)
	quick, _ := follow(t, r.dial(t, nil), "t", client.Start, nil)
	pad := strings.Repeat("x", 32<<10)
	natstest.Eventually(t, "it is closed", func() bool {
		l.append(t, note(pad))
		quick.wait(t, l.next-1)
		return r.metric("closes_total", "4001") == 1
	})
	natstest.Eventually(t, "it is gone", func() bool { return r.metric("connections") == 1 && r.metric("subscriptions") == 1 })
	if len(quick.reasons()) > 0 {
		t.Errorf("the quick one was reset: %q", quick.reasons())
	}
}

// A client that comes to before it is given up is told why it is closed.
func TestStuckReaderThatComesTo(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { small(c); c.Stuck = time.Second }})
	r.narrow = true
	l := r.thread("t")
	l.append(t, first())
	k := r.raw(t, nil)
	k.subscribe(t, "t", "start")
	pad := strings.Repeat("x", 32<<10)
	taken, since := -1.0, time.Now()
	natstest.Eventually(t, "nothing moves for the time", func() bool {
		l.append(t, note(pad))
		if n := r.metric("bytes_total"); n != taken {
			taken, since = n, time.Now()
		}
		return time.Since(since) > 1400*time.Millisecond
	})
	if code, reason := k.closed(t); code != 4001 || reason == "" {
		t.Errorf("closed with %d %q", code, reason)
	}
}

// One thread's replay does not keep back the newest events of the others on its connection (B4 107).
func TestFairness(t *testing.T) {
	r := newRig(t, options{})
	const size = 20_000
	long := r.thread("long")
	long.append(t, first())
	for long.next < size {
		long.append(t, notes(500, strings.Repeat("x", 400))...)
	}
	k := r.raw(t, nil)
	var others []*thread
	for i := range 20 {
		l := r.thread(fmt.Sprintf("other %d", i))
		l.append(t, first())
		others = append(others, l)
		k.subscribe(t, l.id, "live")
		k.want(t, "subscribed")
	}
	k.subscribe(t, "long", "start")
	for k.next(t).Op != "events" { // the replay has begun, and waits for us
	}
	for _, l := range others {
		l.append(t, note("now"))
	}
	left := map[string]bool{}
	for _, l := range others {
		left[l.id] = true
	}
	behind, at := 0, int64(0)
	for len(left) > 0 || at < long.next-1 {
		m := k.want(t, "events")
		seqs := m.seqs(t)
		if m.Thread == "long" {
			at = seqs[len(seqs)-1]
			continue
		}
		delete(left, m.Thread)
		behind = max(behind, int(at))
	}
	if behind > size*9/10 {
		t.Errorf("the last of the others came when the replay was at %d of %d", behind, size)
	}
	t.Logf("the last of the others came when the replay was at %d of %d", behind, size)
}

// What cannot be stopped from coming is bounded, whatever a client sends.
func TestFloods(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { small(c); c.Stuck, c.Heartbeat = 500*time.Millisecond, 300*time.Millisecond }})
	r.narrow = true
	s := longest(t)
	l := r.thread("t")
	l.append(t, s.events...)
	ctx, enough := context.WithCancel(t.Context())
	flood := func(k *raw, text string) {
		for ctx.Err() == nil && k.ws.Write(ctx, websocket.MessageText, []byte(text)) == nil {
		}
	}
	done := make(chan bool, 3)
	defer enough()
	for _, text := range []string{
		`{"op":"ping"}`, `{"op":"subscribe","thread":"t","from":"now"}`, `{"op":"subscribe","thread":"t","from":"!"}`,
	} {
		k := r.raw(t, nil)
		go func() {
			flood(k, text) // and never reads
			done <- true
		}()
	}
	f, _ := follow(t, r.dial(t, nil), "t", client.Now, nil)
	f.wait(t, l.next-1)
	l.append(t, note("x"))
	f.wait(t, l.next-1)
	natstest.Eventually(t, "they are gone", func() bool { return r.metric("connections") == 1 })
	enough() // a flooder whose kernel takes nothing may not have heard
	for range 3 {
		<-done
	}
	// Where the kernel drops what does not fit, acknowledgements go with it: then the line just goes silent.
	if n := r.metric("closes_total", "4001") + r.metric("closes_total", "4002"); n != 3 || len(f.reasons()) != 1 {
		t.Errorf("resets %q, %v closed as stuck or silent", f.reasons(), n)
	}
}

// A client that gives no sign of life, though nothing is amiss with the line, is closed.
func TestSilentClient(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { c.Heartbeat = 100 * time.Millisecond }})
	k := r.raw(t, nil) // answers pings only while it reads
	natstest.Eventually(t, "it is closed", func() bool { return r.metric("closes_total", "4002") == 1 })
	if code, _ := k.closed(t); code != 4002 {
		t.Errorf("closed with %d", code)
	}
	// One that reads stays.
	c := r.dial(t, nil)
	l := r.thread("t")
	f, _ := follow(t, c, "t", client.Now, nil)
	natstest.Eventually(t, "heartbeats went by", func() bool { return r.metric("messages_total") > 8 })
	l.append(t, first())
	f.wait(t, 0)
	if r.metric("closes_total") != 1 {
		t.Error("the reader was closed too")
	}
}

// A message that is larger than all bounds reaches a reader that keeps up (B4 97, 100).
func TestLargeEvents(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { c.Queue, c.Keep = 64<<10, 64<<10 }})
	l := r.thread("t")
	l.append(t, first())
	f, _ := follow(t, r.dial(t, nil), "t", client.Start, nil)
	f.wait(t, 0)
	k := r.raw(t, nil)
	k.subscribe(t, "t", "live")
	k.want(t, "subscribed")
	large := strings.Repeat("y", 3<<20)
	l.append(t, note(large), note("small"))
	m := k.batch(t, 1, 2)
	var ev struct{ Text string }
	ok(t, json.Unmarshal(m.Events[0], &ev))
	if ev.Text != large {
		t.Error("the large event differs")
	}
	f.wait(t, 2)
	if len(f.reasons()) > 0 {
		t.Errorf("resets %q", f.reasons())
	}
	s := r.sse(t, "t", "start", "")
	s.batch(t, "start")
	var seqs []int64
	for len(seqs) < 3 {
		m, _ := s.next(t)
		var b msg
		ok(t, json.Unmarshal([]byte(m.data), &b))
		seqs = append(seqs, b.seqs(t)...)
	}
	if !slices.Equal(seqs, []int64{0, 1, 2}) {
		t.Errorf("got %d", seqs)
	}
}
