package natstest

import (
	"context"
	"testing"

	"github.com/agwire/agwire/internal/bus"
)

// Bus connects to the broker and sets the streams up; it is closed with the
// test. URL is filled in; Shards is 4 unless given.
func (s *Server) Bus(t testing.TB, o bus.Options) *bus.Bus {
	t.Helper()
	o.URL = s.URL()
	return connect(t, o)
}

// Bus connects to the cluster, with three replicas unless given, and sets the
// streams up; it is closed with the test. Shards is 4 unless given.
func (c *Cluster) Bus(t testing.TB, o bus.Options) *bus.Bus {
	t.Helper()
	o.URL = c.URL()
	if o.Replicas == 0 {
		o.Replicas = 3
	}
	return connect(t, o)
}

func connect(t testing.TB, o bus.Options) *bus.Bus {
	t.Helper()
	if o.Shards == 0 {
		o.Shards = 4
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*Within)
	defer cancel()
	b, err := bus.Connect(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.Setup(ctx); err != nil {
		t.Fatal(err)
	}
	return b
}
