package snapshot_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
)

func TestOptionsReportEveryBadField(t *testing.T) {
	t.Parallel()
	_, err := snapshot.New(snapshot.Options{URL: "http://u:hunter2@h", Prefix: "a{b", TombstoneTTL: -1, MaxValue: -1,
		MaxSnapshot: 1 << 60, MaxFields: -1, DialTimeout: -1, Timeout: -1, PoolSize: -1})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, name := range []string{"url", "prefix", "tombstone ttl", "max value", "max snapshot", "max fields",
		"dial timeout", "timeout", "pool size"} {
		if !strings.Contains(err.Error(), name+":") {
			t.Errorf("%s is not reported: %v", name, err)
		}
	}
	for _, opts := range []snapshot.Options{
		{MaxValue: 10 << 20, MaxSnapshot: 1 << 20},
		{TombstoneTTL: 400 * 24 * time.Hour},
		{Prefix: strings.Repeat("x", 65)},
		{Prefix: "\xff"},
	} {
		opts.URL = "redis://127.0.0.1:1"
		if _, err := snapshot.New(opts); err == nil {
			t.Errorf("accepted: %+v", opts)
		}
	}
}

// SPEC §13: a password in the URL is in no error.
func TestURLStaysSecret(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "redis", "http://u:hunter2@h", "redis://u:hunter2@h:port", "redis://u:hunter2@h/x",
		"redis://u:hunter2@h?read_timeout=hunter2", "unix+cluster://u:hunter2@h", "redis+cluster://u:hunter2@h:1?addr=:::",
		"redis://u:hun%ter2@h", "redis://:hunter2@127.0.0.1:1/1/2"} {
		_, err := snapshot.New(snapshot.Options{URL: url})
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "url:") {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, url := range []string{"redis://h", "rediss://u:p@h:1/2", "unix:///run/redis.sock", "redis+cluster://a:1?addr=b:2",
		"rediss+cluster://a:1"} {
		s, err := snapshot.New(snapshot.Options{URL: url})
		if err != nil {
			t.Errorf("%q: %v", url, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	s, err := snapshot.New(snapshot.Options{URL: "redis://u:hunter2@127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ping(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("ping of nothing: %v", err)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s, ctx := open(t, srv, nil), t.Context()
		if _, err := s.Progress(ctx, 0); !errors.Is(err, snapshot.ErrNotFound) {
			t.Fatalf("progress of nothing: %v", err)
		}
		for _, step := range []struct{ to, want snapshot.Mark }{
			{snapshot.Mark{Incarnation: inc, Sequence: 9}, snapshot.Mark{Incarnation: inc, Sequence: 9}},
			{snapshot.Mark{Incarnation: inc, Sequence: 10}, snapshot.Mark{Incarnation: inc, Sequence: 10}},
			{snapshot.Mark{Incarnation: inc, Sequence: 9}, snapshot.Mark{Incarnation: inc, Sequence: 10}},
			{snapshot.Mark{Incarnation: inc - 1, Sequence: 99}, snapshot.Mark{Incarnation: inc, Sequence: 10}},
			{snapshot.Mark{Incarnation: inc + 1, Sequence: 1}, snapshot.Mark{Incarnation: inc + 1, Sequence: 1}},
		} {
			if got, err := s.Advance(ctx, 0, step.to); err != nil || got != step.want {
				t.Fatalf("advance to %v: %v, %v", step.to, got, err)
			}
			if got, err := s.Progress(ctx, 0); err != nil || got != step.want {
				t.Fatalf("progress after %v: %v, %v", step.to, got, err)
			}
		}
		if _, err := s.Progress(ctx, 1); !errors.Is(err, snapshot.ErrNotFound) {
			t.Fatalf("another shard: %v", err)
		}
		srv.Client().Set(ctx, srv.Prefix+"progress:{0}", "nonsense", 0)
		if _, err := s.Progress(ctx, 0); !errors.Is(err, snapshot.ErrNotFound) {
			t.Fatalf("unreadable progress: %v", err)
		}
		if got, err := s.Advance(ctx, 0, snapshot.Mark{Incarnation: 1, Sequence: 1}); err != nil || got.Incarnation != 1 {
			t.Fatalf("advance over it: %v, %v", got, err)
		}
		if _, err := s.Advance(ctx, -1, snapshot.Mark{Incarnation: 1, Sequence: 1}); err == nil {
			t.Error("a negative shard is accepted")
		}
		if _, err := s.Advance(ctx, 0, snapshot.Mark{}); err == nil {
			t.Error("a zero mark is accepted")
		}
		if _, err := s.Progress(ctx, -1); err == nil {
			t.Error("a negative shard is accepted")
		}
	})
}
