package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/subject"
)

// maxWindow leaves room for a claim in one atomic batch of the server's 1,000.
const maxWindow = 998

// Bus is one connection to the broker. It is safe for concurrent use.
type Bus struct {
	opts    Options
	names   subject.Names
	nc      *nats.Conn
	js      jetstream.JetStream
	log     *zap.Logger
	payload int // the server's max_payload, bytes

	closed atomic.Bool
	lost   atomic.Int64  // when the connection broke, Unix nanoseconds; 0 while it is up
	server atomic.Value  // string: the server connected to last, redacted
	gone   chan struct{} // closed when the connection has ended

	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// listener is told of what can lose a subscription's messages.
type listener struct {
	sub         *nats.Subscription
	reconnected func()
	dropped     func()
}

// Connect opens the connection, trying again until ctx ends, but not where the
// broker refuses the credentials or their file is missing. It validates all
// options first, and tells Options.Log every few seconds that it waits. Close
// it with Close.
func Connect(ctx context.Context, o Options) (*Bus, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	o = o.withDefaults()
	names, err := subject.New(o.Prefix, o.Shards)
	if err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	b := &Bus{
		opts: o, names: names, log: o.Log,
		listeners: map[*listener]struct{}{},
	}
	waiting := b.waiting()
	err = retry(ctx, connectAgain, func(context.Context) error {
		gone := make(chan struct{})
		nc, err := nats.Connect(o.URL, b.natsOptions(gone)...)
		if err != nil {
			waiting(err)
			return err
		}
		b.server.Store(nc.ConnectedUrlRedacted())
		b.nc, b.gone, b.payload = nc, gone, int(nc.MaxPayload())
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", o.address(), err)
	}
	if b.js, err = jetstream.New(b.nc); err != nil {
		b.nc.Close()
		return nil, fmt.Errorf("bus: %w", err)
	}
	return b, nil
}

// waitingEvery is how often a start that waits says so.
const waitingEvery = 5 * time.Second

// waiting returns what is called with each failure to connect: it warns of the
// first one, and then every few seconds.
func (b *Bus) waiting() func(error) {
	began, last := time.Now(), time.Time{}
	return func(err error) {
		if !connectAgain(err) {
			return // it is returned
		}
		if !last.IsZero() && time.Since(last) < waitingEvery {
			b.log.Debug("connect to NATS", zap.NamedError("err", err))
			return
		}
		last = time.Now()
		b.log.Warn("waiting for NATS", zap.String("address", b.opts.address()),
			zap.Duration("waited", time.Since(began).Round(time.Millisecond)), zap.NamedError("err", err))
	}
}

func connectAgain(err error) bool {
	return !errors.Is(err, nats.ErrAuthorization) && !errors.Is(err, os.ErrNotExist)
}

func (b *Bus) natsOptions(gone chan struct{}) []nats.Option {
	o := b.opts
	opts := []nats.Option{
		nats.Name(o.Name),
		nats.Timeout(o.Timeout),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(50 * time.Millisecond),
		nats.ReconnectJitter(50*time.Millisecond, 200*time.Millisecond),
		// What cannot be sent now fails now: a publish that the library
		// kept back and sent later would reorder.
		nats.ReconnectBufSize(-1),
		nats.IgnoreAuthErrorAbort(), // credentials may be renewed
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.FlusherTimeout(10 * time.Second),
		nats.ReconnectHandler(func(nc *nats.Conn) { b.onReconnect(nc) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { b.onDisconnect(err) }),
		nats.ClosedHandler(func(*nats.Conn) { close(gone) }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) { b.onError(sub, err) }),
	}
	if o.InProcess != nil {
		opts = append(opts, nats.InProcessServer(o.InProcess))
	}
	if o.CredsFile != "" {
		opts = append(opts, nats.UserCredentials(o.CredsFile))
	}
	if o.User != "" {
		opts = append(opts, nats.UserInfo(o.User, o.Password))
	}
	if o.Token != "" {
		opts = append(opts, nats.Token(o.Token))
	}
	if o.CAFile != "" {
		opts = append(opts, nats.RootCAs(o.CAFile))
	}
	if o.CertFile != "" {
		opts = append(opts, nats.ClientCert(o.CertFile, o.KeyFile))
	}
	return opts
}

// Names spells this bus's subjects and streams.
func (b *Bus) Names() subject.Names { return b.names }

// Shards is the number of shards.
func (b *Bus) Shards() int { return b.names.Shards() }

// Shard is the shard of a thread.
func (b *Bus) Shard(thread string) int { return b.names.Shard(thread) }

// Connected tells whether the connection is up now.
func (b *Bus) Connected() bool { return b.nc.IsConnected() }

// Ping asks the server for a sign of life, within ctx or Options.Timeout.
func (b *Bus) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.Timeout)
	defer cancel()
	if err := b.nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("ping the broker: %w", err)
	}
	return nil
}

// Close ends the connection and everything that still uses it. It may be
// called again.
func (b *Bus) Close() {
	if b.closed.CompareAndSwap(false, true) {
		b.nc.Close()
	}
	<-b.gone
}

func (b *Bus) listen(l *listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners[l] = struct{}{}
}

func (b *Bus) unlisten(l *listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.listeners, l)
}

func (b *Bus) snapshotListeners() []*listener {
	b.mu.Lock()
	defer b.mu.Unlock()
	ls := make([]*listener, 0, len(b.listeners))
	for l := range b.listeners {
		ls = append(ls, l)
	}
	return ls
}

func (b *Bus) onReconnect(nc *nats.Conn) {
	b.server.Store(nc.ConnectedUrlRedacted())
	fields := []zap.Field{zap.Any("address", b.server.Load())}
	if at := b.lost.Swap(0); at != 0 {
		fields = append(fields, zap.Duration("away", time.Since(time.Unix(0, at)).Round(time.Millisecond)))
	}
	b.log.Warn("reconnected to NATS", fields...)
	for _, l := range b.snapshotListeners() {
		if l.reconnected != nil {
			l.reconnected()
		}
	}
}

func (b *Bus) onDisconnect(err error) {
	if !b.closed.Load() {
		b.lost.CompareAndSwap(0, time.Now().UnixNano())
		b.log.Warn("disconnected from NATS", zap.Any("address", b.server.Load()), zap.NamedError("err", err))
	}
}

func (b *Bus) onError(sub *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrSlowConsumer) && sub != nil {
		for _, l := range b.snapshotListeners() {
			if l.sub == sub && l.dropped != nil {
				l.dropped()
			}
		}
		return
	}
	b.log.Warn("broker", zap.NamedError("err", err))
}
