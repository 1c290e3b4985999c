package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// nobody is the URL of a broker that is not there.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return "nats://u:hunter2@" + l.Addr().String()
}

func service(ctx context.Context, stderr io.Writer, args ...string) int {
	p := &process{stdin: strings.NewReader(""), stdout: io.Discard, stderr: stderr, exit: func(int) {}}
	return run(ctx, p, args)
}

// A broker that stays away is named on one line and in one record of the log, without its password.
func TestNoBroker(t *testing.T) {
	url := nobody(t)
	var stderr bytes.Buffer
	if code := service(t.Context(), &stderr, "ingest", "--nats-url", url, "--nats-wait", "200ms", "--listen", "127.0.0.1:0"); code != 1 {
		t.Errorf("exit code %d", code)
	}
	address := strings.Replace(url, "u:hunter2", "[redacted]", 1)
	failed, plain := 0, 0
	for _, line := range strings.Split(strings.TrimSpace(stderr.String()), "\n") {
		var rec struct{ Level, Msg, Err string }
		switch {
		case strings.HasPrefix(line, "agwire ingest: connect to NATS at "+address+": "):
			plain++
		case json.Unmarshal([]byte(line), &rec) != nil:
			t.Errorf("neither a record nor the last word: %s", line)
		case rec.Level == "error" && strings.Contains(rec.Err, address):
			failed++
		}
	}
	if failed != 1 || plain != 1 || strings.Contains(stderr.String(), "hunter2") {
		t.Errorf("%d records, %d lines\n%s", failed, plain, stderr.String())
	}
	if !strings.Contains(stderr.String(), `"msg":"waiting for NATS"`) {
		t.Errorf("the wait is not told of\n%s", stderr.String())
	}
}

// firstLine is a writer that ends a context at the first line with a text.
type firstLine struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (w *firstLine) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(w.text)) {
		w.cancel()
	}
	return w.Buffer.Write(b)
}

// A signal to end while the broker is waited for is no failure, and a tool that waits says so once.
func TestEndWhileWaiting(t *testing.T) {
	url := nobody(t)
	for _, args := range [][]string{{"ingest", "--listen", "127.0.0.1:0"}, {"tail", "t"}} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		stderr := &firstLine{text: "waiting for NATS", cancel: cancel}
		code := service(ctx, stderr, append(args, "--nats-url", url)...)
		if code != 0 || context.Cause(ctx) != context.Canceled || strings.Contains(stderr.String(), "agwire ingest: ") {
			t.Errorf("%s: %d\n%s", args[0], code, stderr.String())
		}
		if n := strings.Count(stderr.String(), "waiting for NATS"); n != 1 {
			t.Errorf("%s says so %d times", args[0], n)
		}
		cancel()
	}
}

func TestSettingsThatGoTogether(t *testing.T) {
	var stderr bytes.Buffer
	if code := service(t.Context(), &stderr, "tail", "t", "--nats-user", "u"); code != 2 || !strings.Contains(stderr.String(), "nats-user and nats-password go together") {
		t.Errorf("%d\n%s", code, stderr.String())
	}
}
