package normalize

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/agwire/agwire/internal/bus"
)

// group is the name under which normalize workers share the shards.
const group = "normalize"

// Service maps the frames of the shards it owns. Make one with New.
type Service struct {
	cfg   Config
	deps  Deps
	owner *bus.Owner
	m     *metrics
	ready atomic.Bool

	mu     sync.Mutex
	broken map[int]attempts // by shard
}

// attempts counts how often one frame has ended the work on its shard.
type attempts struct {
	seq uint64
	n   int
}

// maxAttempts is how often a frame may do so before it is passed over.
const maxAttempts = 3

// New validates the configuration, every bad field at once, and does no I/O.
func New(cfg Config, deps Deps) (*Service, error) {
	var errs []error
	if err := cfg.validate(); err != nil {
		errs = append(errs, err)
	}
	if deps.Bus == nil || deps.Log == nil || deps.Metrics == nil {
		errs = append(errs, errors.New("a dependency is missing"))
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("normalize: %w", errors.Join(errs...))
	}
	owner, err := deps.Bus.NewOwner(bus.OwnerOptions{Group: group, ID: cfg.Worker, TTL: cfg.TTL, Beat: cfg.TTL / 4})
	if err != nil {
		return nil, fmt.Errorf("normalize: %w", err)
	}
	return &Service{cfg: cfg, deps: deps, owner: owner, m: newMetrics(deps.Metrics), broken: map[int]attempts{}}, nil
}

// Ready says whether the service takes part in the work. A worker among many may own no shard for a while and is ready still.
func (s *Service) Ready() bool { return s.ready.Load() && s.deps.Bus.Connected() }

// Why says what keeps the service from being ready.
func (s *Service) Why() string {
	if s.ready.Load() && !s.deps.Bus.Connected() {
		return "NATS is not connected"
	}
	return "starting"
}

// Run works until ctx ends; nil means a clean drain: what was in flight is stored, and the shards are another worker's.
// Every goroutine it started has ended when it returns.
func (s *Service) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.ready.Store(false) })
	defer stop()
	s.ready.Store(true)
	err := s.owner.Run(ctx, s.shard)
	s.ready.Store(false)
	if err != nil {
		return fmt.Errorf("normalize: %w", err)
	}
	return nil
}

// tried counts another end of the work on a shard at a frame, and says how often that was.
func (s *Service) tried(shard int, seq uint64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.broken[shard]
	if a.seq != seq {
		a = attempts{seq: seq}
	}
	a.n++
	s.broken[shard] = a
	return a.n
}

// parked says whether a frame has failed too often.
func (s *Service) parked(shard int, seq uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.broken[shard]
	return a.seq == seq && a.n >= maxAttempts
}
