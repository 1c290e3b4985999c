package embednats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/zap"
)

// Cluster makes a server one of several. The zero value is a single server.
type Cluster struct {
	Name   string   // the cluster's name, the same on each server
	Server string   // this server's name, unique in the cluster
	Port   int      // of the routes of this server, on Options.Host; > 0
	Routes []string // "host:port" of every server's routes
}

// Options say how a server runs.
type Options struct {
	Dir        string // of the JetStream store; made if missing; required
	Host       string // listens there; "" = 127.0.0.1
	Port       int    // 0 = a free one
	MaxPayload int    // of one message, bytes; 0 = the server's 1 MiB; at least 1024
	MaxStore   int64  // bytes on disk; 0 = what the server finds free
	SyncAlways bool   // fsync before each acknowledgement: slower, survives power loss
	Cluster    Cluster
	Log        *zap.Logger // nil = silent
}

// startWithin bounds how long a server may take until it takes clients.
const startWithin = 30 * time.Second

func (o Options) validate() error {
	var errs []error
	if o.Dir == "" {
		errs = append(errs, errors.New("dir: empty"))
	}
	if o.Port < 0 || o.Port > 65535 {
		errs = append(errs, fmt.Errorf("port: %d is not in 0 to 65535", o.Port))
	}
	if o.MaxPayload != 0 && (o.MaxPayload < 1024 || o.MaxPayload > 64<<20) {
		errs = append(errs, fmt.Errorf("max payload: %d is not in 1024 to %d", o.MaxPayload, 64<<20))
	}
	if o.MaxStore < 0 {
		errs = append(errs, errors.New("max store: negative"))
	}
	if c := o.Cluster; c.Name != "" && (c.Server == "" || c.Port <= 0 || len(c.Routes) == 0) {
		errs = append(errs, errors.New("cluster: needs a server name, a port and routes"))
	}
	return errors.Join(errs...)
}

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	srv  *server.Server
	host string
	port int
}

// Start runs a server and returns once it takes clients, or ctx ends. It
// reports every bad option at once.
func Start(ctx context.Context, o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("embedded nats: %w", err)
	}
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	srv, err := server.NewServer(serverOptions(o))
	if err != nil {
		return nil, fmt.Errorf("embedded nats: %w", err)
	}
	l := &logger{z: zap.NewNop().Sugar()}
	if o.Log != nil {
		l.z = o.Log.Sugar()
	}
	srv.SetLogger(l, false, false)
	srv.Start()
	deadline := time.Now().Add(startWithin)
	for !srv.ReadyForConnections(50 * time.Millisecond) {
		if err := ctx.Err(); err != nil {
			stop(srv)
			return nil, fmt.Errorf("embedded nats: start: %w", err)
		}
		if why := l.fatal.Load(); why != nil {
			stop(srv)
			return nil, fmt.Errorf("embedded nats: %s", *why)
		}
		if !srv.Running() || time.Now().After(deadline) {
			stop(srv)
			return nil, errors.New("embedded nats: not ready for clients")
		}
	}
	addr, ok := srv.Addr().(*net.TCPAddr)
	if !ok {
		stop(srv)
		return nil, errors.New("embedded nats: no TCP listener")
	}
	return &Server{srv: srv, host: o.Host, port: addr.Port}, nil
}

func serverOptions(o Options) *server.Options {
	so := &server.Options{
		Host:                   o.Host,
		Port:                   o.Port,
		JetStream:              true,
		StoreDir:               o.Dir,
		JetStreamMaxStore:      o.MaxStore,
		SyncAlways:             o.SyncAlways,
		NoSigs:                 true,
		NoLog:                  true, // its own; the logger is set
		DisableJetStreamBanner: true,
		MaxPayload:             int32(o.MaxPayload),
	}
	if o.Port == 0 {
		so.Port = server.RANDOM_PORT
	}
	if c := o.Cluster; c.Name != "" {
		so.ServerName = c.Server
		so.Cluster = server.ClusterOpts{Name: c.Name, Host: o.Host, Port: c.Port}
		so.Routes = server.RoutesFromStr(routes(c.Routes))
	}
	return so
}

func routes(addrs []string) string {
	s := ""
	for i, a := range addrs {
		if i > 0 {
			s += ","
		}
		s += "nats://" + a
	}
	return s
}

// URL is where clients connect.
func (s *Server) URL() string {
	return fmt.Sprintf("nats://%s", net.JoinHostPort(s.host, fmt.Sprint(s.port)))
}

// Port is the port of URL.
func (s *Server) Port() int { return s.port }

// InProcessConn opens a connection that does not pass the network.
func (s *Server) InProcessConn() (net.Conn, error) { return s.srv.InProcessConn() }

// JetStreamReady tells whether the server takes JetStream requests: at once
// for a single one, once a leader of the cluster is known for several.
func (s *Server) JetStreamReady() bool {
	if !s.srv.JetStreamEnabled() {
		return false
	}
	return !s.srv.JetStreamIsClustered() || s.srv.JetStreamIsCurrent()
}

// IsStreamLeader tells whether this server leads a stream of the default account.
func (s *Server) IsStreamLeader(stream string) bool {
	return s.srv.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stream)
}

// StepDown gives up the leadership of a stream of the default account.
func (s *Server) StepDown(stream string) error {
	return s.srv.JetStreamStepdownStream(server.DEFAULT_GLOBAL_ACCOUNT, stream)
}

// Running tells whether Stop was not called yet and the server did not end by itself.
func (s *Server) Running() bool { return s.srv.Running() }

// Stop ends the server and returns once it has ended. It may be called again.
func (s *Server) Stop() { stop(s.srv) }

func stop(srv *server.Server) {
	srv.Shutdown()
	srv.WaitForShutdown()
}

// logger gives the server's lines to zap, one level down: what is a notice
// to the server is a debug line to us. What the server calls fatal does not
// end the process; Start looks for it. Warnings of what a server finds after an
// unclean stop, some for each stream, are info lines behind one warning.
type logger struct {
	z          *zap.SugaredLogger
	fatal      atomic.Pointer[string]
	recovering sync.Once
}

func (l *logger) Noticef(format string, v ...any) { l.z.Debugf(format, v...) }
func (l *logger) Debugf(format string, v ...any)  { l.z.Debugf(format, v...) }
func (l *logger) Tracef(string, ...any)           {}
func (l *logger) Errorf(format string, v ...any)  { l.z.Errorf(format, v...) }

func (l *logger) Warnf(format string, v ...any) {
	if !recovery(format) {
		l.z.Warnf(format, v...)
		return
	}
	l.recovering.Do(func() { l.z.Warn("recovering the log after an unclean stop") })
	l.z.Infof(format, v...)
}

// recovery tells whether a warning is about the index of a stream, which is
// rebuilt from its messages.
func recovery(format string) bool {
	if !strings.HasPrefix(format, "Filestore [") || strings.HasSuffix(format, " on write") {
		return false
	}
	for _, about := range []string{"] Stream state ", "] Recovering ", "state is outdated; attempting to recover"} {
		if strings.Contains(format, about) {
			return true
		}
	}
	return false
}

func (l *logger) Fatalf(format string, v ...any) {
	why := fmt.Sprintf(format, v...)
	l.fatal.CompareAndSwap(nil, &why)
	l.z.Error(why)
}
