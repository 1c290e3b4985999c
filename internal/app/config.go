package app

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/agwire/agwire/internal/config"
)

// Config is what every process is told.
type Config struct {
	Listen    string        // host:port of the HTTP server; port 0 is any free one
	LogFormat string        // "json" or "console"
	LogLevel  string        // "debug", "info", "warn" or "error"
	Drain     time.Duration // budget of all services together to end after a signal; > 0
	StartWait time.Duration // how long a service may keep the next one waiting at start; > 0
	Pprof     bool          // serve /debug/pprof/ too
}

// DefaultConfig is the configuration of a process that listens on the address.
func DefaultConfig(listen string) Config {
	return Config{Listen: listen, LogFormat: "json", LogLevel: "info", Drain: 20 * time.Second, StartWait: 10 * time.Second}
}

// Settings are the settings that fill c, with what c holds now as their defaults.
func (c *Config) Settings() []config.Setting {
	return []config.Setting{
		&config.StringVar{Name: "listen", To: &c.Listen, Default: c.Listen, Kind: "host:port", Check: checkListen,
			Help: "address of the HTTP server, with /healthz, /readyz and /metrics; port 0 is any free one"},
		&config.DurationVar{Name: "drain", To: &c.Drain, Default: c.Drain, Min: time.Millisecond, Max: time.Hour,
			Help: "budget for work in flight after a signal to end; the orchestrator's grace period must be longer"},
		&config.DurationVar{Name: "start-wait", To: &c.StartWait, Default: c.StartWait, Min: time.Millisecond, Max: time.Hour,
			Help: "how long a service that is not ready yet keeps the next one from starting"},
		&config.EnumVar{Name: "log-level", To: &c.LogLevel, Default: c.LogLevel, Values: []string{"debug", "info", "warn", "error"},
			Help: "least severity that is logged"},
		&config.EnumVar{Name: "log-format", To: &c.LogFormat, Default: c.LogFormat, Values: []string{"json", "console"},
			Help: "shape of a line of the log, which goes to standard error"},
		&config.BoolVar{Name: "pprof", To: &c.Pprof, Default: c.Pprof,
			Help: "serve /debug/pprof/ on the same address; whoever reaches it can slow the process and see its memory"},
	}
}

func checkListen(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return errors.New("is no host:port")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return errors.New("has no port of 0 to 65535")
	}
	return nil
}

// validate reports every bad field at once.
func (c Config) validate() error {
	var errs []error
	if err := checkListen(c.Listen); err != nil {
		errs = append(errs, fmt.Errorf("field Listen %w", err))
	}
	if c.Drain <= 0 {
		errs = append(errs, errors.New("field Drain is not positive"))
	}
	if c.StartWait <= 0 {
		errs = append(errs, errors.New("field StartWait is not positive"))
	}
	return errors.Join(errs...)
}
