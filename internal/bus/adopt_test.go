package bus_test

import (
	"errors"
	"testing"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
)

func TestAdopt(t *testing.T) {
	srv := natstest.New(t)
	o := bus.Options{URL: srv.URL(), Prefix: "adopted"}
	if _, err := bus.Adopt(t.Context(), o); !errors.Is(err, bus.ErrNotFound) {
		t.Fatalf("without streams: %v", err)
	}
	o.Shards = 3
	b, err := bus.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Shards = 0
	a, err := bus.Adopt(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if a.Shards() != 3 || a.Shard("some thread") != b.Shard("some thread") {
		t.Errorf("adopted %d shards, want 3", a.Shards())
	}
}
