package threads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/singleflight"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/snapshot"
)

// Config of the reader. Start from Defaults.
type Config struct {
	Folds     int           // threads folded from the log at once; > 0
	StoreWait time.Duration // how long Redis is waited for before the log is read instead; > 0
	Wait      time.Duration // how long an answer over HTTP, or a fold from the log, may take; > 0
}

// Defaults are good values.
func Defaults() Config {
	return Config{Folds: 4, StoreWait: time.Second, Wait: 30 * time.Second}
}

func (c Config) validate() error {
	var errs []error
	check := func(ok bool, name, want string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: want %s", name, want))
		}
	}
	check(c.Folds > 0, "folds", "more than 0")
	check(c.StoreWait > 0, "store-wait", "more than 0")
	check(c.Wait > 0, "wait", "more than 0")
	return errors.Join(errs...)
}

// Deps are what the reader uses and does not own.
type Deps struct {
	Bus     *bus.Bus
	Store   *snapshot.Store
	Log     *zap.Logger
	Metrics prometheus.Registerer
}

// Threads reads threads. It is safe for concurrent use.
type Threads struct {
	cfg    Config
	deps   Deps
	m      *metrics
	flight singleflight.Group
	slots  chan struct{} // one place for each fold from the log
}

// New validates the configuration, every bad field at once, and does no I/O.
func New(cfg Config, deps Deps) (*Threads, error) {
	err := cfg.validate()
	if deps.Bus == nil || deps.Store == nil || deps.Log == nil || deps.Metrics == nil {
		err = errors.Join(err, errors.New("a dependency is missing"))
	}
	if err != nil {
		return nil, fmt.Errorf("threads: %w", err)
	}
	return &Threads{cfg: cfg, deps: deps, m: newMetrics(deps.Metrics), slots: make(chan struct{}, cfg.Folds)}, nil
}

// Join is the thread as a late reader starts from it: what is stored, as it is stored, else folded from the log. What is stored
// may be some milliseconds behind the log, or of an epoch that has just ended there: go on with the log behind StreamSeq.
//
// Errors: bus.ErrNotFound if there is no such thread; bus.ErrTrimmed or a bus.ErrPoison if it is not stored and the log cannot be
// folded; anything else means that neither Redis nor the broker has answered.
func (t *Threads) Join(ctx context.Context, thread string) (Pair, error) {
	s, err := t.load(ctx, thread)
	if err == nil {
		p, err := storedPair(&s)
		if err == nil {
			t.m.reads.WithLabelValues(sourceStore).Inc()
			return p, nil
		}
		t.deps.Log.Warn("what is stored cannot be read", zap.String("thread", thread), zap.Error(err))
	} else if errors.Is(err, snapshot.ErrDeleted) {
		return Pair{}, fmt.Errorf("join: %w", bus.ErrNotFound)
	}
	f, err := t.fold(ctx, thread, nil)
	if err != nil {
		return Pair{}, fmt.Errorf("join: %w", err)
	}
	p := f.pair
	p.FromLog = true
	return p, nil
}

// load reads what is stored, within StoreWait.
func (t *Threads) load(ctx context.Context, thread string) (snapshot.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.StoreWait)
	defer cancel()
	s, err := t.deps.Store.Load(ctx, thread)
	switch {
	case err == nil, errors.Is(err, snapshot.ErrNotFound):
	case errors.Is(err, snapshot.ErrIncomplete):
		t.m.misses.WithLabelValues(missIncomplete).Inc()
	default:
		t.m.misses.WithLabelValues(missRedis).Inc()
	}
	return s, err
}

// folded is a thread as the log has it.
type folded struct {
	at     snapshot.Position
	pair   Pair
	result []byte // AgReduceResult
}

// fold folds a thread from the log, once for all who ask at the same time, at most Config.Folds at once. base, where it is not nil,
// makes a fold to go on from; it is called once at most.
func (t *Threads) fold(ctx context.Context, thread string, base func() *Fold) (folded, error) {
	for {
		v, err, _ := t.flight.Do(thread, func() (any, error) {
			ctx, cancel := context.WithTimeout(ctx, t.cfg.Wait)
			defer cancel()
			select {
			case t.slots <- struct{}{}:
				defer func() { <-t.slots }()
			case <-ctx.Done():
				return folded{}, ctx.Err()
			}
			return t.foldNow(ctx, thread, base)
		})
		if errors.Is(err, context.Canceled) && ctx.Err() == nil {
			continue // it was the first one's context that ended
		}
		if err != nil {
			return folded{}, err
		}
		return v.(folded), nil
	}
}

func (t *Threads) foldNow(ctx context.Context, thread string, base func() *Fold) (out folded, err error) {
	var from *Fold
	if base != nil {
		from = base()
	}
	err = bus.Guard(func() error {
		f, err := FromLog(ctx, t.deps.Bus, thread, from)
		if err != nil {
			return err
		}
		if f.at == (snapshot.Position{}) {
			return bus.ErrNotFound
		}
		out = folded{at: f.at, pair: foldPair(f), result: foldResult(f)}
		return nil
	})
	if err == nil {
		t.m.reads.WithLabelValues(sourceLog).Inc()
	}
	return out, err
}
