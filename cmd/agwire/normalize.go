package main

import (
	"cmp"
	"context"
	"net"
	"os"
	"strconv"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/services/normalize"
)

// workerName is what a worker is called when nobody names it: the host and the port it listens on, which stay the same over
// restarts, and which no two processes of one host share.
func workerName(listen string) string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "worker"
	}
	_, port, err := net.SplitHostPort(listen)
	if err != nil || port == "0" {
		port = "pid-" + strconv.Itoa(os.Getpid())
	}
	return host + "-" + port
}

func normalizeCommand() command {
	return command{
		name: "normalize", summary: "turn frames into AgJSON events on each thread's log", signals: true,
		setup: func(set *config.Set) runFunc {
			shell, cfg := app.DefaultConfig("127.0.0.1:8082"), normalize.Defaults()
			var nats broker
			set.Add("Normalize", cfg.Settings()...)
			set.Add("NATS", nats.service()...)
			set.Add("Process", shell.Settings()...)
			set.Rules(nats.serviceRules()...)
			set.Rules(cfg.Rules()...)
			return func(ctx context.Context, p *process, _ []string) error {
				cfg.Worker = cmp.Or(cfg.Worker, workerName(shell.Listen))
				sh, err := p.newShell(shell, cfg.Worker)
				if err != nil {
					return err
				}
				o := nats.options("agwire normalize", sh.log)
				o.Window = cfg.Window
				conn, err := nats.open(ctx, o)
				if err != nil {
					return err
				}
				defer conn.Close()
				svc, err := normalize.New(cfg, normalize.Deps{Bus: conn, Log: sh.log, Metrics: sh.metrics})
				if err != nil {
					return err
				}
				if err := sh.app.Add("normalize", svc); err != nil {
					return err
				}
				return sh.run(ctx)
			}
		},
	}
}
