package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
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
	s := startSystem(t, "nats", "redis", "normalize", "ingest")
	i := invoke{thread: "shutdown", id: "1", rec: named(t, corpus(t), "claude", "text.partial")}
	if err := pushing(t.Context(), s.url("ingest"), i, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ingest", "normalize"} {
		t.Run(name, func(t *testing.T) { s.shutdown(t, name) })
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
	if len(answers) != 2 || answers[0].status != http.StatusOK || answers[1].status != http.StatusServiceUnavailable || !answers[1].Stopping {
		t.Errorf("/readyz answers %+v, want ready and then stopping", answers)
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
