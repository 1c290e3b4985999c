package reduce

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

func TestMain(m *testing.M) { natstest.Main(m) }

const shards = 2

// world is a broker, a Redis, and whoever writes the log.
type world struct {
	t     testing.TB
	nats  *natstest.Server
	bus   *bus.Bus
	redis *redistest.Server
	store *snapshot.Store

	writers [shards]*bus.FencedWriter
	logs    map[string]*threadLog
}

// threadLog is what the test has written of a thread, in the present epoch.
type threadLog struct {
	events []agjson.Event

	mu   sync.Mutex
	last bus.Stored // the newest message that is known to be stored
}

func (l *threadLog) stored() bus.Stored {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

func (l *threadLog) store(s bus.Stored) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = s
}

func newWorld(t testing.TB, redis *redistest.Server, opts ...natstest.Option) *world {
	t.Helper()
	n := natstest.New(t, opts...)
	w := &world{t: t, nats: n, bus: n.Bus(t, bus.Options{Shards: shards}), redis: redis, logs: map[string]*threadLog{}}
	w.store = w.openStore(redis.URL)
	for shard := range w.writers {
		fw, err := w.bus.Claim(t.Context(), shard, bus.WriterOptions{Owner: "test"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var g errgroup.Group
		g.Go(func() error { return fw.Run(ctx) })
		t.Cleanup(func() { cancel(); _ = g.Wait() })
		w.writers[shard] = fw
	}
	return w
}

func (w *world) openStore(url string) *snapshot.Store {
	w.t.Helper()
	s, err := snapshot.New(snapshot.Options{URL: url, Prefix: w.redis.Prefix, Timeout: 2 * time.Second})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

// worker is a service that runs.
type worker struct {
	*Service
	t       testing.TB
	logs    *observer.ObservedLogs
	metrics *prometheus.Registry
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
}

func testConfig(id string) Config {
	cfg := Defaults()
	cfg.Worker, cfg.TTL, cfg.Delay, cfg.Progress, cfg.Audit = id, 3*time.Second, 5*time.Millisecond, 20*time.Millisecond, time.Second
	return cfg
}

// start runs a worker until the test ends.
func (w *world) start(cfg Config, store *snapshot.Store) *worker {
	w.t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	reg := prometheus.NewRegistry()
	s, err := New(cfg, Deps{Bus: w.bus, Store: store, Log: zap.New(core), Metrics: reg})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &worker{Service: s, t: w.t, logs: logs, metrics: reg, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(x.done)
		x.err = s.Run(ctx)
	}()
	w.t.Cleanup(func() { _ = x.stop() })
	return x
}

// stop ends the worker and returns what Run did.
func (x *worker) stop() error {
	x.cancel()
	select {
	case <-x.done:
	case <-time.After(2 * natstest.Within):
		x.t.Fatal("Run has not returned")
	}
	return x.err
}

// metric is the sum of a metric's values over its labels that match ("" = all).
func (x *worker) metric(name, label string) float64 {
	x.t.Helper()
	families, err := x.metrics.Gather()
	if err != nil {
		x.t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != "agwire_reduce_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			match := label == ""
			for _, l := range m.GetLabel() {
				match = match || l.GetValue() == label
			}
			if match {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

// errorsLogged are the messages of level Error.
func (x *worker) errorsLogged() []string {
	var out []string
	for _, e := range x.logs.FilterLevelExact(zapcore.ErrorLevel).All() {
		out = append(out, e.Message)
	}
	return out
}

// first is ordinal 0 of every epoch.
func first() agjson.Event {
	return agjson.Event{Body: &agjson.MessagesSnapshot{
		Messages: []agjson.Message{}, Turns: []agjson.TurnRecord{}, Artifacts: []agjson.Artifact{}, Memory: []agjson.MemoryRecord{},
	}}
}

// golden are the streams that the normalizers are tested with, as logs of one thread each, and the reducer's own.
func golden(t testing.TB) map[string][]agjson.Event {
	t.Helper()
	out := map[string][]agjson.Event{}
	for _, pattern := range []string{
		"../../pkg/agjson/reducer/testdata/streams/*.ndjson",
		"../../pkg/agjson/normalizer/*/testdata/frames/*.events.ndjson",
		"../../pkg/agjson/normalizer/*/testdata/frames/*/*.events.ndjson",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			out[filepath.Base(p)] = readStream(t, p)
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d streams", len(out))
	}
	return out
}

func readStream(t testing.TB, path string) []agjson.Event {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	events := []agjson.Event{first()}
	if err := agjson.EachLine(data, func(line []byte) error {
		ev, err := agjson.Decode(line)
		if _, snap := ev.Body.(*agjson.MessagesSnapshot); err == nil && !snap {
			events = append(events, ev)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return events
}

// simple is a stream with everything in it.
func simple(t testing.TB) []agjson.Event {
	return readStream(t, "../../pkg/agjson/reducer/testdata/streams/two-turns.ndjson")
}

// threadOf is a thread of a shard.
func (w *world) threadOf(shard int, name string) string {
	for {
		if w.bus.Shard(name) == shard {
			return name
		}
		name += "'"
	}
}

// push writes the next events of a thread as one message, and returns a channel that is closed when it is stored. The first
// message of a thread is waited for, since its epoch is the next one's.
func (w *world) push(thread string, events ...agjson.Event) <-chan struct{} {
	w.t.Helper()
	l := w.logs[thread]
	if l == nil {
		l = &threadLog{}
		w.logs[thread] = l
	}
	at := int64(len(l.events))
	var body []byte
	for _, ev := range events {
		ev.Seq = int64(len(l.events))
		l.events = append(l.events, ev)
		body = append(agjson.AppendEvent(body, &ev), '\n')
	}
	return w.raw(thread, at, int64(len(events)), body)
}

// raw writes a message of a thread's log, whatever it holds.
func (w *world) raw(thread string, first, count int64, body []byte) <-chan struct{} {
	w.t.Helper()
	l := w.logs[thread]
	h := bus.EventHeader{Thread: thread, First: first, Count: count, Frame: -1}
	if !h.Starts() {
		h.Epoch = l.stored().Epoch
	}
	stored := make(chan struct{})
	err := w.writers[w.bus.Shard(thread)].Publish(w.t.Context(), h, body, func(s bus.Stored) {
		l.store(s)
		close(stored)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if h.Starts() {
		w.await(stored)
	}
	return stored
}

func (w *world) await(stored <-chan struct{}) {
	w.t.Helper()
	select {
	case <-stored:
	case <-time.After(2 * natstest.Within):
		w.t.Fatal("a message is not stored")
	}
}

// anew forgets what a thread's log holds, so that the next push begins an epoch.
func (w *world) anew(thread string) { delete(w.logs, thread) }

// sorted is a result with its memory as a set.
func sorted(res agjson.ReduceResult) []byte {
	res.Memory = slices.Clone(res.Memory)
	key := func(m agjson.MemoryRecord) string {
		if m.Key == nil {
			return ""
		}
		return *m.Key
	}
	slices.SortFunc(res.Memory, func(a, b agjson.MemoryRecord) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(key(a), key(b)))
	})
	return agjson.AppendReduceResult(nil, &res)
}

// upToDate waits until Redis has every thread as its log is, and checks that it is the fold of it (SPEC §5 INV-FOLD).
func (w *world) upToDate(what string) {
	w.t.Helper()
	for id := range w.logs {
		w.threadUpToDate(what, id)
	}
}

func (w *world) threadUpToDate(what, id string) {
	w.t.Helper()
	l := w.logs[id]
	var snap snapshot.Snapshot
	var err error
	var mu sync.Mutex
	defer func() {
		if w.t.Failed() {
			mu.Lock()
			defer mu.Unlock()
			w.t.Logf("%s: thread %q stands at %+v, %v; its log at %d", what, id, snap.Position, err, len(l.events)-1)
		}
	}()
	natstest.Eventually(w.t, what+": the thread is as its log is", func() bool {
		mu.Lock()
		defer mu.Unlock()
		snap, err = w.store.Load(w.t.Context(), id)
		return err == nil && snap.Position.Ordinal == int64(len(l.events)-1) && threads.EpochOf(snap.Position.Version) == l.stored().Epoch
	})
	w.checkFold(what, id, snap, l.events)
}

// checkFold compares what is stored with the fold of events.
func (w *world) checkFold(what, id string, snap snapshot.Snapshot, events []agjson.Event) {
	w.t.Helper()
	f, err := threads.Restore(id, snap)
	if err != nil {
		w.t.Fatalf("%s: %q: %v", what, id, err)
	}
	numbered := slices.Clone(events)
	for i := range numbered {
		numbered[i].Seq = int64(i)
	}
	want := reducer.Fold(numbered)
	if at, ok := jsonpatch.Difference(sorted(f.Result()), sorted(want.Result())); !ok {
		w.t.Fatalf("%s: %q differs at %s\n got %.1500s\nwant %.1500s", what, id, at, sorted(f.Result()), sorted(want.Result()))
	}
	if snap.Position.OpenTurn != want.OpenTurn() {
		w.t.Errorf("%s: %q is open: %v", what, id, snap.Position.OpenTurn)
	}
}

// missing says that Redis has nothing of a thread.
func (w *world) missing(id string) bool {
	_, err := w.store.Load(w.t.Context(), id)
	return errors.Is(err, snapshot.ErrNotFound)
}

func (w *world) key(thread string) string { return w.redis.Prefix + "t:{" + thread + "}" }

func contains(list []string, part string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) })
}
