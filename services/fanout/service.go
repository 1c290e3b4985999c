package fanout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/httpapi"
	"github.com/agwire/agwire/internal/wait"
)

// Service carries threads to clients. Make one with New.
type Service struct {
	cfg   Config
	deps  Deps
	m     *metrics
	slots chan struct{} // one place for each read of the log or the store
	ready atomic.Bool
	away  atomic.Bool    // Redis has not answered the last time it was asked
	wg    sync.WaitGroup // connections; added to while mu is held and not leaving

	mu      sync.Mutex
	rooms   map[string]*room
	clients map[*client]struct{}
	taken   int // places of connections, those being opened included
	serial  int
	leaving bool
}

// New validates the configuration, every bad field at once, and does no I/O.
func New(cfg Config, deps Deps) (*Service, error) {
	err := cfg.validate()
	if deps.Bus == nil || deps.Joiner == nil || deps.Log == nil || deps.Metrics == nil {
		err = errors.Join(err, errors.New("a dependency is missing"))
	}
	if err != nil {
		return nil, fmt.Errorf("fanout: %w", err)
	}
	deps.Log = deps.Log.With(zap.String("svc", "fanout"))
	return &Service{
		cfg: cfg, deps: deps, m: newMetrics(deps.Metrics), slots: make(chan struct{}, cfg.Fetches),
		rooms: map[string]*room{}, clients: map[*client]struct{}{},
	}, nil
}

// Ready says whether clients are taken now.
func (s *Service) Ready() bool { return s.ready.Load() && s.deps.Bus.Connected() }

// Routes are the patterns that the service serves while it runs: its own and those of Deps.Routes, for the same pages.
func (s *Service) Routes() map[string]http.Handler {
	routes := map[string]http.Handler{
		"GET /v1/ws":                      http.HandlerFunc(s.serveSocket),
		"GET /v1/threads/{thread}/events": http.HandlerFunc(s.serveEvents),
	}
	for pattern, h := range s.deps.Routes {
		routes[pattern] = s.shared(h)
	}
	for pattern := range maps.Clone(routes) {
		if p := preflightOf(pattern); p != "" && !strings.HasSuffix(p, "/ws") {
			routes[p] = http.HandlerFunc(s.preflight)
		}
	}
	return routes
}

// Run serves until ctx ends, and then tells the connections to leave, one after another over the drain budget. Every goroutine
// of the service has ended when it returns. It is called once.
func (s *Service) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.ready.Store(false) })
	defer stop()
	s.ready.Store(ctx.Err() == nil)
	defer s.ready.Store(false)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.rounds(gctx, s.beat) })
	g.Go(func() error { return s.rounds(gctx, s.look) })
	_ = g.Wait() // they end with ctx
	late := s.drain()
	s.wg.Wait()
	late.Stop()
	return nil
}

// drain has the connections leave. The timer cuts those that do not.
func (s *Service) drain() *time.Timer {
	s.mu.Lock()
	s.leaving = true
	list := make([]*client, 0, len(s.clients))
	for c := range s.clients { // in no order, so that the nodes they go to next share them
		list = append(list, c)
	}
	s.mu.Unlock()
	late := time.AfterFunc(s.cfg.Drain, func() {
		for _, c := range list {
			c.sink.cut()
		}
	})
	// The last part of the budget is for those who do not answer.
	over, began := s.cfg.Drain*3/4, time.Now()
	for i, c := range list {
		c.finish(closeDraining, "draining: come back with your cursors")
		due := time.Until(began.Add(over * time.Duration(i+1) / time.Duration(len(list))))
		if i+1 < len(list) && due > time.Millisecond {
			_ = wait.For(context.Background(), due)
		}
	}
	return late
}

// admit takes a place for a connection, or says why not. The place is given back with leave.
func (s *Service) admit(r *http.Request) *httpapi.Error {
	refuse := func(status int, code, message string, retry time.Duration) *httpapi.Error {
		s.m.refused.WithLabelValues(code).Inc()
		return &httpapi.Error{Status: status, Code: code, Message: message, Retry: retry}
	}
	if !s.allowed(r) {
		return refuse(http.StatusForbidden, "origin", "pages of this origin may not read here", 0)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.leaving || !s.ready.Load():
		return refuse(http.StatusServiceUnavailable, "draining", "this server is not serving", time.Second)
	case s.taken >= s.cfg.MaxConnections:
		return refuse(http.StatusServiceUnavailable, "too_many_connections", "too many connections", 5*time.Second)
	}
	s.taken++
	s.wg.Add(1)
	return nil
}

// leave gives a place back; nothing of the connection is left.
func (s *Service) leave() {
	s.mu.Lock()
	s.taken--
	s.mu.Unlock()
	s.wg.Done()
}

// open counts a client in.
func (s *Service) open(c *client) {
	s.mu.Lock()
	c.slot = s.serial % slots
	s.serial++
	s.clients[c] = struct{}{}
	leaving := s.leaving
	s.mu.Unlock()
	s.m.connections.WithLabelValues(c.wire.String()).Inc()
	if leaving {
		c.finish(closeGoingAway, "leaving: come back with your cursors")
	}
}

// shut ends a client and counts it out.
func (s *Service) shut(c *client) {
	c.shut()
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	s.m.connections.WithLabelValues(c.wire.String()).Dec()
}

// enter is the room of a thread, for one user more.
func (s *Service) enter(ctx context.Context, thread string) *room {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[thread]
	if r == nil {
		r = newRoom(ctx, s, thread)
		s.rooms[thread] = r
		s.m.rooms.Inc()
	}
	r.users++
	return r
}

// exit leaves a room; the last one ends it.
func (s *Service) exit(r *room) {
	s.mu.Lock()
	r.users--
	last := r.users == 0
	if last {
		delete(s.rooms, r.thread)
	}
	s.mu.Unlock()
	if last {
		s.m.rooms.Dec()
		r.close()
	}
}

// slot waits for a place among those who read.
func (s *Service) slot(ctx context.Context) (leave func(), err error) {
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// head asks the log for a thread's head.
func (s *Service) head(ctx context.Context, thread string) (bus.Head, error) {
	leave, err := s.slot(ctx)
	if err != nil {
		return bus.Head{}, err
	}
	defer leave()
	return s.deps.Bus.Head(ctx, thread)
}

// retried notes that a call failed and is tried again.
func (s *Service) retried(what string, err error) {
	s.m.retries.WithLabelValues(what).Inc()
	s.deps.Log.Debug("tried in vain", zap.String("subject", what), zap.Error(err))
}
