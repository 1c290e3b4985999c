package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/config"
)

// broker is how a command reaches NATS.
type broker struct {
	o        bus.Options
	url      config.URL
	password config.Secret
	token    config.Secret
	wait     time.Duration
}

// reader are the settings of a tool that reads the log.
func (b *broker) reader() []config.Setting {
	return b.connection(&config.URLVar{Default: "nats://127.0.0.1:4222", Help: "NATS servers"})
}

func (b *broker) connection(url *config.URLVar) []config.Setting {
	url.Name, url.To, url.Schemes, url.Many = "nats-url", &b.url, []string{"nats", "tls", "ws", "wss"}, true
	return []config.Setting{
		url,
		&config.StringVar{Name: "nats-creds", To: &b.o.CredsFile, Kind: "path", Help: "NATS credentials file"},
		&config.StringVar{Name: "nats-user", To: &b.o.User, Help: "NATS user"},
		&config.SecretVar{Name: "nats-password", To: &b.password, Help: "the user's password"},
		&config.SecretVar{Name: "nats-token", To: &b.token, Help: "NATS token"},
		&config.StringVar{Name: "nats-ca", To: &b.o.CAFile, Kind: "path", Help: "certificates of the authorities that NATS servers are trusted by"},
		&config.StringVar{Name: "nats-cert", To: &b.o.CertFile, Kind: "path", Help: "certificate shown to NATS servers"},
		&config.StringVar{Name: "nats-key", To: &b.o.KeyFile, Kind: "path", Help: "key of that certificate"},
		&config.DurationVar{Name: "nats-wait", To: &b.wait, Default: 30 * time.Second, Min: time.Millisecond, Max: time.Hour,
			Help: "how long the start waits for NATS"},
		&config.StringVar{Name: "prefix", To: &b.o.Prefix, Default: "agw", Help: "first token of every NATS subject, and of the streams' names"},
		&config.DurationVar{Name: "nats-timeout", To: &b.o.Timeout, Default: 2 * time.Second, Min: 10 * time.Millisecond, Max: time.Minute,
			Help: "of one request to NATS"},
	}
}

// service are the settings of a service: it makes the streams where they are missing.
func (b *broker) service() []config.Setting {
	return append(b.connection(&config.URLVar{Default: "nats://127.0.0.1:4222", Help: "NATS servers"}), b.streams(64)...)
}

// embedded are the settings of agwire up, which starts a broker where no URL is given.
func (b *broker) embedded() []config.Setting {
	return append(b.connection(&config.URLVar{Help: "NATS servers"}), b.streams(8)...)
}

// readerRules are the rules over the settings of a tool that reads the log. What a field of the bus may hold is the bus's to say.
func (b *broker) readerRules() []config.Rule {
	return []config.Rule{
		busRule(func() bus.Options { return bus.Options{Prefix: b.o.Prefix} }, "prefix"),
		together("nats-user", "nats-password", func() bool { return (b.o.User == "") == b.password.Empty() }),
		together("nats-cert", "nats-key", func() bool { return (b.o.CertFile == "") == (b.o.KeyFile == "") }),
	}
}

// together is the rule that one of two settings needs the other.
func together(one, other string, ok func() bool) config.Rule {
	return config.Rule{Names: []string{one, other}, Check: func() error {
		if ok() {
			return nil
		}
		return errors.New(one + " and " + other + " go together")
	}}
}

// serviceRules are those over the settings of a service.
func (b *broker) serviceRules() []config.Rule {
	return append(b.readerRules(),
		busRule(func() bus.Options {
			return bus.Options{FramesMaxAge: b.o.FramesMaxAge, LongestInvoke: b.o.LongestInvoke}
		}, "frames-max-age", "longest-invoke"))
}

// busRule has the bus judge a few of its options, all others being good.
func busRule(options func() bus.Options, names ...string) config.Rule {
	return config.Rule{Names: names, Check: func() error { return config.Reason(options().Validate()) }}
}

func (b *broker) streams(shards int) []config.Setting {
	return []config.Setting{
		&config.IntVar{Name: "shards", To: &b.o.Shards, Default: shards, Min: 1, Max: 1024, Unit: "shards",
			Help: "number of shards; cannot change once the streams exist"},
		&config.IntVar{Name: "replicas", To: &b.o.Replicas, Default: 1, Values: []int{1, 3, 5}, Help: "replicas of each stream"},
		&config.DurationVar{Name: "frames-max-age", To: &b.o.FramesMaxAge, Max: 10 * 365 * 24 * time.Hour, Help: "frames older than this go; 0s is never"},
		&config.SizeVar{Name: "frames-max-bytes", To: &b.o.FramesMaxBytes, Help: "frames of one shard; beyond it ingest refuses; 0 is no limit"},
		&config.DurationVar{Name: "events-max-age", To: &b.o.EventsMaxAge, Max: 10 * 365 * 24 * time.Hour, Help: "events older than this go; 0s is never"},
		&config.SizeVar{Name: "events-max-bytes", To: &b.o.EventsMaxBytes, Help: "events of one shard; beyond it the oldest go; 0 is no limit"},
		&config.DurationVar{Name: "longest-invoke", To: &b.o.LongestInvoke, Default: 24 * time.Hour, Max: 365 * 24 * time.Hour,
			Help: "the longest invoke allowed; frames-max-age must exceed it"},
		&config.IntVar{Name: "max-message", To: &b.o.MaxMessage, Default: 64 << 20, Min: 4096, Max: 1 << 30, Unit: "bytes",
			Help: "largest frame or message of events; larger than a NATS message it goes in parts"},
		&config.DurationVar{Name: "nats-ack-wait", To: &b.o.AckWait, Default: 2 * time.Second, Min: 10 * time.Millisecond, Max: time.Minute,
			Help: "a write unanswered for this long counts as failed"},
	}
}

// sayWaiting is how long a tool waits for NATS until it says so.
const sayWaiting = 2 * time.Second

// read connects a tool to streams that are there; whoever calls it closes the bus. A wait is told of on stderr, once.
func (b *broker) read(ctx context.Context, stderr io.Writer, name string) (*bus.Bus, error) {
	wctx, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	said := make(chan struct{})
	say := time.AfterFunc(sayWaiting, func() {
		defer close(said)
		fmt.Fprintf(stderr, "%s: waiting for NATS at %v, up to %v\n", name, b.url, b.wait)
	})
	conn, err := bus.Adopt(wctx, b.options(name, zap.NewNop()))
	if !say.Stop() {
		<-said
	}
	if err != nil && ctx.Err() != nil {
		return nil, exitStatus(0) // told to end: it is no failure
	}
	return conn, err
}

// options are the bus's, with the secrets in place.
func (b *broker) options(name string, log *zap.Logger) bus.Options {
	o := b.o
	o.URL, o.Name, o.Log = b.url.Reveal(), name, log
	o.Password, o.Token = b.password.Reveal(), b.token.Reveal()
	return o
}

// open connects and sets the streams up; whoever calls it closes the bus. A signal to end during the wait is exit status 0.
func (b *broker) open(ctx context.Context, o bus.Options) (*bus.Bus, error) {
	wctx, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	conn, err := bus.Connect(wctx, o)
	if err == nil {
		if err = conn.Setup(wctx); err != nil {
			conn.Close()
		}
	}
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		if o.Log != nil {
			o.Log.Info("stopped before NATS was there", zap.String("cause", context.Cause(ctx).Error()))
		}
		return nil, exitStatus(0)
	}
	return nil, err
}
