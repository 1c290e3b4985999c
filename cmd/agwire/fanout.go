package main

import (
	"context"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/services/fanout"
	"github.com/agwire/agwire/web"
)

func fanoutCommand() command {
	return command{
		name: "fanout", summary: "serve threads to clients over WebSocket and SSE, and the page", signals: true,
		setup: func(set *config.Set) runFunc {
			shell, cfg := app.DefaultConfig("127.0.0.1:8080"), fanout.Defaults()
			var base reading
			set.Add("Fanout", cfg.Settings()...)
			base.define(set)
			set.Add("Process", shell.Settings()...)
			return func(ctx context.Context, p *process, _ []string) error {
				sh, err := p.newShell(shell, "")
				if err != nil {
					return err
				}
				o, err := base.open(ctx, sh, "agwire fanout")
				if err != nil {
					return err
				}
				defer o.Close()
				svc, err := fanout.New(cfg, fanout.Deps{
					Bus: o.bus, Joiner: o.threads, Store: o.store, Log: sh.log, Metrics: sh.metrics, Routes: o.threads.Routes(),
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
