package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agwire/agwire/pkg/client"
)

// readiness is what /readyz answers.
type readiness struct {
	status   int
	Ready    bool
	Stopping bool
}

func ready(client *http.Client, base string) (readiness, error) {
	var r readiness
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return r, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	r.status = resp.StatusCode
	return r, json.NewDecoder(resp.Body).Decode(&r)
}

// watching asks /readyz without a pause until nobody answers any more, and returns the answers without repetitions. It calls
// began after the first.
func watching(base string, began func()) (answers []readiness) {
	first := sync.OnceFunc(began)
	defer first()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for {
		r, err := ready(client, base)
		if err != nil {
			return answers
		}
		if n := len(answers); n == 0 || answers[n-1] != r {
			answers = append(answers, r)
		}
		first()
	}
}

// A service that is told to end says so on /readyz before it is gone, finishes what it has begun although its servers stall,
// and exits 0.
func TestShutdown(t *testing.T) {
	s := startSystem(t)
	i := invoke{thread: "shutdown", id: "1", rec: named(t, corpus(t), "claude", "text.partial")}
	if err := pushing(t.Context(), s.url("ingest"), i, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	t.Run("fanout", func(t *testing.T) { s.shutdownUnder(t, i) })
	for _, name := range []string{"ingest", "normalize", "reduce"} {
		t.Run(name, func(t *testing.T) { s.shutdown(t, name) })
	}
}

// shutdownUnder ends fanout while clients follow a thread: they are told to come back, do, and go on where they were.
func (s *system) shutdownUnder(t *testing.T, i invoke) {
	ends := map[string]expected{i.thread: expect(t, i)}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var clients group
	var all []*follower
	var seen []*observer
	for n := range 4 {
		f := &follower{name: fmt.Sprintf("client %d", n), line: startProxy(t, strings.TrimPrefix(s.url("fanout"), "http://"))}
		f.add(i.thread, []string{client.Now, client.Start}[n%2])
		clients.run(f.name, func(context.Context) error { return f.follow(ctx) })
		all, seen = append(all, f), append(seen, f.subs...)
	}
	o := observe("client over SSE", i.thread, 0)
	clients.run(o.name, func(context.Context) error { return o.follow(ctx, s.url("fanout"), client.Start) })
	seen = append(seen, o)
	eventually(t, 20*time.Second, "the clients have come to the end", func() bool { return allAt(seen, ends) })
	s.shutdown(t, "fanout")
	for _, f := range all {
		if codes := f.closed(); len(codes) != 1 || codes[0] != 1001 && codes[0] != 4000 {
			t.Errorf("%s was closed with %v, want one code that says to come back", f.name, codes)
		}
	}
	s.procs["fanout"].restart()
	next := invoke{thread: i.thread, id: "2", rec: named(t, corpus(t), "vercel", "vercel/tool_static")}
	if err := pushing(t.Context(), s.url("ingest"), next, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	ends[i.thread] = expect(t, i, next)
	eventually(t, 20*time.Second, "the clients are back, and at the end", func() bool { return allAt(seen, ends) })
	leave()
	clients.wait(t, 20*time.Second)
	for _, o := range seen {
		o.check(t, ends[i.thread])
		if r := o.reasons(); len(r) > 1 || r["join"] != len(r) {
			t.Errorf("%s was reset: %v", o.name, r)
		}
	}
}

func (s *system) shutdown(t *testing.T, name string) {
	s.healthy(name)
	var work group
	frames, body := io.Pipe()
	write := func(text string) {
		if _, err := io.WriteString(body, text); err != nil {
			t.Fatal(err)
		}
	}
	taken := func(n float64) {
		eventually(t, 10*time.Second, "the frames of the open upload are taken", func() bool {
			return s.metric(t, "ingest", `agwire_ingest_frames_total{framework="vercel"}`) >= n
		})
	}
	if name == "ingest" {
		work.run("upload", func(ctx context.Context) error { return s.interrupted(ctx, frames) })
		write("{\"type\":\"start\"}\n")
		taken(1)
	}
	var answers []readiness
	var watch group
	watched := make(chan struct{})
	watch.run("watch", func(context.Context) error {
		answers = watching(s.url(name), func() { close(watched) })
		return nil
	})
	<-watched
	s.procs["nats"].freeze()
	s.procs["redis"].freeze()
	if name == "ingest" { // a frame that cannot be stored yet, and half of another
		write("{\"type\":\"start-step\"}\n{\"type\":")
		taken(2)
	}
	var stall group
	stall.run("stall", func(context.Context) error {
		pause(time.Second)
		s.procs["nats"].thaw()
		s.procs["redis"].thaw()
		return nil
	})
	began := time.Now()
	code := s.procs[name].terminate(25 * time.Second)
	took := time.Since(began)
	t.Logf("%s ended after %v", name, took.Round(time.Millisecond))
	stall.wait(t, time.Minute)
	watch.wait(t, time.Minute)
	work.wait(t, time.Minute)
	if code != 0 {
		t.Errorf("it exits %d", code)
	}
	if took > 20*time.Second {
		t.Errorf("it drains for %v, its budget is 20s", took)
	}
	for n, r := range answers {
		if was := n == 0; r.Ready != was || (r.status == http.StatusOK) != was {
			t.Errorf("/readyz answers %+v, want that it is ready, and then never again", answers)
			break
		}
	}
	if last := answers[len(answers)-1]; !last.Stopping {
		t.Errorf("the last of /readyz is %+v, want that it is stopping", last)
	}
	if said := s.procs[name].printed(); !strings.Contains(said, `"msg":"stopped"`) {
		t.Error("it does not log that it has stopped")
	}
}

// interrupted is an upload that is open when ingest is told to end: it is answered with what is stored, and may come again.
func (s *system) interrupted(ctx context.Context, body io.Reader) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url("ingest")+threadPath("open upload")+"/invokes/1/frames?framework=vercel", body)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		State struct{ Stored int }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusServiceUnavailable || answer.State.Stored != 2 || resp.Header.Get("Retry-After") == "" {
		return errors.New("the open upload is answered " + resp.Status + ", and not that it come back")
	}
	return nil
}
