package main

import (
	"context"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/threads"
	"github.com/agwire/agwire/services/fanout"
	"github.com/agwire/agwire/web"
)

func fanoutCommand() command {
	return command{
		name: "fanout", summary: "serve threads to clients over WebSocket and SSE, and the page", signals: true,
		setup: func(set *config.Set) runFunc {
			shell, cfg := app.DefaultConfig("127.0.0.1:8080"), fanout.Defaults()
			reading := threads.Defaults()
			var nats broker
			var store redisStore
			set.Add("Fanout", cfg.Settings()...)
			set.Add("Read API", reading.Settings()...)
			set.Add("NATS", nats.service()...)
			set.Add("Redis", store.service()...)
			set.Add("Process", shell.Settings()...)
			set.Rules(nats.serviceRules()...)
			set.Rules(store.rules()...)
			return func(ctx context.Context, p *process, _ []string) error {
				sh, err := p.newShell(shell, "")
				if err != nil {
					return err
				}
				conn, err := nats.open(ctx, nats.options("agwire fanout", sh.log))
				if err != nil {
					return err
				}
				defer conn.Close()
				redis, err := store.open()
				if err != nil {
					return err
				}
				defer redis.Close()
				read, err := threads.New(reading, threads.Deps{Bus: conn, Store: redis, Log: sh.log, Metrics: sh.metrics})
				if err != nil {
					return err
				}
				svc, err := fanout.New(cfg, fanout.Deps{
					Bus: conn, Joiner: read, Store: redis, Log: sh.log, Metrics: sh.metrics, Routes: read.Routes(),
				})
				if err != nil {
					return err
				}
				if err := sh.app.Add("fanout", svc); err != nil {
					return err
				}
				if err := sh.app.Handle("/", web.Handler()); err != nil {
					return err
				}
				return sh.run(ctx)
			}
		},
	}
}
