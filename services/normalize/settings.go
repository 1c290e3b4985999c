package normalize

import (
	"errors"
	"time"

	"github.com/agwire/agwire/internal/config"
)

// Settings are the configuration's settings; they fill c, whose present values are the defaults.
func (c *Config) Settings() []config.Setting {
	return []config.Setting{
		&config.StringVar{Name: "normalize-worker", To: &c.Worker, Default: c.Worker, Kind: "id",
			Help: "id of this worker, unique among normalize workers and best stable over restarts; empty is the host's name and the port of --listen"},
		&config.DurationVar{Name: "normalize-ttl", To: &c.TTL, Default: c.TTL, Min: 300 * time.Millisecond, Max: time.Hour,
			Help: "a worker silent for this long is replaced"},
		&config.DurationVar{Name: "normalize-idle-after", To: &c.IdleAfter, Default: c.IdleAfter, Min: time.Second, Max: 30 * 24 * time.Hour,
			Help: "an invoke silent for this long is ended as idle"},
		&config.IntVar{Name: "normalize-window", To: &c.Window, Default: c.Window, Min: 1, Max: 998, Unit: "messages",
			Help: "event messages in flight beyond the last contiguous ack"},
		sizeVar("normalize-max-batch", &c.MaxBatch, 1<<10, 16<<20, "events gathered in one message before the next is begun"),
		sizeVar("normalize-max-gathered", &c.MaxGathered, 1<<10, 1<<30, "events that wait in one shard before reading pauses"),
		&config.DurationVar{Name: "normalize-checkpoint-after", To: &c.CheckpointAfter, Default: c.CheckpointAfter, Min: 100 * time.Millisecond,
			Max: time.Hour, Help: "time between checkpoints while frames come"},
		&config.IntVar{Name: "normalize-checkpoint-every", To: &c.CheckpointEvery, Default: c.CheckpointEvery, Min: 1, Max: 1 << 20,
			Unit: "messages", Help: "event messages between checkpoints, at most"},
		&config.IntVar{Name: "normalize-threads", To: &c.Threads, Default: c.Threads, Min: 1, Max: 1 << 24, Unit: "threads",
			Help: "threads kept in memory a shard beside those with open invokes"},
		&config.DurationVar{Name: "normalize-drain", To: &c.Drain, Default: c.Drain, Min: time.Millisecond, Max: time.Hour,
			Help: "budget for what is in flight when a shard is given up"},
	}
}

// Rules are the rules over these settings that go beyond the range of each.
func (c *Config) Rules() []config.Rule {
	return []config.Rule{{Names: []string{"normalize-max-gathered", "normalize-max-batch"}, Check: func() error {
		if c.MaxGathered < c.MaxBatch {
			return errors.New("is less than normalize-max-batch")
		}
		return nil
	}}}
}

// sizeVar is a size setting of a field that is an int.
func sizeVar(name string, to *int, low, high int64, help string) config.Setting {
	return &config.IntVar{Name: name, To: to, Default: *to, Min: int(low), Max: int(high), Unit: "bytes", Help: help}
}
