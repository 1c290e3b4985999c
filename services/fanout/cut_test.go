package fanout_test

import (
	"slices"
	"testing"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/pkg/client"
)

// corpus is the streams of a run: all, or a few of the shorter ones with -short.
func corpus(t testing.TB) []stream {
	all := streams(t)
	if testing.Short() {
		slices.SortFunc(all, func(a, b stream) int { return len(a.events) - len(b.events) })
		var some []stream
		for i := 0; i < len(all)*3/4; i += 6 {
			some = append(some, all[i])
		}
		return some
	}
	return all
}

// cuts says whether a stream is cut after its event n: after every one, but after some of a long one with the race detector.
func cuts(s stream, n int) bool {
	return !raced || len(s.events) <= 100 || n%9 == len(s.name)%9
}

// clients are the connections of the cut tests: that of cut n joins after event n of each thread.
type clients struct {
	r    *rig
	list []*client.Client
}

func (c *clients) at(t testing.TB, n int) *client.Client {
	for len(c.list) <= n {
		c.list = append(c.list, c.r.dial(t, nil))
	}
	return c.list[n]
}

// A client that joins after any event of a stream, while the rest comes, ends with the fold of the whole (B1 2, 8, 9, 20, 26,
// 29, 31, 32); with and without what reduce has stored of it.
func TestCut(t *testing.T) {
	r := newRig(t, options{})
	conns := &clients{r: r}
	joins := 0
	for i, s := range corpus(t) {
		l := r.thread("cut/" + s.name)
		list := map[int]*follower{}
		for n, ev := range s.events {
			l.append(t, ev)
			if i%2 == 0 && n%3 == 0 {
				l.reduce(t)
			}
			if cuts(s, n) {
				list[n], _ = follow(t, conns.at(t, n), l.id, client.Now, nil)
			}
		}
		for n, f := range list {
			f.wait(t, l.next-1)
			if got := f.result(); got != s.want {
				t.Fatalf("%s: joined after event %d: the fold differs\n%s\n%s", s.name, n, got, s.want)
			}
			if got := f.reasons(); !slices.Equal(got, []string{"join"}) {
				t.Fatalf("%s: joined after event %d: resets %q", s.name, n, got)
			}
		}
		joins += len(list)
	}
	t.Logf("%d joins, %v events delivered, %v refilled", joins, r.metric("events_total"), r.metric("refills_total"))
}

// A client that has folded a stream up to any event, and comes back with its cursor, gets the rest and no more.
func TestResumeFromEveryCursor(t *testing.T) {
	r := newRig(t, options{})
	conns := &clients{r: r}
	resumes := 0
	for _, s := range corpus(t) {
		l := r.thread("resume/" + s.name)
		for at := 0; at < len(s.events); { // messages of several events, so that cursors lie within them
			n := min(1+at%7, len(s.events)-at)
			l.append(t, s.events[at:at+n]...)
			at += n
		}
		all := raws(s.events)
		for from := 0; from < len(s.events); from += together {
			var list []*follower
			var subs []*client.Subscription
			var after []int
			for n := from; n < min(from+together, len(s.events)); n++ {
				if !cuts(s, n) {
					continue
				}
				fold := client.NewFold()
				ok(t, fold.Apply(client.Batch{Events: all[:n+1]}))
				f, sub := follow(t, conns.at(t, n%together), l.id, bus.Cursor{Epoch: l.epoch, Ordinal: int64(n)}.String(), fold)
				list, subs, after = append(list, f), append(subs, sub), append(after, n)
			}
			for i, f := range list {
				n := after[i]
				f.wait(t, l.next-1)
				if got := f.result(); got != s.want {
					t.Fatalf("%s: resumed after event %d: the fold differs\n%s\n%s", s.name, n, got, s.want)
				}
				if got := f.reasons(); len(got) > 0 || f.events != len(s.events)-n-1 {
					t.Fatalf("%s: resumed after event %d: %d events, resets %q", s.name, n, f.events, got)
				}
				subs[i].Close()
			}
			resumes += len(list)
		}
	}
	t.Logf("%d resumes, %v parts of the log read", resumes, r.metric("replays_total"))
}

// together is how many clients resume at once.
const together = 32

// Who comes back is sent what it missed, not the thread (B1 13).
func TestReconnectsCostWhatWasMissed(t *testing.T) {
	r := newRig(t, options{})
	l := r.thread("t")
	l.append(t, first())
	for l.next < 10_000 {
		l.append(t, notes(100, "some words of an event")...)
	}
	f, _ := follow(t, r.dial(t, nil), "t", client.Start, nil)
	f.wait(t, l.next-1)
	whole := r.metric("bytes_total")
	for range 20 {
		before, at := r.metric("bytes_total"), l.cursor()
		l.append(t, notes(5, "some words of an event")...)
		f.wait(t, l.next-1)
		k := r.raw(t, nil)
		k.subscribe(t, "t", at)
		k.want(t, "subscribed")
		k.batch(t, l.next-5, l.next-4, l.next-3, l.next-2, l.next-1)
		if sent := r.metric("bytes_total") - before; sent > whole/100 {
			t.Fatalf("%v bytes for five events to two clients, of a thread of %v", sent, whole)
		}
		_ = k.ws.CloseNow()
	}
}
