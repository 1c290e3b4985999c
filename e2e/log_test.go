package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/agwire/agwire/pkg/agjson/agtest"
)

// onLog is a thread's log from its start, as agwire tail prints it.
func (s *system) onLog(t testing.TB, thread string) []byte {
	t.Helper()
	return output(t, nil, "tail", "--nats-url", s.natsURL(), "--from", "start", "--follow=false", "--", thread)
}

// checkLog demands that a thread's log is the events that agwire convert makes of its invokes, in order, numbered from 0 without
// a gap (SPEC §5 INV-SEQ), after a snapshot of nothing.
func (s *system) checkLog(t testing.TB, want expected) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSuffix(s.onLog(t, want.thread), []byte("\n")), []byte("\n"))
	if int64(len(lines)) != want.events {
		t.Errorf("%s: the log has %d events, want %d", want.thread, len(lines), want.events)
		return
	}
	for i, line := range lines {
		var ev struct {
			Seq  int64
			Type string
		}
		if err := json.Unmarshal(line, &ev); err != nil || ev.Seq != int64(i) {
			t.Errorf("%s: event %d of the log has seq %d: %v", want.thread, i, ev.Seq, err)
			return
		}
		if i == 0 {
			if ev.Type != "messages.snapshot" {
				t.Errorf("%s: the log begins with %s", want.thread, ev.Type)
			}
			continue
		}
		if diff := agtest.Diff(want.log[i-1], unnumbered(line)); diff != "" {
			t.Errorf("%s: event %d: %s", want.thread, i, diff)
			return
		}
	}
}

// unnumbered is an event without its seq.
func unnumbered(line []byte) agtest.Object {
	ev := agtest.Decode(line).(agtest.Object)
	delete(ev, "seq")
	return ev
}

// Frames that came in by push, by exec and by an upload that is cut are on the log as convert says, while normalize is killed.
func TestLog(t *testing.T) {
	s := startSystem(t, "nats", "redis", "normalize", "ingest")
	all := corpus(t)
	invokes := []invoke{
		{thread: "by push", id: "p1", rec: named(t, all, "claude", "thinking_tools.partial")},
		{thread: "by/exec", id: "e1", rec: named(t, all, "vercel", "vercel/tool_static"), exit: 3},
		{thread: "by.upload", id: "u1", rec: named(t, all, "claude", "text.partial")},
	}
	var sends group
	for i, send := range []sender{pushing, executing, uploading} {
		sends.run(invokes[i].thread, func(ctx context.Context) error { return send(ctx, s.url("ingest"), invokes[i], 3*time.Second) })
	}
	pause(time.Second)
	s.crash(300*time.Millisecond, "normalize")
	sends.wait(t, time.Minute)
	for _, i := range invokes {
		want := expect(t, i)
		eventually(t, 20*time.Second, fmt.Sprintf("%s has %d events", i.thread, want.events), func() bool {
			return int64(bytes.Count(s.onLog(t, i.thread), []byte("\n"))) >= want.events
		})
		s.checkLog(t, want)
	}
}
