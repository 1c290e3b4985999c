package fanout_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/pkg/client"
	"github.com/agwire/agwire/services/fanout"
)

// A live message that is lost is read from the log before anything later is forwarded; clients do not notice (B1 10).
func TestLostMessage(t *testing.T) {
	line := newLossy(t)
	r := newRig(t, options{proxy: line.to})
	l := r.thread("t")
	l.append(t, first(), note("x"))
	k := r.raw(t, nil)
	k.subscribe(t, "t", "start")
	k.want(t, "subscribed")
	k.batch(t, 0, 1)
	for _, n := range []int{1, 3} {
		line.dropNext(n)
		from := l.next
		for range n + 1 {
			l.append(t, note("x"))
		}
		var got []int64
		for int64(len(got)) < l.next-from {
			m := k.want(t, "events")
			got = append(got, m.seqs(t)...)
		}
		for i, seq := range got {
			if seq != from+int64(i) {
				t.Fatalf("%d lost: got %d from %d", n, got, from)
			}
		}
	}
	if line.count() != 4 || r.metric("losses_total", "gap") < 1 || r.metric("refills_total") < 4 || r.metric("resets_total") != 0 {
		t.Errorf("%d dropped, %v gaps, %v refilled, %v resets", line.count(), r.metric("losses_total", "gap"), r.metric("refills_total"), r.metric("resets_total"))
	}
}

// A lost last message has no successor to show it: the head does (B1 6).
func TestLostLastMessage(t *testing.T) {
	line := newLossy(t)
	r := newRig(t, options{proxy: line.to, change: func(c *fanout.Config) { c.Heartbeat = 100 * time.Millisecond }})
	l := r.thread("t")
	l.append(t, first(), note("x"))
	k := r.raw(t, nil)
	k.subscribe(t, "t", "live")
	k.want(t, "subscribed")
	line.dropNext(1)
	l.append(t, note("the last word"))
	k.batch(t, 2)
	if line.count() != 1 {
		t.Fatal("nothing was lost")
	}
	// The first message of a thread, too.
	o := r.thread("other")
	k.subscribe(t, "other", "now")
	k.want(t, "subscribed")
	line.dropNext(1)
	o.append(t, first(), note("the first word"))
	k.batch(t, 0, 1)
}

// The line to the broker is away while events come, and the broker itself is started again: nothing is lost, doubled, or even
// reset (B4 92).
func TestBrokerAway(t *testing.T) {
	var proxy *natstest.Proxy
	r := newRig(t, options{proxy: func(s *natstest.Server) string { proxy = natstest.NewProxy(t, s); return proxy.URL() }})
	l := r.thread("t")
	s := longest(t)
	half := len(s.events) / 2
	c := r.dial(t, nil)
	l.append(t, s.events[:10]...)
	now, _ := follow(t, c, "t", client.Now, nil)
	start, _ := follow(t, r.dial(t, nil), "t", client.Start, nil)
	now.wait(t, l.next-1)
	start.wait(t, l.next-1)
	for n := 10; n < half; n++ {
		l.append(t, s.events[n])
		if n%40 == 20 {
			proxy.Freeze()
			proxy.Cut()
		}
		if n%40 == 30 {
			proxy.Thaw()
		}
	}
	proxy.Thaw()
	now.wait(t, l.next-1)
	start.wait(t, l.next-1)
	r.nats.Restart(t)
	for n := half; n < len(s.events); n++ {
		l.append(t, s.events[n])
		if n == half+20 {
			r.nats.Restart(t)
		}
	}
	late, _ := follow(t, r.dial(t, nil), "t", client.Now, nil)
	for name, f := range map[string]*follower{"from now": now, "from the start": start, "late": late} {
		f.wait(t, l.next-1)
		if f.result() != s.want {
			t.Errorf("%s: the fold differs", name)
		}
	}
	if !slices.Equal(now.reasons(), []string{"join"}) || len(start.reasons()) > 0 || start.events != len(s.events) {
		t.Errorf("resets %q and %q, %d events of %d", now.reasons(), start.reasons(), start.events, len(s.events))
	}
	if r.metric("losses_total", "reconnect") == 0 {
		t.Error("no reconnect was noticed")
	}
}

// A subscription that is made while the broker is away stands when it is back.
func TestSubscribeWhileBrokerIsAway(t *testing.T) {
	r := newRig(t, options{})
	l := r.thread("t")
	l.append(t, first(), note("x"))
	k := r.raw(t, nil)
	r.nats.Stop()
	k.subscribe(t, "t", "start")
	natstest.Eventually(t, "it was tried", func() bool { return r.metric("retries_total") > 0 })
	r.nats.Start(t)
	k.want(t, "subscribed")
	k.batch(t, 0, 1)
}

// A thread that begins anew is another: whoever follows it is reset, at once or when it comes back (B1 17, 38).
func TestNewEpoch(t *testing.T) {
	r := newRig(t, options{})
	l := r.thread("t")
	s := longest(t)
	l.append(t, s.events...)
	old := l.cursor()
	f, _ := follow(t, r.dial(t, nil), "t", client.Start, nil)
	f.wait(t, l.next-1)
	k := r.raw(t, nil)
	k.subscribe(t, "t", "live")
	k.want(t, "subscribed")

	few := streams(t)[0]
	l.next = 0
	for _, ev := range few.events {
		l.append(t, ev)
	}
	m := k.pair(t, "epoch")
	at := must(bus.ParseCursor(m.cursor()))(t)
	if at.Epoch != l.epoch {
		t.Fatalf("reset to %v, the epoch is %v", at, l.epoch)
	}
	for at.Ordinal < l.next-1 {
		next := k.want(t, "events")
		if got := next.seqs(t); got[0] != at.Ordinal+1 {
			t.Fatalf("%d follows %d", got, at.Ordinal)
		}
		at = must(bus.ParseCursor(next.cursor()))(t)
	}
	// By one who comes back with an old cursor.
	k.subscribe(t, "t", old)
	k.want(t, "subscribed")
	k.pair(t, "epoch")
	natstest.Eventually(t, "the fold is that of the new epoch", func() bool { return f.result() == few.want })
	if !slices.Equal(f.reasons(), []string{"epoch"}) {
		t.Errorf("resets %q", f.reasons())
	}
}

// What is stored in Redis is of the epoch before, and nobody folds: the log stands in for the pair.
func TestNewEpochThatNobodyFolds(t *testing.T) {
	r := newRig(t, options{})
	l := r.thread("t")
	l.append(t, first(), note("x"))
	l.reduce(t)
	s := longest(t)
	l.next = 0
	for i := 0; i < len(s.events); i += 7 {
		l.append(t, s.events[i:min(i+7, len(s.events))]...)
	}
	f, _ := follow(t, r.dial(t, nil), "t", client.Now, nil)
	f.wait(t, l.next-1)
	if f.result() != s.want || !slices.Equal(f.reasons(), []string{"join"}) {
		t.Errorf("the fold differs, or resets %q", f.reasons())
	}
}

// A cursor that the log no longer reaches is answered by a reset, never by silence (B1 12, 18, 30).
func TestTrimmedLog(t *testing.T) {
	r := newRig(t, options{events: 256 << 10})
	s := longest(t)
	l := r.thread("t")
	var cursors []string
	for _, ev := range s.events {
		l.append(t, ev)
		cursors = append(cursors, l.cursor())
		l.reduce(t)
	}
	other := r.thread("")
	for n := 0; other.id == ""; n++ { // of the same shard
		if id := strings.Repeat("o", n+1); r.bus.Shard(id) == r.bus.Shard("t") {
			other.id = id
		}
	}
	other.append(t, first())
	fill := func(until func() bool) {
		t.Helper()
		for !until() {
			other.append(t, note(strings.Repeat("x", 20<<10)))
		}
	}
	oldest := func() int64 {
		h, err := r.bus.First(t.Context(), "t")
		if err != nil {
			return -1
		}
		return h.First
	}
	fill(func() bool { return oldest() > 20 || oldest() < 0 })
	k := r.raw(t, nil)
	for _, from := range []string{"start", cursors[0], cursors[9]} {
		k.subscribe(t, "t", from)
		k.want(t, "subscribed")
		if m := k.pair(t, "trimmed"); m.cursor() != l.cursor() {
			t.Fatalf("from %s: reset to %s of %s", from, m.cursor(), l.cursor())
		}
	}
	fill(func() bool { return oldest() < 0 })

	// Nothing is left of it but what is stored.
	k = r.raw(t, nil)
	k.subscribe(t, "t", cursors[9])
	k.want(t, "subscribed")
	if m := k.pair(t, "trimmed"); m.cursor() != l.cursor() {
		t.Fatalf("reset to %s of %s", m.cursor(), l.cursor())
	}
	k.subscribe(t, "t", "now")
	k.want(t, "subscribed")
	k.pair(t, "join")
	f, _ := follow(t, r.dial(t, nil), "t", client.Now, nil)
	f.wait(t, l.next-1)
	if f.result() != s.want {
		t.Error("the fold differs")
	}
	k.subscribe(t, "t", l.cursor())
	k.want(t, "subscribed")
	l.append(t, note("after all"))
	k.batch(t, l.next-1)
	if len(f.reasons()) != 1 {
		t.Errorf("resets %q", f.reasons())
	}
}

// A cursor of a thread of which nothing is left at all begins anew, from nothing.
func TestGoneThread(t *testing.T) {
	r := newRig(t, options{})
	k := r.raw(t, nil)
	k.subscribe(t, "t", "zzzz.z-5")
	if m := k.want(t, "subscribed"); m.cursor() != "" {
		t.Fatalf("%+v", m)
	}
	if m := k.pair(t, "epoch"); m.cursor() != "" || len(m.Events) != 0 {
		t.Fatalf("%+v", m)
	}
	f, _ := follow(t, r.dial(t, nil), "t", "zzzz.z-5", nil)
	s := streams(t)[0]
	l := r.thread("t")
	l.append(t, s.events...)
	m := k.want(t, "events")
	if m.Pair || m.seqs(t)[0] != 0 {
		t.Fatalf("%+v", m)
	}
	f.wait(t, l.next-1)
	if f.result() != s.want {
		t.Error("the fold differs")
	}
}

// A log with a hole, which there must not be: its clients are told, once, and go on where somebody can bridge it, or with the
// next epoch; they are not flooded.
func TestHoleInTheLog(t *testing.T) {
	r := newRig(t, options{})
	l := r.thread("t")
	l.append(t, first(), note("x"))
	l.reduce(t)
	k := r.raw(t, nil)
	k.subscribe(t, "t", "start")
	k.want(t, "subscribed")
	k.batch(t, 0, 1)
	l.next += 3
	l.append(t, note("behind the hole"))
	// A message whose header counts otherwise than its lines is a hole as well.
	l.write(t, l.lines(notes(2, "two")), 3)
	natstest.Eventually(t, "the pair was asked for more than once", func() bool { return r.metric("agwire_threads_reads_total") > 5 })
	if n := r.metric("resets_total"); n != 0 {
		t.Errorf("%v resets while nothing reaches behind the hole", n)
	}
	l.next = 0
	l.append(t, first(), note("anew"))
	if m := k.pair(t, "epoch"); m.cursor() != l.cursor() {
		t.Errorf("reset to %s of %s", m.cursor(), l.cursor())
	}
	l.append(t, note("and on"))
	k.batch(t, 2)

	// One that nobody has folded cannot be had at all.
	o := r.thread("other")
	o.append(t, first())
	o.next += 3
	o.append(t, note("x"))
	k.subscribe(t, "other", "now")
	k.want(t, "subscribed")
	if m := k.want(t, "error"); m.Thread != "other" || m.Code != "unreadable" {
		t.Errorf("%+v", m)
	}
	s := r.sse(t, "other", "now", "")
	if m, more := s.next(t); !more || m.event != "error" || !strings.Contains(m.data, "unreadable") {
		t.Errorf("%+v", m)
	}
	if m, more := s.next(t); more {
		t.Errorf("then %+v", m)
	}
}
