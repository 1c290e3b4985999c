package fanout

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/agwire/agwire/internal/snapshot"
)

// A Redis that is away is warned of once, and its return is told once.
func TestRedisAwayIsToldOnce(t *testing.T) {
	away, err := snapshot.New(snapshot.Options{URL: "redis://127.0.0.1:1", Timeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = away.Close() }()
	core, logs := observer.New(zap.InfoLevel)
	s := &Service{deps: Deps{Log: zap.New(core), Store: away}, m: newMetrics(prometheus.NewRegistry())}
	rooms := []*room{{thread: "t"}}
	for range 2 {
		s.turns(t.Context(), rooms)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.turns(ended, rooms) // it is us who leave: no word of Redis
	if all := logs.All(); len(all) != 1 || all[0].Level != zap.WarnLevel {
		t.Errorf("while it is away: %+v", all)
	}
	s.redis(nil)
	s.redis(nil)
	if all := logs.All(); len(all) != 2 || all[1].Message != "redis answers" {
		t.Errorf("once it is back: %+v", all)
	}
}
