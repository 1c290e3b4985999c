package threads

import (
	"time"

	"github.com/agwire/agwire/internal/config"
)

// Settings are the configuration's settings; they fill c, whose present values are the defaults.
func (c *Config) Settings() []config.Setting {
	return []config.Setting{
		&config.IntVar{Name: "read-folds", To: &c.Folds, Default: c.Folds, Min: 1, Max: 10_000, Unit: "threads",
			Help: "threads folded from the log at once, for readers of what Redis does not have"},
		&config.DurationVar{Name: "read-store-wait", To: &c.StoreWait, Default: c.StoreWait, Min: time.Millisecond, Max: time.Minute,
			Help: "how long a reader waits for Redis before it reads the log instead"},
		&config.DurationVar{Name: "read-wait", To: &c.Wait, Default: c.Wait, Min: time.Millisecond, Max: time.Hour,
			Help: "how long one answer of the read API, or one fold from the log, may take"},
	}
}
