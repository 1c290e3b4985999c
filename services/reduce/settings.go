package reduce

import (
	"time"

	"github.com/agwire/agwire/internal/config"
)

// Settings are the configuration's settings; they fill c, whose present values are the defaults.
func (c *Config) Settings() []config.Setting {
	return []config.Setting{
		&config.StringVar{Name: "reduce-worker", To: &c.Worker, Default: c.Worker, Kind: "id",
			Help: "id of this worker, unique among reduce workers and best stable over restarts; empty is the host's name and the port of --listen"},
		&config.DurationVar{Name: "reduce-ttl", To: &c.TTL, Default: c.TTL, Min: 300 * time.Millisecond, Max: time.Hour,
			Help: "a worker silent for this long is replaced"},
		&config.DurationVar{Name: "reduce-delay", To: &c.Delay, Default: c.Delay, Min: 0, Max: 10 * time.Second,
			Help: "from the first change of a thread to its write; the end of a turn is written at once"},
		&config.IntVar{Name: "reduce-parallel", To: &c.Parallel, Default: c.Parallel, Min: 1, Max: 10_000, Unit: "threads",
			Help: "loads and writes at once"},
		&config.IntVar{Name: "reduce-threads", To: &c.Threads, Default: c.Threads, Min: 1, Max: 1 << 24, Unit: "threads",
			Help: "folds kept in memory a shard"},
		&config.SizeVar{Name: "reduce-memory", To: &c.Memory, Default: c.Memory, Min: 1 << 20, Max: 1 << 42,
			Help: "folds kept in memory, about"},
		&config.SizeVar{Name: "reduce-max-unwritten", To: &c.MaxUnwritten, Default: c.MaxUnwritten, Min: 64 << 10, Max: 1 << 36,
			Help: "messages that are read and not written yet, at which reading pauses"},
		&config.DurationVar{Name: "reduce-progress", To: &c.Progress, Default: c.Progress, Min: 10 * time.Millisecond, Max: time.Hour,
			Help: "time between records of a shard's progress, which also notice that Redis was emptied"},
		&config.DurationVar{Name: "reduce-audit", To: &c.Audit, Default: c.Audit, Min: time.Second, Max: 30 * 24 * time.Hour,
			Help: "time between searches for threads that Redis has lost"},
		&config.DurationVar{Name: "reduce-drain", To: &c.Drain, Default: c.Drain, Min: time.Millisecond, Max: time.Hour,
			Help: "budget for what is unwritten when a shard is given up"},
	}
}
