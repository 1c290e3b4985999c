package redistest_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agwire/agwire/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFlushKeepsWhatIsNotOurs(t *testing.T) {
	redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
		c, ctx := srv.Client(), t.Context()
		foreign := "x" + srv.Prefix
		if err := c.Set(ctx, foreign+"a", "1", time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"a", "b", "{c}"} {
			if err := c.Set(ctx, srv.Prefix+key, "1", 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		srv.Flush()
		for _, key := range []string{"a", "b", "{c}"} {
			if n := c.Exists(ctx, srv.Prefix+key).Val(); n != 0 {
				t.Errorf("%s is still there", key)
			}
		}
		if n := c.Exists(ctx, foreign+"a").Val(); n != 1 {
			t.Error("a foreign key is gone")
		}
		c.Del(ctx, foreign+"a")
	})
}

func TestKillAndRestart(t *testing.T) {
	redistest.EachOwned(t, func(t *testing.T, srv *redistest.Server) {
		c, ctx := srv.Client(), t.Context()
		if err := c.Set(ctx, srv.Prefix+"a", "1", 0).Err(); err != nil {
			t.Fatal(err)
		}
		srv.Kill()
		if err := c.Ping(ctx).Err(); err == nil {
			t.Error("a killed server answers")
		}
		srv.Restart()
		redistest.Eventually(t, "it answers again", func() bool { return c.Ping(ctx).Err() == nil })
		if n := c.Exists(ctx, srv.Prefix+"a").Val(); n != 0 {
			t.Error("it still has what it held")
		}
	})
}

func TestPrefixesDiffer(t *testing.T) {
	if a, b := redistest.New(t), redistest.New(t); a.Prefix == b.Prefix || a.Prefix == "" {
		t.Errorf("%q and %q", a.Prefix, b.Prefix)
	}
}
