package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

// Service is one of the parts a process is made of.
type Service interface {
	// Run works until ctx ends, then drains and returns nil. Whatever else it
	// returns, and nil too early, stops the process.
	Run(ctx context.Context) error
	// Ready reports whether the service does its work now. It is called from any
	// goroutine and does not block.
	Ready() bool
}

// router is a service that answers HTTP: patterns of http.ServeMux and their
// handlers, asked for once, before Run.
type router interface {
	Routes() map[string]http.Handler
}

// explainer is a service that says in a few words why it is not ready; "" where it does not know. It is called as Ready is.
type explainer interface {
	Why() string
}

// ErrDrain says that services were still at work when the drain budget was over.
var ErrDrain = errors.New("drain budget exceeded")

// ErrEnded says that a service returned although nobody asked it to.
var ErrEnded = errors.New("ended unasked")

// readyPoll is how often a service that is starting is asked whether it is ready.
const readyPoll = 5 * time.Millisecond

// Deps is what an App uses and does not own.
type Deps struct {
	Log     *zap.Logger
	Metrics *prometheus.Registry // see NewRegistry
}

// App runs the services of one process. Add and Listen come before Run, all from one
// goroutine; Run is called once.
type App struct {
	cfg      Config
	deps     Deps
	mux      *http.ServeMux
	units    []*unit
	listener net.Listener
	stopping atomic.Bool
}

// unit is one service and where it stands.
type unit struct {
	name    string
	svc     Service
	running atomic.Bool   // Run has been called and has not returned
	cancel  func()        // ends Run's context
	done    chan struct{} // closed when Run has returned
}

func (u *unit) ready() bool { return u.running.Load() && u.svc.Ready() }

// why says in a few words why u is not ready.
func (u *unit) why(stopping bool) string {
	switch {
	case stopping:
		return "stopping"
	case !u.running.Load():
		return "starting"
	}
	if e, ok := u.svc.(explainer); ok {
		if why := e.Why(); why != "" {
			return why
		}
	}
	return "not ready"
}

// New checks cfg and reports every bad field at once; it opens nothing.
func New(cfg Config, deps Deps) (*App, error) {
	err := cfg.validate()
	if deps.Log == nil || deps.Metrics == nil {
		err = errors.Join(err, errors.New("a log and a registry are needed"))
	}
	if err != nil {
		return nil, fmt.Errorf("app: %w", err)
	}
	a := &App{cfg: cfg, deps: deps, mux: http.NewServeMux()}
	a.probes(deps.Metrics)
	return a, nil
}

// Add appends a service under a name that is its own in this process, and its
// routes, if it has a method Routes() map[string]http.Handler.
func (a *App) Add(name string, svc Service) error {
	u := &unit{name: name, svc: svc, cancel: func() {}, done: make(chan struct{})}
	if slices.ContainsFunc(a.units, func(o *unit) bool { return o.name == name }) {
		return fmt.Errorf("app: service %s is added twice", name)
	}
	if r, ok := svc.(router); ok {
		for pattern, h := range r.Routes() {
			if err := handle(a.mux, pattern, gate(u, h)); err != nil {
				return fmt.Errorf("app: service %s: %w", name, err)
			}
		}
	}
	if err := registerReady(a.deps.Metrics, u); err != nil {
		return fmt.Errorf("app: service %s: %w", name, err)
	}
	a.units = append(a.units, u)
	return nil
}

// Handle serves a pattern of [http.ServeMux] that belongs to no service.
func (a *App) Handle(pattern string, h http.Handler) error {
	if err := handle(a.mux, pattern, h); err != nil {
		return fmt.Errorf("app: %w", err)
	}
	return nil
}

// Run starts the services one after another and returns when all have ended: nil
// after ctx ended and all drained, else the first failure, or an [ErrDrain] that
// names those that did not end in time (their goroutines are then left behind).
func (a *App) Run(ctx context.Context) error {
	addr, err := a.Listen(ctx)
	if err != nil {
		return err
	}
	srv := newServer(a.mux, a.deps.Log)
	// Services and server outlive ctx: they end in order, not together.
	group, failed := errgroup.WithContext(context.WithoutCancel(ctx))
	group.Go(func() error {
		if err := srv.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve http: %w", err)
		}
		return nil
	})
	a.deps.Log.Info("listening", zap.String("address", addr.String()))

	a.start(ctx, failed, group)
	select {
	case <-ctx.Done():
	case <-failed.Done():
	}
	a.stopping.Store(true)
	a.deps.Log.Info("stopping", zap.Duration("budget", a.cfg.Drain))
	budget, release := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Drain)
	defer release()
	late := a.stop(budget)
	if err := srv.Shutdown(budget); err != nil {
		_ = srv.Close()
	}
	if late != nil {
		if cause := context.Cause(failed); cause != nil {
			return errors.Join(cause, late)
		}
		return late
	}
	if err := group.Wait(); err != nil {
		return err
	}
	a.deps.Log.Info("stopped")
	return nil
}

// start runs the services in order until all run or one of the contexts ends.
func (a *App) start(ctx, failed context.Context, group *errgroup.Group) {
	for i, u := range a.units {
		if ctx.Err() != nil || failed.Err() != nil {
			return
		}
		runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		u.cancel = cancel
		u.running.Store(true)
		group.Go(func() error {
			defer close(u.done)
			defer u.running.Store(false)
			err := u.svc.Run(runCtx)
			switch {
			case err == nil && runCtx.Err() == nil:
				return fmt.Errorf("%s: %w", u.name, ErrEnded)
			case err == nil, runCtx.Err() != nil && errors.Is(err, context.Canceled):
				return nil
			}
			return fmt.Errorf("%s: %w", u.name, err)
		})
		ready := a.awaitReady(ctx, failed, u)
		if i+1 < len(a.units) && !ready && ctx.Err() == nil && failed.Err() == nil {
			a.deps.Log.Warn("not ready in time, starting the next", zap.String("svc", u.name))
		}
	}
}

// awaitReady waits for u, but never for the last service: nobody waits behind it.
func (a *App) awaitReady(ctx, failed context.Context, u *unit) bool {
	if u == a.units[len(a.units)-1] {
		return u.ready()
	}
	timeout := time.NewTimer(a.cfg.StartWait)
	defer timeout.Stop()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for !u.ready() {
		select {
		case <-ctx.Done():
			return false
		case <-failed.Done():
			return false
		case <-timeout.C:
			return false
		case <-tick.C:
		}
	}
	return true
}

// stop ends the started services in reverse order, waiting for each while the
// budget lasts; then it ends all and names those that have not returned.
func (a *App) stop(budget context.Context) error {
	var late []string
	for _, u := range slices.Backward(a.units) {
		u.cancel()
		if !u.running.Load() {
			continue
		}
		select {
		case <-u.done:
		case <-budget.Done():
			if u.running.Load() {
				late = append(late, u.name)
			}
		}
	}
	if len(late) > 0 {
		return fmt.Errorf("%w: %v still at work", ErrDrain, late)
	}
	return nil
}
