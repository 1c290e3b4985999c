package natstest

import (
	"context"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/embednats"
)

// Within is how long Eventually waits. It is generous, since it is spent only
// by a test that fails.
const Within = 20 * time.Second

// Option changes the server under test.
type Option func(*embednats.Options)

// MaxPayload sets the largest message, in bytes, that the server takes.
func MaxPayload(n int) Option { return func(o *embednats.Options) { o.MaxPayload = n } }

// Server is one broker. Its methods may be called by one goroutine at a time.
type Server struct {
	opts embednats.Options
	srv  *embednats.Server
}

// New starts a single broker that ends with the test.
func New(t testing.TB, opts ...Option) *Server {
	t.Helper()
	o := embednats.Options{Dir: t.TempDir()}
	for _, f := range opts {
		f(&o)
	}
	s := &Server{opts: o}
	s.start(t)
	t.Cleanup(func() { s.srv.Stop() })
	return s
}

func (s *Server) start(t testing.TB) {
	t.Helper()
	srv, err := embednats.Start(context.Background(), s.opts)
	if err != nil {
		t.Fatal(err)
	}
	s.srv = srv
	s.opts.Port = srv.Port()
}

// URL is where clients connect; it stays the same over a restart.
func (s *Server) URL() string { return s.srv.URL() }

// Stop ends the broker. Start brings it back.
func (s *Server) Stop() { s.srv.Stop() }

// Start brings a stopped broker back: same address, same store.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.start(t)
}

// Restart stops the broker and starts it again: same address, same store.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop()
	s.Start(t)
}

// Eventually fails the test unless ok becomes true. It polls, at once and
// then every few milliseconds; what names the state that is waited for.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(Within)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", Within, what)
		}
		<-tick.C
	}
}
