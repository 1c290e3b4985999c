package e2e_test

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"
)

// eventually polls until ok, and fails the test when limit has passed.
func eventually(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	if !within(limit, ok) {
		t.Fatalf("not within %v: %s", limit, what)
	}
}

// within polls until ok, and says whether that was before limit had passed.
func within(limit time.Duration, ok func() bool) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late.C:
			return ok()
		}
	}
	return true
}

// pause lets time pass where time itself is what a test is about: pacing, and chaos.
func pause(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

// ports hands out ports of the loopback, each once. They lie below those that the kernel gives to connections, since one of
// these would else take the port of a service that is away for a moment.
type ports struct {
	mu   sync.Mutex
	used map[int]bool
}

var freePorts = ports{used: map[int]bool{}}

// port is a free one.
func (p *ports) port(t testing.TB) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for range 1000 {
		n := 18000 + rand.IntN(14000)
		if p.used[n] {
			continue
		}
		p.used[n] = true
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(n)))
		if err != nil {
			continue
		}
		l.Close()
		return strconv.Itoa(n)
	}
	t.Fatal("no port is free")
	return ""
}
