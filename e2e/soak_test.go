package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/client"
)

// plan is what a soak sends, and what it must come to.
type plan struct {
	invokes [][]invoke // by thread, one after another
	want    map[string]expected
}

// threadNames are ids of threads; some need every escape that subjects, paths and queries have.
func threadNames(n int) []string {
	strange := []string{"a.b.c", "slash/and space", "ü-ñ-漢字", "*>", "100%#?&=+", `quote"back\slash`, "~tilde~2"}
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("thread-%02d", i)
		if i%7 == 3 {
			list[i] += " " + strange[i/7%len(strange)]
		}
	}
	return list
}

// planThreads gives n threads their recordings, from the offset-th on, of both frameworks by turns. Every third thread gets a
// second invoke where no id of it is taken by the first: two that share ids are kept apart by names that convert, which sees
// one invoke, cannot know.
func planThreads(t testing.TB, n, offset int) plan {
	t.Helper()
	byFramework := map[string][]recording{}
	for _, r := range corpus(t) {
		byFramework[r.framework] = append(byFramework[r.framework], r)
	}
	pick := func(framework string, i int) recording {
		list := byFramework[framework]
		return list[i%len(list)]
	}
	p := plan{want: map[string]expected{}}
	seconds, began := 0, time.Now()
	for i, thread := range threadNames(n) {
		framework := []string{"claude", "vercel"}[i%2]
		first := invoke{thread: thread, id: fmt.Sprintf("a%d", i), rec: pick(framework, (i+offset)/2)}
		if i%3 == 1 && i%2 == 1 {
			first.exit = 1 + i%4
		}
		list := []invoke{first}
		if i%3 == 0 {
			second := invoke{thread: thread, id: fmt.Sprintf("b%d", i), rec: pick("vercel", (i+offset)/2+7)}
			if disjoint(t, first, second) {
				list = append(list, second)
				seconds++
			}
		}
		p.invokes = append(p.invokes, list)
		p.want[thread] = expect(t, list...)
	}
	events := int64(0)
	for _, w := range p.want {
		events += w.events
	}
	t.Logf("%d threads, %d of them of two invokes, %d events, by the offline tools in %v", n, seconds, events, time.Since(began).Round(time.Millisecond))
	if seconds < n/10 {
		t.Errorf("only %d threads have a second invoke", seconds)
	}
	return p
}

// disjoint says that two invokes open nothing under the same id.
func disjoint(t testing.TB, a, b invoke) bool {
	t.Helper()
	taken := map[string]bool{}
	for _, id := range opened(t, a) {
		taken[id] = true
	}
	for _, id := range opened(t, b) {
		if taken[id] {
			return false
		}
	}
	return true
}

// opened are the ids of the messages, blocks, tool calls and turns that an invoke opens.
func opened(t testing.TB, i invoke) []string {
	t.Helper()
	var ids []string
	for _, line := range agtest.SplitLines(converted(t, i)) {
		ev := unnumbered(line)
		for _, key := range []string{"id", "toolCallId", "turnId"} {
			if id, ok := ev[key].(string); ok && (strings.HasSuffix(ev["type"].(string), ".start") || ev["type"] == "content.block" || ev["type"] == "tool.done") {
				ids = append(ids, key+" "+id)
			}
		}
	}
	return ids
}

// send brings all threads into the log at once, in about the pace, by push, by exec, and by uploads that are cut.
func (p plan) send(g *group, ingest string, pace time.Duration) {
	for n, list := range p.invokes {
		by := []sender{pushing, uploading}[n%2]
		if list[0].exit != 0 {
			by = executing
		}
		g.run(list[0].thread, func(ctx context.Context) error {
			for at, i := range list {
				if at > 0 {
					by = pushing
				}
				if err := by(ctx, ingest, i, pace/time.Duration(len(list))); err != nil {
					return fmt.Errorf("invoke %s, %s: %w", i.id, i.rec.name, err)
				}
			}
			return nil
		})
	}
}

// soak sends the plan's threads in about the pace, while clients follow them over lines that are cut, and trouble happens. At the
// end everyone must know all, and the same.
func (s *system) soak(t *testing.T, p plan, pace time.Duration, trouble func()) {
	threads := make([]string, len(p.invokes))
	for i, list := range p.invokes {
		threads[i] = list[0].thread
	}
	var clients, sends, cuts group
	began := time.Now()
	since := func() time.Duration { return time.Since(began).Round(10 * time.Millisecond) }
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	fleet := s.fleet(ctx, t, &clients, threads, pace/3)
	p.send(&sends, s.url("ingest"), pace)
	for _, c := range fleet {
		cuts.run(c.name, func(ctx context.Context) error { return c.cutThrice(ctx, pace) })
	}
	trouble()
	sends.wait(t, pace+2*time.Minute)
	t.Logf("all frames are stored after %v", since())
	cuts.wait(t, time.Minute)

	var seen []*observer
	for _, c := range fleet {
		seen = append(seen, c.subs...)
	}
	if !within(time.Minute, func() bool { return allAt(seen, p.want) }) {
		t.Errorf("not all clients have come to the end: %s", behind(seen, p.want))
	}
	t.Logf("all clients are at the end after %v", since())
	leave()
	clients.wait(t, 20*time.Second)
	resets, once := map[string]int{}, 0
	for _, o := range seen {
		o.check(t, p.want[o.thread])
		for reason, n := range o.reasons() {
			resets[reason] += n
		}
		if len(o.reasons()) == 0 {
			once++
			if int64(o.events) != p.want[o.thread].events {
				t.Errorf("%s of %s was told %d events, want each of %d once", o.name, o.thread, o.events, p.want[o.thread].events)
			}
		}
	}
	t.Logf("%d clients, %d subscriptions, %d of them told every ordinal once and never reset; resets %v", len(fleet), len(seen), once, resets)
	for _, thread := range threads {
		s.checkLog(t, p.want[thread])
	}
	s.checkRead(t, p)
	s.checkLate(t, p)
}

// checkLate joins a client to all threads when all is over, once from now and once from the start, and another over SSE.
func (s *system) checkLate(t *testing.T, p plan) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var clients group
	var seen []*observer
	for _, from := range []string{client.Now, client.Start} {
		f := &follower{name: "late client", line: startProxy(t, strings.TrimPrefix(s.url("fanout"), "http://"))}
		for thread := range p.want {
			f.add(thread, from)
		}
		seen = append(seen, f.subs...)
		clients.run(f.name, func(context.Context) error { return f.follow(ctx) })
	}
	for thread := range p.want {
		o := observe("late client over SSE", thread, -1)
		seen = append(seen, o)
		clients.run(o.name, func(context.Context) error { return o.follow(ctx, s.url("fanout"), "now") })
	}
	if !within(time.Minute, func() bool { return allAt(seen, p.want) }) {
		t.Errorf("not all late clients have come to the end: %s", behind(seen, p.want))
	}
	leave()
	clients.wait(t, 20*time.Second)
	for _, o := range seen {
		o.check(t, p.want[o.thread])
	}
}

// checkRead demands of reduce and fanout, which both answer reads, that each thread is listed and reads as expected.
func (s *system) checkRead(t *testing.T, p plan) {
	for _, name := range []string{"reduce", "fanout"} {
		for thread, want := range p.want {
			var got threadState
			end := fmt.Sprintf("-%d", want.events-1)
			ok := within(20*time.Second, func() bool {
				got = threadState{}
				return s.get(t, name, threadPath(thread), &got) == http.StatusOK && strings.HasSuffix(got.Cursor, end)
			})
			if !ok || got.Thread != thread || got.Open {
				t.Errorf("%s reads %s at %q, open %v; want %s, closed", name, thread, got.Cursor, got.Open, end)
				continue
			}
			if diff := agtest.Diff(want.result, agtest.Decode(got.Result)); diff != "" {
				t.Errorf("%s reads %s otherwise than convert | fold: %s", name, thread, diff)
			}
		}
		// A list is as new as Redis is, which is filled again in the background when it was empty.
		var listed map[string]int
		within(20*time.Second, func() bool {
			listed = s.list(t, name)
			return len(listed) == len(p.want)
		})
		for thread := range p.want {
			if listed[thread] != 1 {
				t.Errorf("%s lists %s %d times", name, thread, listed[thread])
			}
		}
		if len(listed) != len(p.want) {
			t.Errorf("%s lists %d threads, want %d", name, len(listed), len(p.want))
		}
	}
}

// threadState is an answer of the read API.
type threadState struct {
	Thread string          `json:"thread"`
	Cursor string          `json:"cursor"`
	Open   bool            `json:"open"`
	Result json.RawMessage `json:"result"`
}

// get reads a path of a service; what is not 200 leaves the answer as it is.
func (s *system) get(t testing.TB, service, path string, answer any) (status int) {
	t.Helper()
	resp, err := http.Get(s.url(service) + path)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0
	}
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(data, answer); err != nil {
			t.Fatalf("GET %s of %s: %v", path, service, err)
		}
	}
	return resp.StatusCode
}

// list pages through the list of threads and counts how often each stands there.
func (s *system) list(t testing.TB, service string) map[string]int {
	t.Helper()
	listed := map[string]int{}
	for after := ""; ; {
		var page struct {
			Threads []struct{ Thread, Cursor, UpdatedAt string }
			Next    string
		}
		path := "/v1/threads?limit=17"
		if after != "" {
			path += "&after=" + url.QueryEscape(after)
		}
		if status := s.get(t, service, path, &page); status != http.StatusOK {
			t.Fatalf("%s answers %d to a list of threads", service, status)
		}
		for _, th := range page.Threads {
			listed[th.Thread]++
			if _, err := time.Parse(time.RFC3339, th.UpdatedAt); err != nil || th.Cursor == "" {
				t.Errorf("%s lists %+v: %v", service, th, err)
			}
		}
		if after = page.Next; after == "" || len(listed) > 10_000 {
			return listed
		}
	}
}
