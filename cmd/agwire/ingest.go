package main

import (
	"context"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/services/ingest"
)

func ingestCommand() command {
	return command{
		name: "ingest", summary: "take native frames over HTTP into the log", signals: true,
		setup: func(set *config.Set) runFunc {
			shell, cfg := app.DefaultConfig("127.0.0.1:8081"), ingest.Defaults()
			var nats broker
			set.Add("Ingest", cfg.Settings()...)
			set.Add("NATS", nats.service()...)
			set.Add("Process", shell.Settings()...)
			set.Rules(nats.serviceRules()...)
			return func(ctx context.Context, p *process, _ []string) error {
				sh, err := p.newShell(shell, "")
				if err != nil {
					return err
				}
				conn, err := nats.open(ctx, nats.options("agwire ingest", sh.log))
				if err != nil {
					return err
				}
				defer conn.Close()
				svc, err := ingest.New(cfg, ingest.Deps{Bus: conn, Log: sh.log, Metrics: sh.metrics})
				if err != nil {
					return err
				}
				if err := sh.app.Add("ingest", svc); err != nil {
					return err
				}
				return sh.run(ctx)
			}
		},
	}
}
