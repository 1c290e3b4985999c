package normalize_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/sources"
	"github.com/agwire/agwire/pkg/agjson/reducer"
	"github.com/agwire/agwire/services/normalize"
)

func TestMain(m *testing.M) { natstest.Main(m) }

func connect(t testing.TB, srv *natstest.Server, shards int) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(context.Background(), bus.Options{URL: srv.URL(), Shards: shards})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// worker is a running service.
type worker struct {
	stop func() error // once or more
}

func start(t testing.TB, b *bus.Bus, name string, change func(*normalize.Config)) *worker {
	t.Helper()
	cfg := normalize.Defaults()
	cfg.Worker = name
	if change != nil {
		change(&cfg)
	}
	s, err := normalize.New(cfg, normalize.Deps{Bus: b, Log: zap.NewNop(), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { done <- s.Run(ctx) })
	w := &worker{stop: sync.OnceValue(func() error {
		cancel()
		wg.Wait()
		return <-done
	})}
	t.Cleanup(func() {
		if err := w.stop(); err != nil && !errors.Is(err, bus.ErrClosed) {
			t.Errorf("worker %s: %v", name, err)
		}
	})
	natstest.Eventually(t, "the worker is ready", s.Ready)
	return w
}

// stream is a recording.
type stream struct {
	name, source string
	frames       [][]byte
}

// recordings are the streams of the sources' testdata.
func recordings(t testing.TB, source string, n int) []stream {
	t.Helper()
	root := "../../pkg/agjson/normalizer/" + source + "/testdata/frames"
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".ndjson") && !strings.HasSuffix(path, ".events.ndjson") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var list []stream
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(f)) + "/" + strings.TrimSuffix(filepath.Base(f), ".ndjson")
		s := stream{name: name, source: source}
		for _, line := range bytes.Split(data, []byte("\n")) {
			if len(bytes.TrimSpace(line)) > 0 {
				s.frames = append(s.frames, line)
			}
		}
		list = append(list, s)
	}
	if len(list) < n {
		t.Fatalf("%d recordings of %s, want at least %d", len(list), source, n)
	}
	return list
}

// upload stores a stream as an invoke, from a frame on, with its end.
func upload(t testing.TB, b *bus.Bus, thread, invoke string, s stream, n int, end bool) {
	t.Helper()
	a, st, err := b.OpenInvoke(t.Context(), thread, invoke, bus.InvokeStart{Source: s.source})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for i := st.Next; i < int64(n); i++ {
		if err := a.Append(t.Context(), i, s.frames[i]); err != nil {
			t.Fatal(err)
		}
	}
	if end {
		if err := a.End(t.Context(), bus.End{Reason: bus.EndDone}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// offline is what one invoke alone in a thread must have in the log: the snapshot at ordinal 0, and what its normalizer says.
func offline(t testing.TB, thread, invoke string, s stream) []agjson.Event {
	t.Helper()
	m, err := sources.New(s.source, normalizer.Host{ThreadID: thread, TurnID: "turn_" + invoke, Invoke: invoke})
	if err != nil {
		t.Fatal(err)
	}
	events := []agjson.Event{{Body: &agjson.MessagesSnapshot{
		Messages: []agjson.Message{}, Turns: []agjson.TurnRecord{}, Artifacts: []agjson.Artifact{}, Memory: []agjson.MemoryRecord{},
	}}}
	for _, f := range s.frames {
		events = append(events, m.Push(f)...)
	}
	events = append(events, m.Flush()...)
	for i := range events {
		events[i].Seq = int64(i)
	}
	return events
}

func text(events []agjson.Event) string {
	var b []byte
	for i := range events {
		b = append(agjson.AppendEvent(b, &events[i]), '\n')
	}
	return string(b)
}

// log reads a thread, and checks what must hold in every log: ordinals from 0, gap-free, each message where its header says,
// one epoch (SPEC §5 INV-SEQ; DESIGN §1, §3).
func log(t testing.TB, b *bus.Bus, thread string) (body string, closed map[string]bool) {
	t.Helper()
	closed = map[string]bool{}
	var next int64
	var epoch bus.Epoch
	for m, err := range b.ReadThread(t.Context(), thread, 1) {
		if errors.Is(err, bus.ErrNotFound) {
			return "", closed
		}
		if err != nil || m.Err != nil {
			t.Fatal(err, m.Err)
		}
		if epoch.IsZero() {
			epoch = m.Epoch
		}
		if m.First != next || m.Epoch != epoch {
			t.Fatalf("%s: a message begins at %s-%d, want %s-%d", thread, m.Epoch, m.First, epoch, next)
		}
		if m.Closed {
			closed[m.Invoke] = true
		}
		body += string(m.Body)
		if err := agjson.EachLine(m.Body, func(line []byte) error {
			ev, err := agjson.Decode(line)
			if err == nil && ev.Seq != next {
				err = fmt.Errorf("ordinal %d, want %d", ev.Seq, next)
			}
			next++
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if next != m.Last()+1 {
			t.Fatalf("%s: a message ends at %d, its header says %d", thread, next-1, m.Last())
		}
	}
	return body, closed
}

func waitClosed(t testing.TB, b *bus.Bus, thread string, invokes ...string) string {
	t.Helper()
	var body string
	natstest.Eventually(t, "the invokes of "+thread+" are closed in the log", func() bool {
		h, err := b.Head(t.Context(), thread)
		if err != nil || h.Count == 0 && h.First == 0 {
			return false
		}
		var closed map[string]bool
		body, closed = log(t, b, thread)
		for _, id := range invokes {
			if !closed[id] {
				return false
			}
		}
		return true
	})
	return body
}

// foldable fails when a strict fold of a log parks (DESIGN §1).
func foldable(t testing.TB, body string) agjson.ReduceResult {
	t.Helper()
	r := reducer.New()
	if err := agjson.EachLine([]byte(body), func(line []byte) error {
		ev, err := agjson.Decode(line)
		if err == nil {
			r.Push(ev)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if why := r.Parked(); why != "" {
		t.Fatalf("the fold parks: %s", why)
	}
	return r.Result()
}

func TestLogSaysWhatTheNormalizerSays(t *testing.T) {
	srv := natstest.New(t)
	b := connect(t, srv, 4)
	start(t, b, "w1", nil)
	for _, source := range []string{"vercel", "claude"} {
		for _, s := range recordings(t, source, 20) {
			thread := source + "/" + s.name
			upload(t, b, thread, "i", s, len(s.frames), true)
		}
	}
	for _, source := range []string{"vercel", "claude"} {
		for _, s := range recordings(t, source, 20) {
			thread := source + "/" + s.name
			body := waitClosed(t, b, thread, "i")
			if want := text(offline(t, thread, "i", s)); body != want {
				t.Errorf("%s: the log differs from the offline conversion", thread)
			}
			foldable(t, body)
		}
	}
}

// Whoever works on a shard, and however often it changes hands in the middle of invokes, the log is the same (DESIGN §3).
func TestHandOverInTheMiddle(t *testing.T) {
	srv := natstest.New(t)
	b := connect(t, srv, 2)
	list := recordings(t, "vercel", 20)[:20]
	for round := 0; ; round++ {
		w := start(t, connect(t, srv, 2), fmt.Sprintf("w%d", round), nil)
		more := false
		for _, s := range list {
			n := min(len(s.frames), (round+1)*3)
			more = more || n < len(s.frames)
			if (round+1)*3-3 < len(s.frames) {
				upload(t, b, s.name, "i", s, n, n == len(s.frames))
			}
		}
		if !more {
			for _, s := range list {
				body := waitClosed(t, b, s.name, "i")
				if want := text(offline(t, s.name, "i", s)); body != want {
					t.Errorf("%s: the log differs after %d hand-overs\n%s\nwant\n%s", s.name, round, body, want)
				}
			}
			return
		}
		if err := w.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// A worker that dies without a word leaves what the next one needs.
func TestDeathInTheMiddle(t *testing.T) {
	srv := natstest.New(t)
	b := connect(t, srv, 2)
	list := recordings(t, "vercel", 20)[:20]
	quick := func(c *normalize.Config) { c.CheckpointEvery = 3 }
	for round := 0; round < 4; round++ {
		own := connect(t, srv, 2)
		w := start(t, own, "w", quick)
		for i, s := range list {
			if half := len(s.frames) * (round + 1) / 4; i%4 <= round {
				upload(t, b, s.name, "i", s, half, round == 3)
			}
		}
		if round < 3 {
			own.Close() // as a kill: nothing is drained, nothing said
			if err := w.stop(); err != nil && !errors.Is(err, bus.ErrClosed) {
				t.Fatal(err)
			}
			continue
		}
		for _, s := range list {
			body := waitClosed(t, b, s.name, "i")
			if want := text(offline(t, s.name, "i", s)); body != want {
				t.Errorf("%s: the log differs", s.name)
			}
		}
	}
}

// Two invokes at once in one thread, and the same recording again: no id collides, and the log folds.
func TestManyInvokesOneThread(t *testing.T) {
	srv := natstest.New(t)
	b := connect(t, srv, 1)
	start(t, b, "w", nil)
	list := recordings(t, "vercel", 20)[:12]
	var invokes []string
	for half := 1; half <= 2; half++ {
		for _, s := range list {
			for _, copy := range []string{"a", "b"} {
				id := s.name + "." + copy
				upload(t, b, "t", id, s, len(s.frames)*half/2, half == 2)
				if half == 2 {
					invokes = append(invokes, id)
				}
			}
		}
	}
	body := waitClosed(t, b, "t", invokes...)
	if strings.Contains(body, "ext.agwire.refused") {
		t.Error("events were refused")
	}
	result := foldable(t, body)
	if len(result.Turns) < len(invokes) {
		t.Errorf("%d turns of %d invokes", len(result.Turns), len(invokes))
	}
	for _, turn := range result.Turns {
		if turn.Outcome == nil {
			t.Errorf("turn %s is not closed", turn.TurnID)
		}
	}
}

// startWriter runs a writer until the function it returns is called.
func startWriter(t testing.TB, w *bus.FencedWriter) func() {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return func() { cancel(); wg.Wait() }
}
