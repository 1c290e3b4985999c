package reduce

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
)

// Config of the service. Start from Defaults.
type Config struct {
	Worker       string        // id of this worker, unique among reduce workers, best stable over restarts; not empty
	TTL          time.Duration // a worker silent for this long is replaced; at least 300ms
	Delay        time.Duration // from the first change of a thread to its write; 0 to 10s
	Parallel     int           // loads and writes at once in this process; 1 to 10,000
	Threads      int           // folds kept in memory a shard, beside those with something unwritten; > 0
	Memory       int64         // bytes of folds kept in memory by this process, about, likewise; at least 1 MiB
	MaxUnwritten int64         // bytes of messages that are read and not written, in this process, at which reading pauses; at least 64 KiB
	Progress     time.Duration // between records of a shard's progress, which also notice that Redis was emptied; at least 10ms
	Audit        time.Duration // between searches for threads that Redis has lost; at least 1s
	Drain        time.Duration // budget for what is unwritten when a shard is given up; > 0
}

// Defaults are good values for everything but Worker.
func Defaults() Config {
	return Config{
		TTL: 2 * time.Second, Delay: 30 * time.Millisecond, Parallel: 16, Threads: 4096, Memory: 1 << 30, MaxUnwritten: 64 << 20,
		Progress: time.Second, Audit: 5 * time.Minute, Drain: 10 * time.Second,
	}
}

func (c Config) validate() error {
	var errs []error
	check := func(ok bool, name, want string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: want %s", name, want))
		}
	}
	check(c.Worker != "", "worker", "an id")
	check(c.TTL >= 300*time.Millisecond, "ttl", "at least 300ms")
	check(c.Delay >= 0 && c.Delay <= 10*time.Second, "delay", "0 to 10s")
	check(c.Parallel >= 1 && c.Parallel <= 10_000, "parallel", "1 to 10000")
	check(c.Threads > 0, "threads", "more than 0")
	check(c.Memory >= 1<<20, "memory", "at least 1 MiB")
	check(c.MaxUnwritten >= 64<<10, "max-unwritten", "at least 64 KiB")
	check(c.Progress >= 10*time.Millisecond, "progress", "at least 10ms")
	check(c.Audit >= time.Second, "audit", "at least 1s")
	check(c.Drain > 0, "drain", "more than 0")
	return errors.Join(errs...)
}

// Deps are what the service uses and does not own.
type Deps struct {
	Bus     *bus.Bus
	Store   *snapshot.Store
	Log     *zap.Logger
	Metrics prometheus.Registerer
	Routes  map[string]http.Handler // served while the service runs: those of the read API, or nil
}
