package main

import (
	"time"

	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/snapshot"
)

// redisStore is how a command reaches Redis.
type redisStore struct {
	o   snapshot.Options
	url config.URL
}

// service are the settings of a service.
func (r *redisStore) service() []config.Setting {
	return append(r.address(&config.URLVar{Default: "redis://127.0.0.1:6379/0", Help: "Redis server"}), r.limits()...)
}

// embedded are the settings of agwire up, which starts a Redis where no URL is given.
func (r *redisStore) embedded() []config.Setting {
	return append(r.address(&config.URLVar{Help: "Redis server"}), r.limits()...)
}

func (r *redisStore) address(url *config.URLVar) []config.Setting {
	url.Name, url.To = "redis-url", &r.url
	url.Schemes = []string{"redis", "rediss", "unix", "redis+cluster", "rediss+cluster"}
	return []config.Setting{url}
}

func (r *redisStore) limits() []config.Setting {
	return []config.Setting{
		&config.StringVar{Name: "redis-prefix", To: &r.o.Prefix, Default: "agw:", Help: "of every Redis key"},
		&config.IntVar{Name: "redis-pool", To: &r.o.PoolSize, Default: 32, Min: 1, Max: 10_000, Unit: "connections", Help: "connections to each Redis server"},
		&config.DurationVar{Name: "redis-timeout", To: &r.o.Timeout, Default: 10 * time.Second, Min: 10 * time.Millisecond, Max: time.Minute,
			Help: "of one read or write on a Redis connection"},
		&config.SizeVar{Name: "redis-max-value", To: &r.o.MaxValue, Default: 64 << 20, Min: 1, Max: 256 << 20, Help: "largest message, turn or artifact stored"},
		&config.SizeVar{Name: "redis-max-snapshot", To: &r.o.MaxSnapshot, Default: 256 << 20, Min: 1, Max: 768 << 20, Help: "largest thread stored"},
		&config.DurationVar{Name: "redis-tombstone-ttl", To: &r.o.TombstoneTTL, Default: 7 * 24 * time.Hour, Min: time.Millisecond,
			Max: 365 * 24 * time.Hour, Help: "how long a deleted thread is remembered, so that a late writer does not bring it back"},
	}
}

// rules are the rules over these settings. What a field of the store may hold is the store's to say.
func (r *redisStore) rules() []config.Rule {
	rule := func(options func() snapshot.Options, names ...string) config.Rule {
		return config.Rule{Names: names, Check: func() error {
			o := options()
			if o.URL == "" {
				o.URL = "redis://127.0.0.1"
			}
			return config.Reason(o.Validate())
		}}
	}
	return []config.Rule{
		rule(func() snapshot.Options { return snapshot.Options{URL: r.url.Reveal()} }, "redis-url"),
		rule(func() snapshot.Options { return snapshot.Options{Prefix: r.o.Prefix} }, "redis-prefix"),
		rule(func() snapshot.Options { return snapshot.Options{MaxValue: r.o.MaxValue, MaxSnapshot: r.o.MaxSnapshot} },
			"redis-max-snapshot", "redis-max-value"),
	}
}

// open prepares the store; whoever calls it closes it.
func (r *redisStore) open() (*snapshot.Store, error) {
	o := r.o
	o.URL = r.url.Reveal()
	return snapshot.New(o)
}
