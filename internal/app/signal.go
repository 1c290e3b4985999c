package app

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// SignalContext is parent until the first SIGINT or SIGTERM ends it, with the
// signal as its cause; the second one calls exit, which is [os.Exit] but in tests,
// at once, with 128 and the signal's number. The caller calls stop when the process
// needs the signals no more; it must not be called from exit.
func SignalContext(parent context.Context, exit func(code int)) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		if sig := next(signals, done); sig != 0 {
			cancel(fmt.Errorf("signal: %v", sig))
		}
		if sig := next(signals, done); sig != 0 {
			exit(128 + int(sig))
		}
	})
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
		watching.Wait()
		cancel(context.Canceled)
	})
}

// next is the next signal, or 0 once done is closed.
func next(signals <-chan os.Signal, done <-chan struct{}) syscall.Signal {
	select {
	case sig := <-signals:
		if s, ok := sig.(syscall.Signal); ok {
			return s
		}
	case <-done:
	}
	return 0
}
