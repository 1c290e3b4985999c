package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/httpapi"
)

// Config of the service. Start from Defaults.
type Config struct {
	MaxFrame         int           // largest native frame, bytes; 1 KiB to 64 MiB
	MaxUploads       int           // uploads at once in this process; > 0
	MaxThreadUploads int           // uploads at once to one thread in this process; > 0
	Hold             time.Duration // how long an upload waits for the log before it is answered 503; > 0
	Beat             time.Duration // how often an open upload says that it lives; > 0, well below normalize's idle-after
}

// Defaults are good values.
func Defaults() Config {
	return Config{MaxFrame: 16 << 20, MaxUploads: 4096, MaxThreadUploads: 64, Hold: 30 * time.Second, Beat: 15 * time.Second}
}

func (c Config) validate() error {
	var errs []error
	check := func(ok bool, name, want string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: want %s", name, want))
		}
	}
	check(c.MaxFrame >= 1<<10 && c.MaxFrame <= 64<<20, "max-frame", "1 KiB to 64 MiB")
	check(c.MaxUploads > 0, "max-uploads", "more than 0")
	check(c.MaxThreadUploads > 0, "max-thread-uploads", "more than 0")
	check(c.Hold > 0, "hold", "more than 0")
	check(c.Beat > 0, "beat", "more than 0")
	return errors.Join(errs...)
}

// Deps are what the service uses and does not own.
type Deps struct {
	Bus     *bus.Bus
	Log     *zap.Logger
	Metrics prometheus.Registerer
}

// Service takes frames. Make one with New.
type Service struct {
	cfg   Config
	deps  Deps
	m     *metrics
	ready atomic.Bool

	mu      sync.Mutex
	uploads map[*http.ResponseController]bool
	threads map[string]int
	leaving bool
	empty   chan struct{} // closed when the last upload of a leaving service has ended
}

// New validates the configuration, every bad field at once, and does no I/O.
func New(cfg Config, deps Deps) (*Service, error) {
	err := cfg.validate()
	if deps.Bus == nil || deps.Log == nil || deps.Metrics == nil {
		err = errors.Join(err, errors.New("a dependency is missing"))
	}
	if err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	return &Service{cfg: cfg, deps: deps, m: newMetrics(deps.Metrics), uploads: map[*http.ResponseController]bool{}, threads: map[string]int{}, empty: make(chan struct{})}, nil
}

// Ready says whether uploads are taken now.
func (s *Service) Ready() bool { return s.ready.Load() && s.deps.Bus.Connected() }

// Why says what keeps uploads from being taken.
func (s *Service) Why() string {
	if s.ready.Load() && !s.deps.Bus.Connected() {
		return "NATS is not connected"
	}
	return "starting"
}

// Routes are the patterns that the service serves while it runs.
func (s *Service) Routes() map[string]http.Handler {
	return map[string]http.Handler{
		"POST /v1/threads/{thread}/invokes/{invoke}/frames": http.HandlerFunc(s.post),
		"GET /v1/threads/{thread}/invokes/{invoke}/frames":  http.HandlerFunc(s.get),
	}
}

// Run serves until ctx ends, and then until the uploads that are open have come to the end of what they have read: they are
// told to come back. nil means that every frame acknowledged is stored, which holds at any other end too.
func (s *Service) Run(ctx context.Context) error {
	s.ready.Store(true)
	<-ctx.Done()
	s.ready.Store(false)
	s.mu.Lock()
	s.leaving = true
	if len(s.uploads) == 0 {
		s.mu.Unlock()
		return nil
	}
	for c := range s.uploads {
		_ = c.SetReadDeadline(time.Now()) // a body that is waited for
	}
	s.mu.Unlock()
	<-s.empty
	return nil
}

// enter admits an upload, or says why not.
func (s *Service) enter(thread string, c *http.ResponseController) *httpapi.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.leaving:
		return refusal(http.StatusServiceUnavailable, "draining", "this server is leaving", time.Second)
	case len(s.uploads) >= s.cfg.MaxUploads:
		return refusal(http.StatusTooManyRequests, "too_many_uploads", "too many uploads at once", time.Second)
	case s.threads[thread] >= s.cfg.MaxThreadUploads:
		return refusal(http.StatusTooManyRequests, "too_many_uploads", "too many uploads to this thread at once", time.Second)
	}
	s.uploads[c] = true
	s.threads[thread]++
	s.m.open.Inc()
	return nil
}

func (s *Service) leave(thread string, c *http.ResponseController) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.uploads, c)
	if s.threads[thread]--; s.threads[thread] == 0 {
		delete(s.threads, thread)
	}
	s.m.open.Dec()
	if s.leaving && len(s.uploads) == 0 {
		close(s.empty)
	}
}

func (s *Service) isLeaving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaving
}
