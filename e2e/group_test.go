package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// group runs functions at once and gathers what went wrong. The zero group is ready.
type group struct {
	once   sync.Once
	wg     sync.WaitGroup
	cancel context.CancelFunc
	spawn  func(func(context.Context))

	mu   sync.Mutex
	errs []error
}

// run starts f, whose context ends with the group's time.
func (g *group) run(what string, f func(context.Context) error) {
	g.once.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		g.cancel = cancel
		g.spawn = func(do func(context.Context)) { g.wg.Go(func() { do(ctx) }) }
	})
	g.spawn(func(ctx context.Context) {
		if err := f(ctx); err != nil {
			g.mu.Lock()
			g.errs = append(g.errs, fmt.Errorf("%s: %w", what, err))
			g.mu.Unlock()
		}
	})
}

// wait waits until all have ended and fails the test for each that went wrong, or for all when limit passes.
func (g *group) wait(t testing.TB, limit time.Duration) {
	t.Helper()
	if g.spawn == nil {
		return
	}
	late := time.AfterFunc(limit, g.cancel)
	g.wg.Wait()
	if !late.Stop() {
		t.Errorf("not all had ended within %v", limit)
	}
	g.cancel()
	if err := errors.Join(g.errs...); err != nil {
		t.Fatal(err)
	}
}

// join waits until all have ended, and returns what went wrong.
func (g *group) join() error {
	if g.spawn == nil {
		return nil
	}
	g.wg.Wait()
	g.cancel()
	return errors.Join(g.errs...)
}
