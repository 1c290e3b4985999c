package bus

import (
	"errors"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/subject"
)

// InProcess opens connections to a server of this process; *embednats.Server is one.
type InProcess interface {
	InProcessConn() (net.Conn, error)
}

// Options say where the broker is and how the streams are made. Zero fields
// take the default that is named.
type Options struct {
	URL       string    // server URLs, separated by commas; default nats://127.0.0.1:4222
	InProcess InProcess // when set, used instead of the network
	Name      string    // of the connection, shown by the server; default "agwire"

	CredsFile                 string // NATS credentials file
	User, Password, Token     string
	CAFile, CertFile, KeyFile string // TLS

	Prefix   string // of every subject; default "agw"
	Shards   int    // S, 1 to 1024; default 64; cannot change once the streams exist
	Replicas int    // of each stream, 1, 3 or 5; default 1

	FramesMaxAge   time.Duration // frames older than this go; 0 = never; must exceed LongestInvoke
	FramesMaxBytes int64         // of one shard's frames; beyond it appending fails with ErrFull; 0 = no limit
	EventsMaxAge   time.Duration // events older than this go; 0 = never
	EventsMaxBytes int64         // of one shard's events; beyond it the oldest go; 0 = no limit
	LongestInvoke  time.Duration // the longest invoke allowed; 0 = unbounded, then FramesMaxAge is not checked

	Window     int           // of writers: messages in flight beyond the last contiguous ack, 1 to 998; default 256
	MaxMessage int           // largest frame, event message or checkpoint, bytes; default 64 MiB
	AckWait    time.Duration // an oldest ack older than this is an error; default 2s
	Quiet      time.Duration // silence that settles a writer's error; default 300ms
	Timeout    time.Duration // of one request to the broker; default 2s

	Log *zap.Logger // nil = silent
}

func (o Options) withDefaults() Options {
	def := func(s *string, d string) {
		if *s == "" {
			*s = d
		}
	}
	defInt := func(n *int, d int) {
		if *n == 0 {
			*n = d
		}
	}
	defDur := func(n *time.Duration, d time.Duration) {
		if *n == 0 {
			*n = d
		}
	}
	def(&o.URL, "nats://127.0.0.1:4222")
	def(&o.Name, "agwire")
	def(&o.Prefix, "agw")
	defInt(&o.Shards, 64)
	defInt(&o.Replicas, 1)
	defInt(&o.Window, 256)
	defInt(&o.MaxMessage, 64<<20)
	defDur(&o.AckWait, 2*time.Second)
	defDur(&o.Quiet, 300*time.Millisecond)
	defDur(&o.Timeout, 2*time.Second)
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	return o
}

// address is where the broker is, without credentials.
func (o Options) address() string {
	if o.InProcess != nil {
		return "this process"
	}
	return config.NewURL(o.URL).String()
}

// Validate reports every bad field at once, each by its name.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(format string, v ...any) { errs = append(errs, fmt.Errorf(format, v...)) }
	if _, err := subject.New(o.Prefix, o.Shards); err != nil {
		errs = append(errs, err)
	}
	if o.Replicas != 1 && o.Replicas != 3 && o.Replicas != 5 {
		bad("replicas: %d is not 1, 3 or 5", o.Replicas)
	}
	for _, d := range []struct {
		name string
		v    time.Duration
	}{
		{"frames max age", o.FramesMaxAge}, {"events max age", o.EventsMaxAge}, {"longest invoke", o.LongestInvoke},
		{"ack wait", o.AckWait}, {"quiet", o.Quiet}, {"timeout", o.Timeout},
	} {
		if d.v < 0 {
			bad("%s: negative", d.name)
		}
	}
	if o.FramesMaxBytes < 0 {
		bad("frames max bytes: negative")
	}
	if o.EventsMaxBytes < 0 {
		bad("events max bytes: negative")
	}
	if o.FramesMaxAge > 0 && o.LongestInvoke > 0 && o.FramesMaxAge <= o.LongestInvoke {
		bad("frames max age: %v does not exceed the longest invoke, %v", o.FramesMaxAge, o.LongestInvoke)
	}
	if o.Window < 1 || o.Window > maxWindow {
		bad("window: %d is not in 1 to %d", o.Window, maxWindow)
	}
	if o.MaxMessage < minPayload {
		bad("max message: %d is below %d", o.MaxMessage, minPayload)
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		bad("cert file, key file: one without the other")
	}
	if (o.User == "") != (o.Password == "") {
		bad("user, password: one without the other")
	}
	return errors.Join(errs...)
}
