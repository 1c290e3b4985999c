package snapshot_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
)

// Whatever part of a thread is lost or damaged, a reader is told, a difference does not seal it in, and a reset mends it.
func TestPartialLoss(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		s, raw, ctx := open(t, srv, nil), srv.Client(), t.Context()
		v := version(7, 40)
		damage := map[string]func(key string){
			"the position": func(key string) { raw.HDel(ctx, key, "position") },
			"an unreadable position": func(key string) {
				raw.HSet(ctx, key, "position", "what is this")
			},
			"a position cut short": func(key string) {
				raw.HSet(ctx, key, "position", raw.HGet(ctx, key, "position").Val()[:60])
			},
			"a foreign field": func(key string) { raw.HSet(ctx, key, "x", "y") },
			"one for another": func(key string) {
				for f := range content(v) {
					old := raw.HGet(ctx, key, string(f)).Val()
					raw.HDel(ctx, key, string(f))
					raw.HSet(ctx, key, "m:other", old)
					return
				}
			},
		}
		for f := range content(v) {
			damage["field "+string(f)] = func(key string) { raw.HDel(ctx, key, string(f)) }
			damage["a byte of "+string(f)] = func(key string) {
				b := []byte(raw.HGet(ctx, key, string(f)).Val())
				b[len(b)-1] ^= 1
				raw.HSet(ctx, key, string(f), b)
			}
			damage["the end of "+string(f)] = func(key string) {
				old := raw.HGet(ctx, key, string(f)).Val()
				raw.HSet(ctx, key, string(f), old[:len(old)-1])
			}
			damage["an order in "+string(f)] = func(key string) {
				b := []byte(raw.HGet(ctx, key, string(f)).Val())
				b[12]++
				raw.HSet(ctx, key, string(f), b)
			}
			damage["the header of "+string(f)] = func(key string) { raw.HSet(ctx, key, string(f), "x") }
		}
		for name, hurt := range damage {
			th := fresh()
			if err := follow(ctx, s, th, []snapshot.Version{version(7, 30), v}); err != nil {
				t.Fatal(err)
			}
			hurt(srv.Prefix + "t:{" + th + "}")
			if _, err := s.Load(ctx, th); !errors.Is(err, snapshot.ErrIncomplete) {
				t.Errorf("%s: load: %v", name, err)
			}
			// At the very position: what a rebuild comes to.
			res, err := s.Apply(ctx, th, whole(v))
			if err != nil || res.Outcome != snapshot.Applied {
				t.Fatalf("%s: rebuild: %v, %v", name, res.Outcome, err)
			}
			stands(t, s, th, v)
		}
		th := fresh()
		if err := follow(ctx, s, th, []snapshot.Version{v}); err != nil {
			t.Fatal(err)
		}
		raw.HDel(ctx, srv.Prefix+"t:{"+th+"}", "open", "m:m 9", "m:m 10", "m:m 11")
		res, err := s.Apply(ctx, th, difference(v, version(7, 41)))
		expect(t, res, err, snapshot.Rebase, v)
		res, err = s.Apply(ctx, th, difference(version(7, 39), v))
		expect(t, res, err, snapshot.Rebase, v)
	})
}

// Redis dies, comes back empty, and dies again while writers go on: errors in between, and in the end every thread is there.
func TestRedisDies(t *testing.T) {
	t.Parallel()
	redistest.EachOwned(t, func(t *testing.T, srv *redistest.Server) {
		s := open(t, srv, func(o *snapshot.Options) { o.DialTimeout, o.Timeout = time.Second, time.Second })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		const last = 400
		names := []string{fresh(), fresh(), fresh()}
		if err := s.Ping(ctx); err != nil {
			t.Fatal(err)
		}
		g, gctx := errgroup.WithContext(ctx)
		half := make(chan struct{}, len(names))
		again, survived := make(chan struct{}), make(chan struct{})
		for _, th := range names {
			g.Go(func() error {
				for seq := uint64(1); seq <= last; seq++ {
					for {
						err := follow(gctx, s, th, []snapshot.Version{version(1, seq), version(1, seq+1)})
						if err == nil {
							break
						}
						select {
						case <-time.After(time.Millisecond):
						case <-gctx.Done():
							return err
						}
					}
					if seq == last/2 {
						half <- struct{}{}
						<-again
					}
					if seq == last-20 { // the last write is after the last death, so that it can be looked for
						<-survived
					}
				}
				return nil
			})
		}
		for range names {
			<-half
		}
		srv.Kill()
		if err := s.Ping(ctx); err == nil {
			t.Error("a dead Redis answers")
		}
		close(again)
		srv.Restart()
		// It is empty, and a second death comes amid the writes.
		redistest.Eventually(t, "writes come through again", func() bool {
			_, err := s.Load(ctx, names[0])
			return err == nil
		})
		srv.Kill()
		srv.Restart()
		close(survived)
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, th := range names {
			stands(t, s, th, version(1, last+1))
		}
	})
}

// A script cache that was flushed is no error.
func TestScriptsAreLoadedAgain(t *testing.T) {
	t.Parallel()
	redistest.EachOwned(t, func(t *testing.T, srv *redistest.Server) {
		s, ctx, th := open(t, srv, nil), t.Context(), fresh()
		for seq := uint64(2); seq < 6; seq++ {
			if err := follow(ctx, s, th, []snapshot.Version{version(1, seq)}); err != nil {
				t.Fatal(err)
			}
			if err := srv.Client().ScriptFlush(ctx).Err(); err != nil {
				t.Fatal(err)
			}
		}
		stands(t, s, th, version(1, 5))
	})
}

// A call ends with its context: at once when that has ended already, at the deadline when the server does not answer.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	s := open(t, redistest.New(t), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Load(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("load: %v", err)
	}
	if _, err := s.Apply(ctx, "x", whole(version(1, 2))); !errors.Is(err, context.Canceled) {
		t.Errorf("apply: %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	s = open(t, redistest.New(t), func(o *snapshot.Options) { o.URL, o.Timeout = "redis://"+silent.Addr().String(), time.Hour })
	for name, call := range map[string]func(context.Context) error{
		"ping":  s.Ping,
		"load":  func(ctx context.Context) error { _, err := s.Load(ctx, "x"); return err },
		"apply": func(ctx context.Context) error { _, err := s.Apply(ctx, "x", whole(version(1, 2))); return err },
		"list":  func(ctx context.Context) error { _, err := s.List(ctx, "", 1, ""); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := call(ctx); err == nil {
			t.Errorf("%s: a silent server answered", name)
		}
		cancel()
	}
}
