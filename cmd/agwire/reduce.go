package main

import (
	"cmp"
	"context"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/threads"
	"github.com/agwire/agwire/services/reduce"
)

func reduceCommand() command {
	return command{
		name: "reduce", summary: "keep each thread's snapshot in Redis", signals: true,
		setup: func(set *config.Set) runFunc {
			shell, cfg := app.DefaultConfig("127.0.0.1:8083"), reduce.Defaults()
			reading := threads.Defaults()
			var nats broker
			var store redisStore
			set.Add("Reduce", cfg.Settings()...)
			set.Add("Read API", reading.Settings()...)
			set.Add("NATS", nats.service()...)
			set.Add("Redis", store.service()...)
			set.Add("Process", shell.Settings()...)
			set.Rules(nats.serviceRules()...)
			set.Rules(store.rules()...)
			return func(ctx context.Context, p *process, _ []string) error {
				cfg.Worker = cmp.Or(cfg.Worker, workerName(shell.Listen))
				sh, err := p.newShell(shell, cfg.Worker)
				if err != nil {
					return err
				}
				conn, err := nats.open(ctx, nats.options("agwire reduce", sh.log))
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
				svc, err := reduce.New(cfg, reduce.Deps{Bus: conn, Store: redis, Log: sh.log, Metrics: sh.metrics, Routes: read.Routes()})
				if err != nil {
					return err
				}
				if err := sh.app.Add("reduce", svc); err != nil {
					return err
				}
				return sh.run(ctx)
			}
		},
	}
}
