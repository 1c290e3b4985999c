package e2e_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Fifty threads at once, fifty clients whose lines are each cut three times, and whatever is killed: at the end every client's
// fold is what convert | fold makes of the same frames, and whoever was not reset was told every ordinal once.
func TestKill(t *testing.T) {
	const threads = 50
	t.Run("normalize and reduce", func(t *testing.T) {
		s := startSystem(t)
		s.soak(t, planThreads(t, threads, 0), 12*time.Second, func() {
			for _, name := range []string{"normalize", "reduce", "normalize", "reduce"} {
				pause(1200 * time.Millisecond)
				s.crash(400*time.Millisecond, name)
			}
			pause(1200 * time.Millisecond)
			s.crash(200*time.Millisecond, "normalize", "reduce")
		})
	})
	t.Run("ingest and fanout", func(t *testing.T) {
		s := startSystem(t)
		s.soak(t, planThreads(t, threads, 50), 9*time.Second, func() {
			for range 2 {
				pause(1200 * time.Millisecond)
				s.crash(300*time.Millisecond, "ingest")
				pause(1200 * time.Millisecond)
				s.crash(300*time.Millisecond, "fanout")
			}
		})
	})
	// What JetStream has acknowledged outlives its process, at one replica and with the default of when it syncs; Redis holds
	// nothing that is not in the log.
	t.Run("nats and redis", func(t *testing.T) {
		s := startSystem(t)
		s.soak(t, planThreads(t, threads, 100), 12*time.Second, func() {
			pause(2 * time.Second)
			s.crash(300*time.Millisecond, "redis")
			pause(1500 * time.Millisecond)
			s.crash(500*time.Millisecond, "nats")
			pause(2 * time.Second)
			s.crash(200*time.Millisecond, "redis")
			s.crash(500*time.Millisecond, "nats", "normalize")
		})
	})
}

// An owner that stands still is replaced, and when it goes on it must not write: it has become a zombie. A broker that stands
// still for longer than writes wait must cost no frame and double none.
func TestStall(t *testing.T) {
	s := startSystem(t)
	for _, name := range []string{"normalize", "reduce"} {
		s.second(name)
	}
	s.soak(t, planThreads(t, 20, 150), 16*time.Second, func() {
		stall := func(d time.Duration, names ...string) {
			for _, name := range names {
				s.procs[name].freeze()
			}
			pause(d)
			for _, name := range names {
				s.procs[name].thaw()
			}
			t.Logf("stopped %s for %v", strings.Join(names, " and "), d)
		}
		pause(time.Second)
		stall(3500*time.Millisecond, "normalize", "reduce")
		pause(time.Second)
		stall(3500*time.Millisecond, "normalize-2", "reduce-2")
		pause(time.Second)
		stall(2500*time.Millisecond, "nats")
	})
	for _, name := range []string{"normalize", "normalize-2"} {
		if !strings.Contains(s.procs[name].printed(), "claimed a shard") {
			t.Errorf("%s has never owned a shard", name)
		}
	}
}

// second starts another worker of a service beside the first, under a name and an address of its own.
func (s *system) second(name string) {
	s.t.Helper()
	c := s.command(name)
	c.name += "-2"
	listen := net.JoinHostPort("127.0.0.1", freePorts.port(s.t))
	c.env = append(c.env, "AGWIRE_LISTEN="+listen, "AGWIRE_"+strings.ToUpper(name)+"_WORKER=second")
	s.procs[c.name] = start(s.t, c)
	eventually(s.t, 30*time.Second, c.name+" is ready", func() bool {
		r, err := ready(http.DefaultClient, "http://"+listen)
		return err == nil && r.Ready
	})
}
