package ingest

import (
	"time"

	"github.com/agwire/agwire/internal/config"
)

// Settings are the configuration's settings; they fill c, whose present values are the defaults.
func (c *Config) Settings() []config.Setting {
	return []config.Setting{
		&config.IntVar{Name: "ingest-max-frame", To: &c.MaxFrame, Default: c.MaxFrame, Min: 1 << 10, Max: 64 << 20, Unit: "bytes",
			Help: "largest native frame"},
		&config.IntVar{Name: "ingest-max-uploads", To: &c.MaxUploads, Default: c.MaxUploads, Min: 1, Max: 1 << 20, Unit: "uploads",
			Help: "uploads at once in this process"},
		&config.IntVar{Name: "ingest-max-thread-uploads", To: &c.MaxThreadUploads, Default: c.MaxThreadUploads, Min: 1, Max: 1 << 20,
			Unit: "uploads", Help: "uploads at once to one thread in this process"},
		&config.DurationVar{Name: "ingest-hold", To: &c.Hold, Default: c.Hold, Min: time.Millisecond, Max: time.Hour,
			Help: "how long an upload waits for the log before it is answered 503"},
		&config.DurationVar{Name: "ingest-beat", To: &c.Beat, Default: c.Beat, Min: 10 * time.Millisecond, Max: time.Hour,
			Help: "how often an open upload says that it lives; well below normalize-idle-after"},
	}
}
