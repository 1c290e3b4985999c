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
// options first. Close it with Close.
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
	err = retry(ctx, connectAgain, func(context.Context) error {
		gone := make(chan struct{})
		nc, err := nats.Connect(o.URL, b.natsOptions(gone)...)
		if err != nil {
			b.log.Debug("connect to the broker", zap.NamedError("err", err))
			return err
		}
		b.nc, b.gone, b.payload = nc, gone, int(nc.MaxPayload())
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("bus: connect: %w", err)
	}
	if b.js, err = jetstream.New(b.nc); err != nil {
		b.nc.Close()
		return nil, fmt.Errorf("bus: %w", err)
	}
	return b, nil
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
		nats.ReconnectHandler(func(*nats.Conn) { b.onReconnect() }),
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

func (b *Bus) onReconnect() {
	b.log.Info("reconnected to the broker")
	for _, l := range b.snapshotListeners() {
		if l.reconnected != nil {
			l.reconnected()
		}
	}
}

func (b *Bus) onDisconnect(err error) {
	if !b.closed.Load() {
		b.log.Info("disconnected from the broker", zap.NamedError("err", err))
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
