package snapshot

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Options says where the store is and what it accepts. A zero field takes its default; [New] reports every bad one at once.
type Options struct {
	// URL of the server: redis://, rediss:// (TLS), unix://, or redis+cluster:// and rediss+cluster:// with further nodes as
	// addr=host:port parameters. It may hold a password and is never repeated in an error.
	URL string

	Prefix       string        // of every key; 1 to 64 bytes, no braces; default "agw:"
	TombstoneTTL time.Duration // how long a deletion outlives late writers; 1 ms to 1 year; default 7 days
	MaxValue     int64         // bytes of one value; 1 to 256 MiB; default 64 MiB
	MaxSnapshot  int64         // bytes of one thread, names included; MaxValue to 768 MiB; default 256 MiB
	MaxFields    int           // fields set or deleted by one update; 1 to 400,000; default 100,000
	DialTimeout  time.Duration // > 0; default 5 s
	Timeout      time.Duration // of one read or write on the connection; > 0; default 10 s; see Store
	PoolSize     int           // connections a server; 1 to 10,000; default 32
}

const (
	maxThread = 256 // bytes of a thread id
	maxScore  = 1<<53 - 1
	mebibyte  = 1 << 20
	year      = 365 * 24 * time.Hour
)

func (o Options) withDefaults() Options {
	def := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	dur := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	if o.Prefix == "" {
		o.Prefix = "agw:"
	}
	if o.MaxFields == 0 {
		o.MaxFields = 100_000
	}
	if o.PoolSize == 0 {
		o.PoolSize = 32
	}
	def(&o.MaxValue, 64*mebibyte)
	def(&o.MaxSnapshot, max(256*mebibyte, o.MaxValue))
	dur(&o.TombstoneTTL, 7*24*time.Hour)
	dur(&o.DialTimeout, 5*time.Second)
	dur(&o.Timeout, 10*time.Second)
	return o
}

func (o Options) validate() error {
	var errs []error
	bad := func(ok bool, msg string) {
		if !ok {
			errs = append(errs, errors.New(msg))
		}
	}
	bad(len(o.Prefix) <= 64 && utf8.ValidString(o.Prefix) && !strings.ContainsAny(o.Prefix, "{}"),
		"prefix: want at most 64 bytes of UTF-8 without braces")
	bad(o.TombstoneTTL >= time.Millisecond && o.TombstoneTTL <= year, "tombstone ttl: want 1ms to 1 year")
	bad(o.MaxValue >= 1 && o.MaxValue <= 256*mebibyte, "max value: want 1 to 256 MiB")
	bad(o.MaxSnapshot >= o.MaxValue && o.MaxSnapshot <= 768*mebibyte, "max snapshot: want max value to 768 MiB")
	bad(o.MaxFields >= 1 && o.MaxFields <= 400_000, "max fields: want 1 to 400000")
	bad(o.DialTimeout > 0, "dial timeout: want more than 0")
	bad(o.Timeout > 0, "timeout: want more than 0")
	bad(o.PoolSize >= 1 && o.PoolSize <= 10_000, "pool size: want 1 to 10000")
	return errors.Join(errs...)
}

// Validate reports every bad field at once, each by its name and without the URL, which may hold a password.
func (o Options) Validate() error {
	o = o.withDefaults()
	_, err := parseURL(o)
	return errors.Join(err, o.validate())
}

// Store is the Redis of one deployment. It is safe for concurrent use. A call ends at its context's deadline; when its
// context is cancelled, it ends at once if it has not been sent yet, else with Redis's answer or [Options.Timeout].
type Store struct {
	opts   Options
	client redis.UniversalClient
	table  *crc32.Table

	apply, remove, void, advance, proceed, unlist, page *redis.Script
}

// New prepares a store; it does no I/O, the first call connects. The caller closes it. The Redis library's own log lines,
// which go to standard error, are turned off for the process: each of them is about an error that a call returns.
func New(opts Options) (*Store, error) {
	opts = opts.withDefaults()
	connect, err := parseURL(opts)
	if err := errors.Join(err, opts.validate()); err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", err)
	}
	logging.Disable()
	return &Store{
		opts:    opts,
		client:  connect(),
		table:   crc32.MakeTable(crc32.Castagnoli),
		apply:   redis.NewScript(scriptApply),
		remove:  redis.NewScript(scriptDelete),
		void:    redis.NewScript(scriptVoid),
		advance: redis.NewScript(scriptAdvance),
		proceed: redis.NewScript(scriptContinue),
		unlist:  redis.NewScript(scriptUnlist),
		page:    redis.NewScript(scriptPage),
	}, nil
}

// Close ends the connections; calls that are under way fail.
func (s *Store) Close() error {
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("close snapshot store: %w", err)
	}
	return nil
}

// Ping reports whether the server answers now.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ping snapshot store: %w", err)
	}
	return nil
}

// parseURL reads the URL into a maker of clients. Errors never carry the URL, which may hold a password. The client's own
// retries are off: whether to try again is the caller's decision.
func parseURL(o Options) (func() redis.UniversalClient, error) {
	u, err := url.Parse(o.URL)
	if err != nil || o.URL == "" {
		return nil, errors.New("url: not a URL")
	}
	scheme, cluster := strings.CutSuffix(u.Scheme, "+cluster")
	if scheme != "redis" && scheme != "rediss" && (scheme != "unix" || cluster) {
		return nil, errors.New("url: want redis, rediss, unix, redis+cluster or rediss+cluster as its scheme")
	}
	u.Scheme = scheme
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if cluster {
		c, err := redis.ParseClusterURL(u.String())
		if err != nil {
			return nil, errors.New("url: host or parameters are malformed")
		}
		// A cluster's client repeats a command after a redirection, and after a lost connection too. Every write here may be.
		c.MaxRetries, c.MaxRedirects, c.DialerRetries = -1, 3, 1
		c.ContextTimeoutEnabled, c.MaintNotificationsConfig = true, quiet
		c.DialTimeout, c.ReadTimeout, c.WriteTimeout, c.PoolSize = o.DialTimeout, o.Timeout, o.Timeout, o.PoolSize
		return func() redis.UniversalClient { return redis.NewClusterClient(c) }, nil
	}
	c, err := redis.ParseURL(u.String())
	if err != nil {
		return nil, errors.New("url: host, database or parameters are malformed")
	}
	c.MaxRetries, c.DialerRetries = -1, 1
	c.ContextTimeoutEnabled, c.MaintNotificationsConfig = true, quiet
	c.DialTimeout, c.ReadTimeout, c.WriteTimeout, c.PoolSize = o.DialTimeout, o.Timeout, o.Timeout, o.PoolSize
	return func() redis.UniversalClient { return redis.NewClient(c) }, nil
}

func (s *Store) threadKey(thread string) string { return s.opts.Prefix + "t:{" + thread + "}" }
func (s *Store) indexKey() string               { return s.opts.Prefix + "index" }

func checkThread(thread string) error {
	if thread == "" || len(thread) > maxThread || !utf8.ValidString(thread) {
		return fmt.Errorf("thread: want 1 to %d bytes of UTF-8", maxThread)
	}
	return nil
}
