package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// newServer serves mux with limits that do not cut streams short: only the header
// of a request and an idle connection are timed.
func newServer(mux http.Handler, log *zap.Logger) *http.Server {
	srv := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	if std, err := zap.NewStdLogAt(log, zap.DebugLevel); err == nil {
		srv.ErrorLog = std
	}
	return srv
}

// probes adds /healthz, /readyz, /metrics and, if asked for, /debug/pprof/.
func (a *App) probes(gatherer prometheus.Gatherer) {
	a.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		_, _ = io.WriteString(w, "ok\n")
	})
	a.mux.HandleFunc("GET /readyz", a.readyz)
	a.mux.Handle("GET /metrics", promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{}))
	if a.cfg.Pprof {
		a.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		a.mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		a.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		a.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
		a.mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		a.mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	}
}

// readiness is the body of /readyz.
type readiness struct {
	Ready    bool              `json:"ready"`
	Stopping bool              `json:"stopping,omitempty"`
	Services map[string]bool   `json:"services"`
	Why      map[string]string `json:"why,omitempty"` // by service, of those that are not ready
}

func (a *App) readyz(w http.ResponseWriter, _ *http.Request) {
	r := readiness{Stopping: a.stopping.Load(), Services: map[string]bool{}}
	r.Ready = !r.Stopping
	for _, u := range a.units {
		ok := u.ready()
		r.Services[u.name] = ok
		r.Ready = r.Ready && ok
		if !ok {
			if r.Why == nil {
				r.Why = map[string]string{}
			}
			r.Why[u.name] = u.why(r.Stopping)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !r.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(r)
}

// handle adds a pattern to mux; ServeMux panics on a bad or a conflicting one.
func handle(mux *http.ServeMux, pattern string, h http.Handler) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("route %q: %v", pattern, r)
		}
	}()
	mux.Handle(pattern, h)
	return nil
}

// gate passes requests on while the service of u runs.
func gate(u *unit, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !u.running.Load() {
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Connection", "close")
			http.Error(w, u.name+" is not running", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Listen binds the HTTP server's address and returns it, with the real port where
// the configured one is 0. From here on connections are queued; Run answers them,
// and calls Listen if nobody did.
func (a *App) Listen(ctx context.Context) (net.Addr, error) {
	if a.listener != nil {
		return a.listener.Addr(), nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", a.cfg.Listen, err)
	}
	a.listener = l
	return l.Addr(), nil
}

// Close releases the address when Run is never called; after Run it does nothing.
func (a *App) Close() error {
	if a.listener == nil {
		return nil
	}
	if err := a.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
