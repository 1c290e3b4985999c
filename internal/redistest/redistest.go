package redistest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// The environment that names real servers.
const (
	EnvURL    = "AGWIRE_TEST_REDIS_URL"
	EnvServer = "AGWIRE_TEST_REDIS_SERVER"
)

// Server is a Redis for one test. Its methods are for the test's goroutine.
type Server struct {
	Name   string // "miniredis", "url", "server" or "cluster": a subtest's name
	URL    string // as snapshot.Options takes it
	Prefix string // of every key the test may use; nobody else uses it

	t     testing.TB
	owned process // nil for the server of AGWIRE_TEST_REDIS_URL
}

// process is a server that the test started.
type process interface {
	kill(t testing.TB)
	restart(t testing.TB)
}

// New gives the server of AGWIRE_TEST_REDIS_URL if there is one, else a miniredis.
func New(t testing.TB) *Server {
	t.Helper()
	if url := os.Getenv(EnvURL); url != "" {
		return external(t, url)
	}
	return mini(t)
}

// Each runs a test on every kind of server there is: a miniredis, the server of AGWIRE_TEST_REDIS_URL, and the binary of
// AGWIRE_TEST_REDIS_SERVER, alone and as a cluster of one node.
func Each(t *testing.T, test func(*testing.T, *Server)) {
	t.Helper()
	if url := os.Getenv(EnvURL); url != "" {
		t.Run("url", func(t *testing.T) { test(t, external(t, url)) })
	}
	EachOwned(t, test)
}

// EachOwned is [Each] without the shared server, for tests that kill theirs.
func EachOwned(t *testing.T, test func(*testing.T, *Server)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) { test(t, mini(t)) })
	if os.Getenv(EnvServer) == "" {
		return
	}
	t.Run("server", func(t *testing.T) { test(t, start(t, false)) })
	t.Run("cluster", func(t *testing.T) { test(t, start(t, true)) })
}

// Start runs the binary of AGWIRE_TEST_REDIS_SERVER on a free loopback port, with nothing saved to disk, until the test
// ends. The test fails if there is no such binary.
func Start(t testing.TB) *Server {
	t.Helper()
	return start(t, false)
}

// Kill ends the server without warning, and with it all that it held.
func (s *Server) Kill() {
	s.t.Helper()
	if s.owned == nil {
		s.t.Fatal("redistest: a shared server is not killed")
	}
	s.owned.kill(s.t)
}

// Restart starts a killed server again, empty, at the same URL.
func (s *Server) Restart() {
	s.t.Helper()
	if s.owned == nil {
		s.t.Fatal("redistest: a shared server is not restarted")
	}
	s.owned.restart(s.t)
}

// Pass lets at least d pass for what has a time to live: a miniredis is set forward by d, a real server has a clock, and d is
// waited for.
func (s *Server) Pass(d time.Duration) {
	s.t.Helper()
	if m, is := s.owned.(*miniProcess); is {
		(*miniredis.Miniredis)(m).FastForward(d)
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.t.Context().Done():
	}
}

// Client opens a plain client, for what a test does behind the store's back. It is closed when the test ends.
func (s *Server) Client() redis.UniversalClient {
	s.t.Helper()
	c, err := client(s.URL)
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// Flush removes every key below the test's prefix, and no other.
func (s *Server) Flush() {
	s.t.Helper()
	c, err := client(s.URL)
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
	defer c.Close()
	if err := flush(c, s.Prefix); err != nil {
		s.t.Fatalf("redistest: flush: %v", err)
	}
}

// Eventually waits until a condition holds, asking every few milliseconds, and fails the test after 20 s.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(20 * time.Second)
	defer end.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func external(t testing.TB, url string) *Server {
	t.Helper()
	s := &Server{Name: "url", URL: url, Prefix: newPrefix(), t: t}
	t.Cleanup(s.Flush)
	return s
}

func mini(t testing.TB) *Server {
	t.Helper()
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		t.Fatalf("redistest: start miniredis: %v", err)
	}
	t.Cleanup(m.Close)
	return &Server{Name: "miniredis", URL: "redis://" + m.Addr(), Prefix: newPrefix(), t: t, owned: (*miniProcess)(m)}
}

type miniProcess miniredis.Miniredis

func (m *miniProcess) kill(testing.TB) {
	(*miniredis.Miniredis)(m).Close()
	(*miniredis.Miniredis)(m).FlushAll()
}

func (m *miniProcess) restart(t testing.TB) {
	t.Helper()
	if err := (*miniredis.Miniredis)(m).Restart(); err != nil {
		t.Fatalf("redistest: restart miniredis: %v", err)
	}
}

func newPrefix() string { return "agwtest:" + rand.Text() + ":" }

func client(url string) (redis.UniversalClient, error) {
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if rest, ok := strings.CutPrefix(url, "redis+cluster://"); ok {
		o, err := redis.ParseClusterURL("redis://" + rest)
		if err != nil {
			return nil, fmt.Errorf("url: malformed")
		}
		o.MaintNotificationsConfig = quiet
		return redis.NewClusterClient(o), nil
	}
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("url: malformed")
	}
	o.MaintNotificationsConfig = quiet
	return redis.NewClient(o), nil
}

func flush(c redis.UniversalClient, prefix string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	one := func(ctx context.Context, c redis.Cmdable) error {
		it := c.Scan(ctx, 0, prefix+"*", 1000).Iterator()
		for it.Next(ctx) {
			if err := c.Unlink(ctx, it.Val()).Err(); err != nil {
				return err
			}
		}
		return it.Err()
	}
	if cluster, ok := c.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return one(ctx, c) })
	}
	return one(ctx, c)
}
