package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agwire/agwire/pkg/agjson/agtest"
)

// A client may join anywhere and resume from anywhere: it ends with the fold of the whole.
func TestCut(t *testing.T) {
	s := startSystem(t)
	all := corpus(t)
	for n, name := range []string{"claude thinking_tools.partial", "claude subagent.partial", "vercel vercel/multi_step", "vercel vercel-fullstream/tool_static"} {
		framework, name, _ := strings.Cut(name, " ")
		i := invoke{thread: fmt.Sprintf("cut/%d", n), id: "1", rec: named(t, all, framework, name)}
		t.Run(name, func(t *testing.T) {
			want := expect(t, i)
			s.joinEverywhere(t, i, want)
			s.resumeEverywhere(t, want)
		})
	}
}

// joinEverywhere sends a stream frame by frame and joins a client, from now, after each.
func (s *system) joinEverywhere(t *testing.T, i invoke, want expected) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var clients group
	join := func(name, from string, next int64) *observer {
		o := observe(name, i.thread, next)
		clients.run(name, func(context.Context) error { return o.follow(ctx, s.url("fanout"), from) })
		return o
	}
	first := join("first", "start", 0)
	seen := []*observer{first}
	body, frames := io.Pipe()
	var upload group
	upload.run("upload", func(ctx context.Context) error {
		st, err := request(ctx, http.MethodPost, s.url("ingest")+threadPath(i.thread)+"/invokes/"+i.id+"/frames?framework="+i.rec.framework, body)
		if err == nil && st.Stored != int64(len(i.rec.frames)) {
			err = fmt.Errorf("%d frames stored of %d", st.Stored, len(i.rec.frames))
		}
		return err
	})
	for n, frame := range i.rec.frames {
		before := first.at()
		if _, err := frames.Write(append(bytes.Clone(frame), '\n')); err != nil {
			t.Fatal(err)
		}
		// Most frames are one event or more; some are none.
		within(100*time.Millisecond, func() bool { return first.at() > before })
		seen = append(seen, join(fmt.Sprintf("joined after frame %d", n), "now", -1))
	}
	frames.Close()
	upload.wait(t, 30*time.Second)
	ends := map[string]expected{i.thread: want}
	if !within(30*time.Second, func() bool { return allAt(seen, ends) }) {
		t.Errorf("not all clients have come to the end: %s", behind(seen, ends))
	}
	leave()
	clients.wait(t, 20*time.Second)
	for _, o := range seen {
		o.check(t, want)
	}
	if r := first.reasons(); len(r) > 0 {
		t.Errorf("the first client was reset: %v", r)
	}
}

// resumeEverywhere resumes from every cursor of a thread that is over, with the fold of what lies before.
func (s *system) resumeEverywhere(t *testing.T, want expected) {
	var st threadState
	end := fmt.Sprintf("-%d", want.events-1)
	if s.get(t, "fanout", threadPath(want.thread), &st) != http.StatusOK || !strings.HasSuffix(st.Cursor, end) {
		t.Fatalf("the thread reads at %q, want %s", st.Cursor, end)
	}
	epoch := strings.TrimSuffix(st.Cursor, end)
	lines := agtest.SplitLines(s.onLog(t, want.thread))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var clients group
	var seen []*observer
	for k := range lines[:len(lines)-1] {
		name, cursor := fmt.Sprintf("resumed after %d", k), fmt.Sprintf("%s-%d", epoch, k)
		o := observe(name, want.thread, 0)
		o.batch(false, lines[:k+1:k+1], cursor)
		seen = append(seen, o)
		clients.run(name, func(context.Context) error { return o.follow(ctx, s.url("fanout"), cursor) })
	}
	ends := map[string]expected{want.thread: want}
	if !within(30*time.Second, func() bool { return allAt(seen, ends) }) {
		t.Errorf("not all clients have come to the end: %s", behind(seen, ends))
	}
	leave()
	clients.wait(t, 20*time.Second)
	for _, o := range seen {
		o.check(t, want)
		if r := o.reasons(); len(r) > 0 {
			t.Errorf("%s was reset, although the log has all: %v", o.name, r)
		}
	}
}
