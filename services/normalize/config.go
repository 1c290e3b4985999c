package normalize

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
)

// Config of the service. Start from Defaults.
type Config struct {
	Worker          string        // id of this worker, unique among normalize workers, best stable over restarts; not empty
	TTL             time.Duration // a worker silent for this long is replaced; at least 300ms
	IdleAfter       time.Duration // an invoke silent for this long is ended as idle; at least 1s
	Window          int           // event messages in flight beyond the last contiguous ack; 1 to 998
	MaxBatch        int           // bytes of events gathered in one message before the next is begun; at least 1024
	MaxGathered     int           // bytes of events that wait in one shard before reading pauses; at least MaxBatch
	CheckpointAfter time.Duration // at most this long between checkpoints while frames come; at least 100ms
	CheckpointEvery int           // at most this many event messages between checkpoints; > 0
	Threads         int           // threads kept in memory a shard beside those with open invokes; > 0
	Drain           time.Duration // budget for what is in flight when a shard is given up; > 0
}

// Defaults are good values for everything but Worker.
func Defaults() Config {
	return Config{
		TTL: 2 * time.Second, IdleAfter: 10 * time.Minute, Window: 256, MaxBatch: 256 << 10, MaxGathered: 32 << 20,
		CheckpointAfter: 5 * time.Second, CheckpointEvery: 1000, Threads: 4096, Drain: 10 * time.Second,
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
	check(c.IdleAfter >= time.Second, "idle-after", "at least 1s")
	check(c.Window >= 1 && c.Window <= 998, "window", "1 to 998")
	check(c.MaxBatch >= 1024, "max-batch", "at least 1024 bytes")
	check(c.MaxGathered >= c.MaxBatch, "max-gathered", "at least max-batch")
	check(c.CheckpointAfter >= 100*time.Millisecond, "checkpoint-after", "at least 100ms")
	check(c.CheckpointEvery > 0, "checkpoint-every", "more than 0")
	check(c.Threads > 0, "threads", "more than 0")
	check(c.Drain > 0, "drain", "more than 0")
	return errors.Join(errs...)
}

// Deps are what the service uses and does not own.
type Deps struct {
	Bus     *bus.Bus
	Log     *zap.Logger
	Metrics prometheus.Registerer
}
