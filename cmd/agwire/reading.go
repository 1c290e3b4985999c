package main

import (
	"context"
	"errors"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
)

// reading is what the services that read threads stand on: the log, the snapshots, and the read API over both.
type reading struct {
	nats  broker
	redis redisStore
	api   threads.Config
}

// define adds the settings and their rules.
func (r *reading) define(set *config.Set) {
	r.api = threads.Defaults()
	set.Add("Read API", r.api.Settings()...)
	set.Add("NATS", r.nats.service()...)
	set.Add("Redis", r.redis.service()...)
	set.Rules(r.nats.serviceRules()...)
	set.Rules(r.redis.rules()...)
}

// opened is an open reading.
type opened struct {
	bus     *bus.Bus
	store   *snapshot.Store
	threads *threads.Threads
}

// open connects; whoever calls it closes what it returns.
func (r *reading) open(ctx context.Context, sh *shell, name string) (*opened, error) {
	conn, err := r.nats.open(ctx, r.nats.options(name, sh.log))
	if err != nil {
		return nil, err
	}
	o := &opened{bus: conn}
	if o.store, err = r.redis.open(); err == nil {
		o.threads, err = threads.New(r.api, threads.Deps{Bus: conn, Store: o.store, Log: sh.log, Metrics: sh.metrics})
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Close ends the connections.
func (o *opened) Close() error {
	defer o.bus.Close()
	if o.store == nil {
		return nil
	}
	return o.store.Close()
}
