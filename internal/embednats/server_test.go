package embednats_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/agwire/agwire/internal/embednats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, o embednats.Options) *embednats.Server {
	t.Helper()
	s, err := embednats.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func TestStoreOutlivesTheServer(t *testing.T) {
	o := embednats.Options{Dir: filepath.Join(t.TempDir(), "a", "b")}
	s := start(t, o)
	if !strings.HasPrefix(s.URL(), "nats://127.0.0.1:") || !s.Running() || !s.JetStreamReady() {
		t.Fatal(s.URL())
	}
	use := func(s *embednats.Server, opts ...nats.Option) nats.JetStreamContext {
		nc, err := nats.Connect(s.URL(), opts...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		js, err := nc.JetStream()
		if err != nil {
			t.Fatal(err)
		}
		return js
	}
	js := use(s)
	if _, err := js.AddStream(&nats.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish("s", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s.Stop()
	o.Port = s.Port()
	again := start(t, o)
	if again.URL() != s.URL() {
		t.Fatalf("%s, then %s", s.URL(), again.URL())
	}
	m, err := use(again, nats.InProcessServer(again)).GetLastMsg("S", "s")
	if err != nil || string(m.Data) != "kept" {
		t.Fatal(m, err)
	}
}

func TestStartFailsAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken := l.Addr().(*net.TCPAddr).Port
	for name, o := range map[string]embednats.Options{
		"port taken":     {Dir: t.TempDir(), Port: taken},
		"dir is a file":  {Dir: file},
		"bad host":       {Dir: t.TempDir(), Host: "no such host"},
		"cluster halves": {Dir: t.TempDir(), Cluster: embednats.Cluster{Name: "c"}},
	} {
		began := time.Now()
		if s, err := embednats.Start(context.Background(), o); err == nil {
			s.Stop()
			t.Errorf("%s: started", name)
		} else if time.Since(began) > 10*time.Second {
			t.Errorf("%s: only after %v: %v", name, time.Since(began), err)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := embednats.Start(ended, embednats.Options{Dir: t.TempDir(), Port: taken}); err == nil {
		t.Error("started under an ended context")
	}
}

func TestOptionsNameEveryBadField(t *testing.T) {
	_, err := embednats.Start(context.Background(), embednats.Options{Port: -1, MaxPayload: 1, MaxStore: -1})
	for _, want := range []string{"dir", "port", "max payload", "max store"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
