package bus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/embednats"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/internal/subject"
)

func TestSetupInSeveralProcessesAtOnce(t *testing.T) {
	srv := natstest.New(t)
	ctx := ctxT(t)
	var wg sync.WaitGroup
	for range 4 {
		b := must(bus.Connect(ctx, bus.Options{URL: srv.URL(), Shards: 8}))(t)
		t.Cleanup(b.Close)
		wg.Go(func() {
			if err := b.Setup(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestSetupRefusesOtherSettings(t *testing.T) {
	srv := natstest.New(t)
	srv.Bus(t, bus.Options{Shards: 4})
	ctx := ctxT(t)
	b := must(bus.Connect(ctx, bus.Options{URL: srv.URL(), Shards: 8}))(t)
	defer b.Close()
	err := b.Setup(ctx)
	if !errors.Is(err, bus.ErrMismatch) || bus.DispositionOf(err) != bus.Stop || !strings.Contains(err.Error(), `agwire-shards is "4", not "8"; give --shards 4 or AGWIRE_SHARDS=4`) {
		t.Fatal(err)
	}
	// Another prefix is another deployment.
	srv.Bus(t, bus.Options{Shards: 8, Prefix: "other"})
	// A stream of that name which is none of ours.
	js := must(jetstream.New(must(nats.Connect(srv.URL()))(t)))(t)
	defer js.Conn().Close()
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "THIRD_FRAMES_0", Subjects: []string{"third.f.0.>"}, Storage: jetstream.MemoryStorage})
	ok(t, err)
	third := must(bus.Connect(ctx, bus.Options{URL: srv.URL(), Shards: 1, Prefix: "third"}))(t)
	defer third.Close()
	err = third.Setup(ctx)
	for _, want := range []string{"agwire-version", "subjects", "storage", "discard", "atomic"} {
		if !errors.Is(err, bus.ErrMismatch) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestSetupBringsLimitsUpToDate(t *testing.T) {
	srv := natstest.New(t)
	srv.Bus(t, bus.Options{Shards: 1})
	srv.Bus(t, bus.Options{Shards: 1, FramesMaxAge: time.Hour, EventsMaxBytes: 1 << 20})
	js := must(jetstream.New(must(nats.Connect(srv.URL()))(t)))(t)
	defer js.Conn().Close()
	frames := must(js.Stream(ctxT(t), "AGW_FRAMES_0"))(t).CachedInfo().Config
	events := must(js.Stream(ctxT(t), "AGW_EVENTS_0"))(t).CachedInfo().Config
	if frames.MaxAge != time.Hour || frames.Discard != jetstream.DiscardNew || events.MaxBytes != 1<<20 || events.Discard != jetstream.DiscardOld {
		t.Fatalf("%+v\n%+v", frames, events)
	}
}

func TestSetupNeedsItsPayload(t *testing.T) {
	srv := natstest.New(t, natstest.MaxPayload(16<<10))
	b := must(bus.Connect(ctxT(t), bus.Options{URL: srv.URL()}))(t)
	defer b.Close()
	if err := b.Setup(ctxT(t)); !errors.Is(err, bus.ErrFatal) {
		t.Fatal(err)
	}
}

func TestOptionsNameEveryBadField(t *testing.T) {
	_, err := bus.Connect(ctxT(t), bus.Options{
		Prefix: "A b", Shards: 5000, Replicas: 2, FramesMaxAge: time.Minute, LongestInvoke: time.Hour, EventsMaxAge: -1,
		FramesMaxBytes: -1, EventsMaxBytes: -1, Window: 999, MaxMessage: 1, AckWait: -1, CertFile: "x", User: "u",
	})
	for _, want := range []string{
		"prefix", "shards", "replicas", "frames max age", "events max age", "frames max bytes", "events max bytes",
		"window", "max message", "ack wait", "cert file", "user",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestConnectWaitsForTheBroker(t *testing.T) {
	short, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := bus.Connect(short, bus.Options{URL: "nats://127.0.0.1:1"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	srv := natstest.New(t)
	url := srv.URL()
	srv.Stop()
	res := make(chan error, 1)
	go func() {
		b, err := bus.Connect(ctxT(t), bus.Options{URL: url})
		if err == nil {
			b.Close()
			b.Close()
		}
		res <- err
	}()
	srv.Start(t)
	ok(t, <-res)
}

func TestInProcess(t *testing.T) {
	srv := must(embednats.Start(ctxT(t), embednats.Options{Dir: t.TempDir()}))(t)
	defer srv.Stop()
	b := must(bus.Connect(ctxT(t), bus.Options{InProcess: srv, Shards: 1}))(t)
	defer b.Close()
	ok(t, b.Setup(ctxT(t)))
	ok(t, b.Ping(ctxT(t)))
	must(b.AppendInput(ctxT(t), "t", "x", []byte("y")))(t)
}

// TestShardsAreTheServersPartitions: an account mapping puts a producer that
// publishes straight to the broker where this code would.
func TestShardsAreTheServersPartitions(t *testing.T) {
	tr := must(server.NewSubjectTransform("in.*.*", "agw.f.{{partition(64,1)}}.{{wildcard(1)}}.{{wildcard(2)}}"))(t)
	n := must(subject.New("agw", 64))(t)
	rapid.Check(t, func(t *rapid.T) {
		thread := rapid.StringN(1, 40, 256).Draw(t, "thread")
		if want := tr.TransformSubject("in." + subject.Escape(thread) + ".i"); n.Frames(thread, "i") != want {
			t.Fatalf("%q, the server says %q", n.Frames(thread, "i"), want)
		}
	})
}

func TestDispositions(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bus.Disposition
	}{
		{nil, bus.Next},
		{errors.New("x"), bus.Retry},
		{context.DeadlineExceeded, bus.Retry},
		{fmt.Errorf("a: %w", bus.ErrFull), bus.Retry},
		{fmt.Errorf("a: %w", bus.ErrPoison), bus.Park},
		{fmt.Errorf("a: %w", malformed{}), bus.Park},
		{bus.Guard(func() error { panic("secret") }), bus.Park},
		{fmt.Errorf("a: %w", bus.ErrFatal), bus.Stop},
		{fmt.Errorf("a: %w", bus.ErrFenced), bus.Stop},
		{context.Canceled, bus.Stop},
		{errors.Join(bus.ErrPoison, context.Canceled), bus.Stop},
	} {
		if got := bus.DispositionOf(c.err); got != c.want {
			t.Errorf("%v: %v, not %v", c.err, got, c.want)
		}
	}
	err := bus.Guard(func() error { panic("secret") })
	var p *bus.PanicError
	if !errors.As(err, &p) || !errors.Is(err, bus.ErrPanic) || strings.Contains(err.Error(), "secret") || len(p.Stack) == 0 {
		t.Errorf("%v", err)
	}
	if err := bus.Guard(func() error { return context.Canceled }); err != context.Canceled {
		t.Error(err)
	}
	if s := fmt.Sprint(bus.Next, bus.Retry, bus.Park, bus.Stop, bus.Disposition(9)); s != "next retry park stop disposition(9)" {
		t.Error(s)
	}
}

type malformed struct{}

func (malformed) Error() string   { return "malformed" }
func (malformed) Malformed() bool { return true }

func TestCursorsHaveOneSpelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := bus.Cursor{
			Epoch:   bus.Epoch{Incarnation: rapid.Int64Min(1).Draw(t, "incarnation"), Seq: rapid.Uint64Min(1).Draw(t, "seq")},
			Ordinal: rapid.Int64Min(0).Draw(t, "ordinal"),
		}
		back, err := bus.ParseCursor(c.String())
		if err != nil || back != c {
			t.Fatalf("%v came back as %v, %v", c, back, err)
		}
	})
	for _, s := range []string{"", "-", "a-1", "a.b", "a.b-", "a.b-x", "a.b--1", "a.b-01", "A.b-1", "0.b-1", "a.0-1", "a.b-+1", "a.b-1 ", "01.b-1", ".-1", "-5"} {
		if c, err := bus.ParseCursor(s); err == nil {
			t.Errorf("%q was read as %+v", s, c)
		}
	}
	if e, err := bus.ParseEpoch(""); err != nil || !e.IsZero() {
		t.Error(e, err)
	}
	old, young := bus.Epoch{Incarnation: 1, Seq: 9}, bus.Epoch{Incarnation: 2, Seq: 1}
	if old.Compare(young) != -1 || young.Compare(old) != 1 || old.Compare(old) != 0 || old.Compare(bus.Epoch{Incarnation: 1, Seq: 10}) != -1 {
		t.Error("order of epochs")
	}
}
