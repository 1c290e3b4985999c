// Package app is the shell of a process: its log, its signals, the one HTTP
// server with probes and metrics, and the start and stop of its services in order.
//
// A process is any number of services, each a Run that blocks and a Ready that
// says whether it does its work now. [App.Run] starts them in the order they were
// added, each once the one before is ready or StartWait has passed, and stops them
// in the reverse order, each once the one after has ended, all within the budget
// Drain. Add what others depend on first: normalize before ingest, so that ingest
// ends before the frames it has stored go unread.
//
// The HTTP server is bound before the first service starts and closed after the
// last has ended, so probes outlive the drain. It answers /healthz (the process
// lives), /readyz (every service is started and ready, and nothing is stopping; who is
// not, and why, by a method Why() string where the service has one) and
// /metrics, and /debug/pprof/ where the setting asks for it. A service with a
// method Routes() map[string]http.Handler has those patterns of [http.ServeMux]
// served while it runs; before and after they answer 503. Two services may share the
// server as long as no pattern is the same: the more specific pattern wins.
//
// The package refuses to know what a service does, to restart one that failed (its
// supervisor restarts the process), and to open or close what services depend on:
// who opened a thing closes it, after Run has returned.
//
//	func main() {
//		ctx, stop := app.SignalContext(context.Background(), os.Exit)
//		defer stop()
//		cfg := app.DefaultConfig("127.0.0.1:8080")
//		set := config.NewSet()
//		set.Add("Process", cfg.Settings()...)
//		if _, err := set.Load(config.Source{Args: os.Args[1:], Environ: os.Environ()}); err != nil { … }
//		log, err := app.NewLogger(os.Stderr, cfg.LogFormat, cfg.LogLevel)
//		a, err := app.New(cfg, app.Deps{Log: log, Metrics: app.NewRegistry("v1.0.0")})
//		err = a.Add("reduce", reduceService)
//		addr, err := a.Listen(ctx)  // port 0 has become a real one
//		err = a.Run(ctx)            // nil after a clean drain
//	}
package app
