package fanout

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
)

// Config of the service. Start from Defaults.
type Config struct {
	Heartbeat        time.Duration // between heartbeats of a connection; at least 20ms
	Queue            int64         // bytes that may wait for one client, all its threads together; at least 16 KiB
	Keep             int64         // bytes of newest messages that are kept of a thread with clients; at least 16 KiB
	Chunk            int           // bytes of events in one message to a client, about; 1 KiB to 4 MiB
	Stuck            time.Duration // a client that takes nothing for this long is closed; > 0
	MaxConnections   int           // of this process; > 0
	MaxSubscriptions int           // of one connection; > 0
	MaxMessage       int           // largest message of a client, bytes; at least 1 KiB
	Fetches          int           // reads of the log and the store at once; > 0
	SocketBuffer     int           // bytes the kernel keeps for an unread WebSocket; 0 = its default
	Origins          []string      // of pages beside this server's own and loopback ones: "https://app.example.com", or "*" for any
	Drain            time.Duration // over which connections are told to leave at shutdown; > 0
}

// Defaults are good values.
func Defaults() Config {
	return Config{
		Heartbeat: 15 * time.Second, Queue: 4 << 20, Keep: 1 << 20, Chunk: 64 << 10, Stuck: 20 * time.Second,
		MaxConnections: 20_000, MaxSubscriptions: 1000, MaxMessage: 16 << 10, Fetches: 64, SocketBuffer: 256 << 10, Drain: 10 * time.Second,
	}
}

func (c Config) validate() error {
	var errs []error
	check := func(ok bool, name, want string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: want %s", name, want))
		}
	}
	check(c.Heartbeat >= 20*time.Millisecond, "heartbeat", "at least 20ms")
	check(c.Queue >= 16<<10, "queue", "at least 16 KiB")
	check(c.Keep >= 16<<10, "keep", "at least 16 KiB")
	check(c.Chunk >= 1<<10 && c.Chunk <= 4<<20, "chunk", "1 KiB to 4 MiB")
	check(c.Stuck > 0, "stuck", "more than 0")
	check(c.MaxConnections > 0, "max-connections", "more than 0")
	check(c.MaxSubscriptions > 0, "max-subscriptions", "more than 0")
	check(c.MaxMessage >= 1<<10, "max-message", "at least 1 KiB")
	check(c.Fetches > 0, "fetches", "more than 0")
	check(c.SocketBuffer >= 0, "socket-buffer", "0 or more")
	check(c.Drain > 0, "drain", "more than 0")
	for _, o := range c.Origins {
		if err := checkOrigin(o); err != nil {
			errs = append(errs, fmt.Errorf("origins: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Joiner gives what a late reader of a thread starts from; *threads.Threads is one. Its errors are those of threads.Threads.Join.
type Joiner interface {
	Join(ctx context.Context, thread string) (threads.Pair, error)
}

// Positions says where threads stand in Redis, without those that are not there; *snapshot.Store is one.
type Positions interface {
	Positions(ctx context.Context, threads []string) (map[string]snapshot.Position, error)
}

// Deps are what the service uses and does not own.
type Deps struct {
	Bus     *bus.Bus
	Joiner  Joiner
	Store   Positions // says whether a turn is open; nil = as of the last join
	Log     *zap.Logger
	Metrics prometheus.Registerer
	Routes  map[string]http.Handler // served beside the service's own, such as the read API; may be nil
}
