package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/services/normalize"
)

// logged is a broker whose log holds one recording, as invoke "i" of thread "t".
func logged(t *testing.T) (url string) {
	t.Helper()
	srv := natstest.New(t)
	b, err := bus.Connect(t.Context(), bus.Options{URL: srv.URL(), Shards: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg := normalize.Defaults()
	cfg.Worker = "w"
	svc, err := normalize.New(cfg, normalize.Deps{Bus: b, Log: zap.NewNop(), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := svc.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	data, err := os.ReadFile("../../internal/demo/recordings/vercel/tool_static.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := b.OpenInvoke(t.Context(), "t", "i", bus.InvokeStart{Source: "vercel"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		if err := a.Append(t.Context(), int64(i), line); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(a.End(t.Context(), bus.End{Reason: bus.EndDone}), a.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the invoke is on the log", func() bool {
		h, err := b.Head(t.Context(), "t")
		return err == nil && h.Closed
	})
	return srv.URL()
}

func TestToolsOnTheLog(t *testing.T) {
	url := logged(t)
	tool := func(args ...string) (code int, out, errOut string) {
		var stdout, stderr bytes.Buffer
		p := &process{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, exit: func(int) {}}
		code = run(t.Context(), p, append(args, "--nats-url", url))
		return code, stdout.String(), stderr.String()
	}
	code, all, cursor := tool("tail", "t", "--from", "start", "--follow=false")
	lines := strings.Split(strings.TrimSpace(all), "\n")
	if code != 0 || len(lines) < 40 || !strings.Contains(lines[0], `"messages.snapshot","seq":0`) {
		t.Fatalf("tail: %d, %d lines", code, len(lines))
	}
	at := strings.TrimSpace(strings.TrimPrefix(cursor, "cursor "))
	at = at[:strings.LastIndex(at, "-")] + "-9"
	if code, rest, _ := tool("tail", "t", "--from", at, "--follow=false"); code != 0 || rest != strings.Join(lines[10:], "\n")+"\n" {
		t.Errorf("tail from a cursor: %d, %.200s", code, rest)
	}
	if code, again, _ := tool("replay", "t", "--speed", "0"); code != 0 || again != all {
		t.Errorf("replay: %d, %.200s", code, again)
	}
	if code, _, says := tool("replay", "nobody", "--speed", "0"); code != 1 || !strings.Contains(says, "no thread") {
		t.Errorf("replay of nothing: %d, %s", code, says)
	}
	code, out, _ := tool("why", "t", "7")
	for _, want := range []string{lines[7], "invoke i, turn turn_i", "framework vercel", "said it:", "> frame"} {
		if !strings.Contains(out, want) {
			t.Errorf("why: %d, no %q in\n%s", code, want, out)
		}
	}
	if code, out, _ := tool("why", "t", "0"); code != 0 || !strings.Contains(out, "no frame") {
		t.Errorf("why of the log's own event: %d, %s", code, out)
	}
	if code, _, says := tool("why", "t", "4000"); code != 1 || !strings.Contains(says, "last ordinal") {
		t.Errorf("why beyond the log: %d, %s", code, says)
	}
	if code, _, _ := tool("why", "t", "x"); code != 2 {
		t.Errorf("why of no ordinal: %d", code)
	}
}
