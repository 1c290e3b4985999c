package embedredis_test

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/agwire/agwire/internal/embedredis"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, srv *embedredis.Server) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opts)
	t.Cleanup(func() { client.Close() })
	return client
}

func start(t *testing.T, port int) *embedredis.Server {
	t.Helper()
	srv, err := embedredis.Start(port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

func TestStartAndClose(t *testing.T) {
	srv := start(t, 0)
	client := connect(t, srv)
	if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got := client.Eval(t.Context(), "return redis.call('GET', KEYS[1])", []string{"k"}).Val(); got != "v" {
		t.Errorf("a script reads %v", got)
	}
	srv.Close()
	srv.Close()
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("a closed server answers")
	}
}

func TestListensOnLoopbackAtThePort(t *testing.T) {
	first := start(t, 0)
	u, err := url.Parse(first.URL())
	if err != nil || u.Hostname() != "127.0.0.1" {
		t.Fatalf("URL is %s", first.URL())
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	if srv, err := embedredis.Start(port); err == nil {
		srv.Close()
		t.Error("a taken port is taken again")
	}
	first.Close()
	second := start(t, port)
	if want := fmt.Sprint("redis://", net.JoinHostPort("127.0.0.1", u.Port())); second.URL() != want {
		t.Errorf("URL is %s, want %s", second.URL(), want)
	}
	for _, bad := range []int{-1, 65536} {
		if srv, err := embedredis.Start(bad); err == nil {
			srv.Close()
			t.Errorf("port %d is accepted", bad)
		}
	}
}

// A key expires by the clock, with no help, and no other does.
func TestTimeToLive(t *testing.T) {
	client := connect(t, start(t, 0))
	for key, ttl := range map[string]time.Duration{"short": 300 * time.Millisecond, "long": time.Hour, "none": 0} {
		if err := client.Set(t.Context(), key, "v", ttl).Err(); err != nil {
			t.Fatal(err)
		}
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(20 * time.Second)
	for client.Exists(t.Context(), "short").Val() != 0 {
		if time.Now().After(deadline) {
			t.Fatal("the key stays")
		}
		<-tick.C
	}
	if ttl := client.PTTL(t.Context(), "long").Val(); ttl <= 59*time.Minute || ttl >= time.Hour {
		t.Errorf("the long one lives for %v", ttl)
	}
	if n := client.Exists(t.Context(), "none").Val(); n != 1 {
		t.Error("a key without a time to live is gone")
	}
}

// What a command costs does not grow with the keys there are.
func TestManyKeys(t *testing.T) {
	client := connect(t, start(t, 0))
	const keys, commands = 50_000, 2_000
	pairs := make([]any, 0, 2*keys)
	for i := range keys {
		pairs = append(pairs, fmt.Sprint("key ", i), "v")
	}
	if err := client.MSet(t.Context(), pairs...).Err(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	pipe := client.Pipeline()
	for i := range commands {
		pipe.Get(t.Context(), fmt.Sprint("key ", i))
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A sort of all keys with each command takes over a minute.
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("%d commands with %d keys take %v", commands, keys, took)
	}
}
