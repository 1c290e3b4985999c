package bus_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/embednats"
	"github.com/agwire/agwire/internal/natstest"
)

// freePort is one that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	ok(t, l.Close())
	return l.Addr().(*net.TCPAddr).Port
}

// A start that waits says so with the address, and its end is one line that names the server; neither shows a password.
func TestConnectSaysWhatItWaitsFor(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	url := "nats://u:hunter2@" + net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	_, err := bus.Connect(ctx, bus.Options{URL: url, Log: zap.New(core)})
	address := strings.Replace(url, "u:hunter2", "[redacted]", 1)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), address) || strings.ContainsAny(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	warned := logs.FilterLevelExact(zap.WarnLevel).FilterMessage("waiting for NATS").All()
	if len(warned) != 1 || warned[0].ContextMap()["address"] != address {
		t.Errorf("%+v", warned)
	}
	for _, l := range logs.All() {
		for k, v := range l.ContextMap() {
			if s, is := v.(string); is && strings.Contains(s, "hunter2") {
				t.Errorf("%s shows the password", k)
			}
		}
	}
}

// A broker that goes is warned of with its address, and its return with how long it was away.
func TestBrokerAwayIsLogged(t *testing.T) {
	o := embednats.Options{Dir: t.TempDir()}
	srv := must(embednats.Start(ctxT(t), o))(t)
	defer func() { srv.Stop() }()
	core, logs := observer.New(zap.InfoLevel)
	b := must(bus.Connect(ctxT(t), bus.Options{URL: srv.URL(), Log: zap.New(core)}))(t)
	defer b.Close()
	address := srv.URL()
	o.Port = srv.Port()
	srv.Stop()
	said := func(what string) map[string]any {
		natstest.Eventually(t, what, func() bool { return logs.FilterMessage(what).Len() > 0 })
		l := logs.FilterMessage(what).All()[0]
		if l.Level != zap.WarnLevel || l.ContextMap()["address"] != address {
			t.Errorf("%s: %v %v", what, l.Level, l.ContextMap())
		}
		return l.ContextMap()
	}
	said("disconnected from NATS")
	srv = must(embednats.Start(ctxT(t), o))(t)
	if away, is := said("reconnected to NATS")["away"].(time.Duration); !is || away <= 0 {
		t.Error("how long it was away is not said")
	}
}
