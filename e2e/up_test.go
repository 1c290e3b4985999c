package e2e_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// startUp is agwire up: everything in one process, under the address of all services.
func startUp(t *testing.T, data string, flags ...string) *system {
	t.Helper()
	listen := net.JoinHostPort("127.0.0.1", freePorts.port(t))
	nats := freePorts.port(t)
	s := &system{t: t, file: readCompose(t), ports: map[string]string{}, procs: map[string]*process{}}
	for name, svc := range s.file.Services {
		if svc.ours() {
			_, port, _ := net.SplitHostPort(svc.Environment["AGWIRE_LISTEN"])
			_, s.ports[name+":"+port], _ = net.SplitHostPort(listen)
		}
	}
	s.ports["nats:4222"] = nats
	argv := append([]string{built.agwire, "up", "--data", data, "--listen", listen, "--nats-port", nats}, flags...)
	s.procs["up"] = start(t, command{name: "up", argv: argv})
	eventually(t, 30*time.Second, "agwire up is ready", func() bool {
		r, err := ready(http.DefaultClient, "http://"+listen)
		return err == nil && r.Ready
	})
	return s
}

// body reads a page.
func (s *system) body(t *testing.T, path string) (string, http.Header) {
	t.Helper()
	resp, err := http.Get(s.url("fanout") + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", path, resp.Status, err)
	}
	return string(data), resp.Header
}

// agwire up serves the page and the API, ends cleanly, and has its threads again after a restart, whether it was told to end or
// was killed.
func TestUp(t *testing.T) {
	data := t.TempDir()
	s := startUp(t, data)
	if page, header := s.body(t, "/"); !strings.Contains(strings.ToLower(page), "<!doctype html>") || !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
		t.Errorf("the page is %s, %.60q", header.Get("Content-Type"), page)
	}
	if said := s.procs["up"].stdout.String(); !strings.Contains(said, s.url("fanout")) {
		t.Errorf("it does not say which page to open: %s", said)
	}
	all := corpus(t)
	i := invoke{thread: "kept", id: "1", rec: named(t, all, "claude", "thinking_tools.partial")}
	if err := pushing(t.Context(), s.url("ingest"), i, 500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	want := expect(t, i)
	p := plan{invokes: [][]invoke{{i}}, want: map[string]expected{i.thread: want}}
	s.checkRead(t, p)
	cursor := s.cursor(t, i.thread)

	if code := s.procs["up"].terminate(25 * time.Second); code != 0 {
		t.Errorf("it exits %d", code)
	}
	s = startUp(t, data)
	s.checkRead(t, p)
	if again := s.cursor(t, i.thread); again != cursor {
		t.Errorf("after a restart the cursor is %q, and was %q", again, cursor)
	}
	s.procs["up"].kill()
	s = startUp(t, data)
	s.checkRead(t, p)

	// The thread goes on where it was.
	next := invoke{thread: i.thread, id: "2", rec: named(t, all, "vercel", "vercel/tool_static")}
	if err := pushing(t.Context(), s.url("ingest"), next, 200*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	p.want[i.thread] = expect(t, i, next)
	s.checkRead(t, p)
	s.checkLog(t, p.want[i.thread])
}

// cursor is where a thread is, by the read API.
func (s *system) cursor(t *testing.T, thread string) string {
	t.Helper()
	var st threadState
	if status := s.get(t, "fanout", threadPath(thread), &st); status != http.StatusOK {
		t.Fatalf("%s is answered %d", thread, status)
	}
	return st.Cursor
}

// Two processes on one directory would ruin it: the second is refused, and says why.
func TestUpTwice(t *testing.T) {
	data := t.TempDir()
	startUp(t, data)
	second := start(t, command{name: "second", argv: []string{built.agwire, "up", "--data", data, "--listen", "127.0.0.1:0", "--nats-port", "0"}})
	if code := second.wait(20 * time.Second); code == 0 {
		t.Error("a second process on the same directory ends well")
	}
	if said := second.printed(); !strings.Contains(said, data) {
		t.Errorf("it does not say that the directory is in use: %s", said)
	}
}

// agwire up --demo prints the page's address and what is happening, and its threads come and are closed.
func TestUpDemo(t *testing.T) {
	s := startUp(t, t.TempDir(), "--demo")
	eventually(t, 20*time.Second, "the demo says which page to open", func() bool {
		return strings.Contains(s.procs["up"].stdout.String(), "open "+s.url("fanout"))
	})
	frameworks := map[string]bool{}
	eventually(t, 60*time.Second, "threads of two frameworks have closed turns", func() bool {
		for thread := range s.list(t, "fanout") {
			var st threadState
			if s.get(t, "fanout", threadPath(thread), &st) != http.StatusOK {
				continue
			}
			var result struct {
				Messages []json.RawMessage
				Turns    []struct{ Outcome json.RawMessage }
			}
			if err := json.Unmarshal(st.Result, &result); err != nil {
				t.Fatal(err)
			}
			for _, turn := range result.Turns {
				if turn.Outcome != nil && len(result.Messages) > 0 {
					_, name, _ := strings.Cut(thread, "/")
					framework, _, _ := strings.Cut(name, "-")
					frameworks[framework] = true
				}
			}
		}
		return frameworks["claude"] && frameworks["vercel"]
	})
	eventually(t, 5*time.Second, "the terminal shows what is happening", func() bool {
		said := s.procs["up"].stdout.String()
		return strings.Contains(said, "threads ") && strings.Contains(said, "frames ") && strings.Contains(said, "events ") && strings.Contains(said, "p50 ")
	})
	if code := s.procs["up"].terminate(25 * time.Second); code != 0 {
		t.Errorf("told to end in the middle of the demo it exits %d", code)
	}
}
