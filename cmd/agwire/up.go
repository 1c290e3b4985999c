package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/embednats"
	"github.com/agwire/agwire/internal/embedredis"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
	"github.com/agwire/agwire/services/fanout"
	"github.com/agwire/agwire/services/ingest"
	"github.com/agwire/agwire/services/normalize"
	"github.com/agwire/agwire/services/reduce"
	"github.com/agwire/agwire/web"
)

// upConfig is what agwire up is told: all of the services' settings, and its own.
type upConfig struct {
	data      string
	natsPort  int
	redisPort int
	demo      bool
	shell     app.Config
	nats      broker
	store     redisStore
	ingest    ingest.Config
	normalize normalize.Config
	reduce    reduce.Config
	fanout    fanout.Config
	reading   threads.Config
}

func upCommand() command {
	return command{
		name: "up", summary: "run everything in one process, on an embedded NATS and Redis", signals: true,
		long: "Where --nats-url or --redis-url is given, that server is used instead of an embedded one. What was stored is in --data\n" +
			"and is there again after a restart. The HTTP address serves the page, ingest, and the clients.",
		setup: func(set *config.Set) runFunc {
			c := upConfig{
				shell: app.DefaultConfig("127.0.0.1:8080"), ingest: ingest.Defaults(), normalize: normalize.Defaults(),
				reduce: reduce.Defaults(), fanout: fanout.Defaults(), reading: threads.Defaults(),
			}
			c.shell.LogFormat, c.shell.LogLevel = "console", "warn"
			set.Add("Up",
				&config.StringVar{Name: "data", To: &c.data, Default: ".agwire", Kind: "path", Required: true, Help: "directory of the embedded NATS's store"},
				&config.IntVar{Name: "nats-port", To: &c.natsPort, Default: 4222, Min: 0, Max: 65535,
					Help: "port of the embedded NATS on 127.0.0.1, for tail, replay and producers of your own; 0, or one that is taken, is any free one"},
				&config.IntVar{Name: "redis-port", To: &c.redisPort, Default: 0, Min: 0, Max: 65535, FlagOnly: true,
					Help: "port on 127.0.0.1; 0 is any free one"},
				&config.BoolVar{Name: "demo", To: &c.demo, FlagOnly: true, Help: "replay real recorded agents into threads, as if they were live"})
			set.Add("NATS", c.nats.embedded()...)
			set.Add("Redis", c.store.embedded()...)
			set.Add("Ingest", c.ingest.Settings()...)
			set.Add("Normalize", c.normalize.Settings()...)
			set.Add("Reduce", c.reduce.Settings()...)
			set.Add("Fanout", c.fanout.Settings()...)
			set.Add("Read API", c.reading.Settings()...)
			set.Add("Process", c.shell.Settings()...)
			set.Rules(c.nats.serviceRules()...)
			set.Rules(c.store.rules()...)
			set.Rules(c.normalize.Rules()...)
			return func(ctx context.Context, p *process, _ []string) error { return c.run(ctx, p) }
		},
	}
}

// run starts the servers that are not given, then the services, and waits.
func (c *upConfig) run(ctx context.Context, p *process) (err error) {
	sh, err := p.newShell(c.shell, "")
	if err != nil {
		return err
	}
	if err := checkFree(ctx, c.shell.Listen); err != nil {
		return err
	}
	c.normalize.Worker = cmp.Or(c.normalize.Worker, workerName(c.shell.Listen))
	c.reduce.Worker = cmp.Or(c.reduce.Worker, workerName(c.shell.Listen))
	natsURL, stopNATS, err := c.startNATS(ctx, sh.log)
	if err != nil && ctx.Err() != nil {
		return exitStatus(0) // told to end while it recovers
	}
	if err != nil {
		return err
	}
	defer stopNATS()
	stopRedis, err := c.startRedis()
	if err != nil {
		return err
	}
	defer stopRedis()
	o := c.nats.options("agwire up", sh.log)
	o.URL, o.Window = natsURL, c.normalize.Window
	conn, err := c.nats.open(ctx, o)
	if err != nil {
		return err
	}
	defer conn.Close()
	redis, err := c.store.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, redis.Close()) }()
	if err := c.add(sh, conn, redis); err != nil {
		return err
	}
	addr, err := sh.app.Listen(ctx)
	if err != nil {
		return err
	}
	return c.serve(ctx, p.stdout, sh, addr, natsURL)
}

// checkFree refuses an address that is taken before anything else is started.
func checkFree(ctx context.Context, addr string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; --listen names another address, and port 0 is any free one", addr, err)
	}
	return l.Close()
}

// startNATS returns the URL that is given, or starts a server in --data.
func (c *upConfig) startNATS(ctx context.Context, log *zap.Logger) (url string, stop func(), err error) {
	if !c.nats.url.Empty() {
		return c.nats.url.Reveal(), func() {}, nil
	}
	unlock, err := lock(c.data)
	if err != nil {
		return "", nil, err
	}
	port := c.natsPort
	if port != 0 && checkFree(ctx, net.JoinHostPort("127.0.0.1", fmt.Sprint(port))) != nil {
		port = 0
	}
	srv, err := embednats.Start(ctx, embednats.Options{Dir: filepath.Join(c.data, "nats"), Port: port, Log: log})
	if err != nil {
		unlock()
		return "", nil, err
	}
	return srv.URL(), func() { srv.Stop(); unlock() }, nil
}

// lock keeps two processes out of one data directory.
func lock(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("data directory %s is in use by another agwire up; --data names another one", dir), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// startRedis takes the URL that is given, or starts a server.
func (c *upConfig) startRedis() (stop func(), err error) {
	if !c.store.url.Empty() {
		return func() {}, nil
	}
	srv, err := embedredis.Start(c.redisPort)
	if err != nil {
		return nil, err
	}
	c.store.url = config.NewURL(srv.URL())
	return srv.Close, nil
}

// add makes the services, those that others depend on first.
func (c *upConfig) add(sh *shell, conn *bus.Bus, redis *snapshot.Store) error {
	read, err := threads.New(c.reading, threads.Deps{Bus: conn, Store: redis, Log: sh.log, Metrics: sh.metrics})
	if err != nil {
		return err
	}
	norm, err := normalize.New(c.normalize, normalize.Deps{Bus: conn, Log: sh.named("normalize", c.normalize.Worker), Metrics: sh.metrics})
	if err != nil {
		return err
	}
	red, err := reduce.New(c.reduce, reduce.Deps{Bus: conn, Store: redis, Log: sh.named("reduce", c.reduce.Worker), Metrics: sh.metrics})
	if err != nil {
		return err
	}
	fan, err := fanout.New(c.fanout, fanout.Deps{
		Bus: conn, Joiner: read, Store: redis, Log: sh.named("fanout", ""), Metrics: sh.metrics, Routes: read.Routes(),
	})
	if err != nil {
		return err
	}
	ing, err := ingest.New(c.ingest, ingest.Deps{Bus: conn, Log: sh.named("ingest", ""), Metrics: sh.metrics})
	if err != nil {
		return err
	}
	return errors.Join(sh.app.Add("normalize", norm), sh.app.Add("reduce", red), sh.app.Add("fanout", fan), sh.app.Add("ingest", ing),
		sh.app.Handle("/", web.Handler()))
}

// serve says where everything is, and runs it, with the demo if that is wanted.
func (c *upConfig) serve(ctx context.Context, out io.Writer, sh *shell, addr net.Addr, natsURL string) error {
	page := "http://" + addr.String()
	fmt.Fprintf(out, "\n  Agwire is up.\n\n  page      %s\n  frames    POST %s/v1/threads/{thread}/invokes/{invoke}/frames?framework=…\n"+
		"  clients   ws://%s/v1/ws\n  log       agwire tail THREAD --nats-url %s\n\n", page, page, addr, config.NewURL(natsURL))
	if host, _, _ := net.SplitHostPort(addr.String()); !net.ParseIP(host).IsLoopback() {
		fmt.Fprintf(out, "  Others can reach %s, and nobody is asked who they are: put access control in front.\n\n", addr)
	}
	if !c.demo {
		return sh.run(ctx)
	}
	g, gctx := errgroup.WithContext(ctx)
	dctx, cancel := context.WithCancel(gctx)
	g.Go(func() error {
		defer cancel()
		return sh.run(gctx)
	})
	g.Go(func() error {
		if err := playDemo(dctx, out, sh.metrics, page, time.Now()); err != nil && dctx.Err() == nil {
			return err
		}
		return nil
	})
	return g.Wait()
}
