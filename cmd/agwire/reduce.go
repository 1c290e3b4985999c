package main

import (
	"cmp"
	"context"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/services/reduce"
)

func reduceCommand() command {
	return command{
		name: "reduce", summary: "keep each thread's snapshot in Redis", signals: true,
		setup: func(set *config.Set) runFunc {
			shell, cfg := app.DefaultConfig("127.0.0.1:8083"), reduce.Defaults()
			var base reading
			set.Add("Reduce", cfg.Settings()...)
			base.define(set)
			set.Add("Process", shell.Settings()...)
			return func(ctx context.Context, p *process, _ []string) error {
				cfg.Worker = cmp.Or(cfg.Worker, workerName(shell.Listen))
				sh, err := p.newShell(shell, cfg.Worker)
				if err != nil {
					return err
				}
				o, err := base.open(ctx, sh, "agwire reduce")
				if err != nil {
					return err
				}
				defer o.Close()
				svc, err := reduce.New(cfg, reduce.Deps{Bus: o.bus, Store: o.store, Log: sh.log, Metrics: sh.metrics, Routes: o.threads.Routes()})
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
