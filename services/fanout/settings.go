package fanout

import (
	"time"

	"github.com/agwire/agwire/internal/config"
)

// Settings are the configuration's settings; they fill c, whose present values are the defaults.
func (c *Config) Settings() []config.Setting {
	return []config.Setting{
		&config.DurationVar{Name: "fanout-heartbeat", To: &c.Heartbeat, Default: c.Heartbeat, Min: 100 * time.Millisecond, Max: 5 * time.Minute,
			Help: "time between the heartbeats of a connection; proxies cut what is silent for a minute"},
		&config.SizeVar{Name: "fanout-queue", To: &c.Queue, Default: c.Queue, Min: 16 << 10, Max: 1 << 36,
			Help: "what may wait for one client, all its threads together; beyond it the client is resynced from the snapshot"},
		&config.SizeVar{Name: "fanout-keep", To: &c.Keep, Default: c.Keep, Min: 16 << 10, Max: 1 << 36,
			Help: "newest messages kept in memory of a thread with clients; who is further behind reads the log"},
		&config.IntVar{Name: "fanout-chunk", To: &c.Chunk, Default: c.Chunk, Min: 1 << 10, Max: 4 << 20, Unit: "bytes",
			Help: "events in one message to a client, about"},
		&config.DurationVar{Name: "fanout-stuck", To: &c.Stuck, Default: c.Stuck, Min: 100 * time.Millisecond, Max: time.Hour,
			Help: "a client that takes nothing for this long is closed, to come back with its cursors"},
		&config.IntVar{Name: "fanout-max-connections", To: &c.MaxConnections, Default: c.MaxConnections, Min: 1, Max: 1 << 24, Unit: "connections",
			Help: "connections of this process; beyond it new ones are told to try later"},
		&config.IntVar{Name: "fanout-max-subscriptions", To: &c.MaxSubscriptions, Default: c.MaxSubscriptions, Min: 1, Max: 1 << 20, Unit: "threads",
			Help: "threads that one connection may follow"},
		&config.IntVar{Name: "fanout-max-message", To: &c.MaxMessage, Default: c.MaxMessage, Min: 1 << 10, Max: 16 << 20, Unit: "bytes",
			Help: "largest message that a client may send"},
		&config.IntVar{Name: "fanout-fetches", To: &c.Fetches, Default: c.Fetches, Min: 1, Max: 10_000, Unit: "reads",
			Help: "reads of the log and of the snapshot store at once"},
		&config.IntVar{Name: "fanout-socket-buffer", To: &c.SocketBuffer, Default: c.SocketBuffer, Max: 64 << 20, Unit: "bytes",
			Help: "what the kernel keeps for a WebSocket that is not read; 0 is the kernel's choice"},
		&config.ListVar{Name: "fanout-origins", To: &c.Origins, Default: c.Origins, Check: checkOrigin,
			Help: "origins of pages that may connect, beside this server's own and those of the loopback: scheme://host:port, or * for any"},
		&config.DurationVar{Name: "fanout-drain", To: &c.Drain, Default: c.Drain, Min: time.Millisecond, Max: time.Hour,
			Help: "time over which connections are told to leave at shutdown"},
	}
}
