package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/httpapi"
)

// shell is what every command that runs services starts from.
type shell struct {
	log     *zap.Logger
	metrics *prometheus.Registry
	app     *app.App
}

// newShell makes the log, the registry and the app of a process, and logs the
// settings once, redacted. Every line of the log has the command as svc, and
// the worker's name where it has one, unless a service says otherwise.
func (p *process) newShell(cfg app.Config, worker string) (*shell, error) {
	log, err := app.NewLogger(p.stderr, cfg.LogFormat, cfg.LogLevel)
	if err != nil {
		return nil, err
	}
	log = log.With(zap.String("svc", p.name))
	if worker != "" {
		log = log.With(zap.String("worker", worker))
	}
	metrics := app.NewRegistry(version())
	a, err := app.New(cfg, app.Deps{Log: log, Metrics: metrics})
	if err != nil {
		return nil, err
	}
	if err := a.Handle("/v1/", httpapi.NotFound()); err != nil {
		return nil, err
	}
	if cfg.LogFormat == "json" {
		p.fatal = func(err error) { log.Error("failed", zap.NamedError("err", err)) }
	}
	log.Info("starting", zap.String("version", version()), zap.Any("settings", p.settings))
	return &shell{log: log, metrics: metrics, app: a}, nil
}

// named is the log of one service among several, and of its worker if it has one.
func (s *shell) named(svc, worker string) *zap.Logger {
	log := s.log.With(zap.String("svc", svc))
	if worker != "" {
		log = log.With(zap.String("worker", worker))
	}
	return log
}

// run runs what was added until ctx ends. Whoever added dependencies closes them afterwards.
func (s *shell) run(ctx context.Context) error {
	err := s.app.Run(ctx)
	if cause := context.Cause(ctx); cause != nil {
		s.log.Info("ended", zap.String("cause", cause.Error()))
	}
	return err
}
