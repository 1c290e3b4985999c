package reduce

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/bus"
)

// group is the name under which reduce workers share the shards.
const group = "reduce"

// Service folds the events of the shards it owns. Make one with New.
type Service struct {
	cfg   Config
	deps  Deps
	owner *bus.Owner
	m     *metrics
	slots chan struct{} // one place for each load or write under way

	ready   atomic.Bool
	answers atomic.Bool  // Redis has answered the last time it was asked how it is
	trouble atomic.Int64 // calls of Redis that have failed and are tried again
	pending atomic.Int64 // bytes of messages that are read and not written
	memory  atomic.Int64 // bytes of folds in memory
}

// New validates the configuration, every bad field at once, and does no I/O.
func New(cfg Config, deps Deps) (*Service, error) {
	err := cfg.validate()
	if deps.Bus == nil || deps.Store == nil || deps.Log == nil || deps.Metrics == nil {
		err = errors.Join(err, errors.New("a dependency is missing"))
	}
	if err != nil {
		return nil, fmt.Errorf("reduce: %w", err)
	}
	owner, err := deps.Bus.NewOwner(bus.OwnerOptions{Group: group, ID: cfg.Worker, TTL: cfg.TTL, Beat: cfg.TTL / 4})
	if err != nil {
		return nil, fmt.Errorf("reduce: %w", err)
	}
	deps.Log = deps.Log.With(zap.String("svc", group))
	return &Service{cfg: cfg, deps: deps, owner: owner, m: newMetrics(deps.Metrics), slots: make(chan struct{}, cfg.Parallel)}, nil
}

// Ready says whether the service takes part in the work: the broker is connected and Redis takes what is written. A worker
// among many may own no shard for a while and is ready still.
func (s *Service) Ready() bool {
	return s.ready.Load() && s.answers.Load() && s.trouble.Load() == 0 && s.deps.Bus.Connected()
}

// Why says what keeps the service from being ready.
func (s *Service) Why() string {
	switch {
	case !s.ready.Load():
		return "starting"
	case !s.deps.Bus.Connected():
		return "NATS is not connected"
	case !s.answers.Load():
		return "Redis does not answer"
	}
	return "calls of Redis fail and are tried again"
}

// Routes are the patterns that the service serves while it runs: Deps.Routes.
func (s *Service) Routes() map[string]http.Handler { return s.deps.Routes }

// Run works until ctx ends; nil means a clean drain: what was folded is written, and the shards are another worker's. What
// could not be written within the budget is folded again by the next owner. Every goroutine it started has ended when it
// returns.
func (s *Service) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.ready.Store(false) })
	defer stop()
	s.ready.Store(ctx.Err() == nil)
	defer s.ready.Store(false)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.owner.Run(ctx, s.shard) })
	g.Go(func() error { return s.watch(ctx) })
	if err := g.Wait(); err != nil {
		return fmt.Errorf("reduce: %w", err)
	}
	return nil
}

// pingEvery is how often an idle service asks Redis for a sign of life.
const pingEvery = time.Second

// watch asks Redis how it is until ctx ends.
func (s *Service) watch(ctx context.Context) error {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		err := s.deps.Store.Ping(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if was := s.answers.Swap(err == nil); was && err != nil {
			s.deps.Log.Warn("redis does not answer", zap.Error(err))
		} else if !was && err == nil {
			s.deps.Log.Info("redis answers")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Delays of a retry: doubled from the first to the last.
const (
	firstDelay = 20 * time.Millisecond
	lastDelay  = time.Second
)

// retry calls fn until it succeeds, or fails with what again refuses, or ctx ends. While it does the service is not ready.
func (s *Service) retry(ctx context.Context, what string, again func(error) bool, fn func() error) error {
	failed := false
	defer func() {
		if failed {
			s.trouble.Add(-1)
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for delay, attempt := firstDelay, 1; ; delay, attempt = min(2*delay, lastDelay), attempt+1 {
		err := fn()
		if err == nil || !again(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !failed {
			failed = true
			s.trouble.Add(1)
		}
		s.m.retries.WithLabelValues(what).Inc()
		s.deps.Log.Debug("tried in vain", zap.Int("attempt", attempt), zap.Error(err))
		timer.Reset(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
