package fanout_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/client"
	"github.com/agwire/agwire/services/fanout"
)

func TestMain(m *testing.M) { natstest.Main(m) }

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

// rig is a broker, a store and a fanout, with clients on loopback.
type rig struct {
	t     testing.TB
	nats  *natstest.Server
	bus   *bus.Bus // of who writes the log
	view  *bus.Bus // of fanout
	store *snapshot.Store
	svc   *fanout.Service
	reg   *prometheus.Registry
	http  *httptest.Server
	stop  func()

	narrow bool // raw clients are connected with small buffers

	mu      sync.Mutex
	writers map[int]*bus.FencedWriter
}

// options of a rig.
type options struct {
	change func(*fanout.Config)
	proxy  func(*natstest.Server) string // where fanout finds the broker; nil = at the broker
	broker *natstest.Server              // nil = one of its own
	shards int
	events int64 // bytes of a shard's events that the log keeps; 0 = all
}

func newRig(t testing.TB, o options) *rig {
	t.Helper()
	r := &rig{t: t, nats: o.broker, writers: map[int]*bus.FencedWriter{}}
	if r.nats == nil {
		r.nats = natstest.New(t)
	}
	r.bus = r.nats.Bus(t, bus.Options{Shards: o.shards, EventsMaxBytes: o.events})
	r.view = r.bus
	if o.proxy != nil {
		shards := o.shards
		if shards == 0 {
			shards = 4
		}
		r.view = must(bus.Connect(t.Context(), bus.Options{URL: o.proxy(r.nats), Shards: shards}))(t)
		t.Cleanup(r.view.Close)
	}
	redis := redistest.New(t)
	r.store = must(snapshot.New(snapshot.Options{URL: redis.URL, Prefix: redis.Prefix}))(t)
	t.Cleanup(func() { _ = r.store.Close() })
	r.reg = prometheus.NewRegistry()
	read := must(threads.New(threads.Defaults(), threads.Deps{Bus: r.view, Store: r.store, Log: zap.NewNop(), Metrics: r.reg}))(t)
	cfg := fanout.Defaults()
	cfg.Drain = 200 * time.Millisecond
	if o.change != nil {
		o.change(&cfg)
	}
	r.svc = must(fanout.New(cfg, fanout.Deps{Bus: r.view, Joiner: read, Store: r.store, Log: zap.NewNop(), Metrics: r.reg, Routes: read.Routes()}))(t)
	mux := http.NewServeMux()
	for pattern, h := range r.svc.Routes() {
		mux.Handle(pattern, h)
	}
	r.http = httptest.NewServer(mux)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := r.svc.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	r.stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(func() { r.stop(); r.http.Close() })
	natstest.Eventually(t, "fanout is ready", r.svc.Ready)
	return r
}

// dial connects a client that comes back quickly; it ends with the test.
func (r *rig) dial(t testing.TB, change func(*client.Options)) *client.Client {
	t.Helper()
	tr := &http.Transport{}
	o := client.Options{
		URL: r.http.URL, HTTPClient: &http.Client{Transport: tr}, MinBackoff: 5 * time.Millisecond, MaxBackoff: 50 * time.Millisecond,
		Grace: 100 * time.Millisecond,
	}
	if change != nil {
		change(&o)
	}
	c := must(client.Dial(t.Context(), o))(t)
	t.Cleanup(func() { _ = c.Close(); tr.CloseIdleConnections() })
	return c
}

// writer is the owner of a shard.
func (r *rig) writer(shard int) *bus.FencedWriter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.writers[shard]; w != nil {
		return w
	}
	w := must(r.bus.Claim(context.Background(), shard, bus.WriterOptions{Owner: "test"}))(r.t)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = w.Run(ctx) })
	r.t.Cleanup(func() { cancel(); wg.Wait() })
	r.writers[shard] = w
	return w
}

// thread is a thread's log and the one who writes it.
type thread struct {
	r     *rig
	id    string
	epoch bus.Epoch
	next  int64
	fold  *threads.Fold // set by reduce
}

func (r *rig) thread(id string) *thread { return &thread{r: r, id: id} }

// append stores events as one message, re-stamped, and waits until it is stored.
func (l *thread) append(t testing.TB, events ...agjson.Event) bus.Stored {
	t.Helper()
	return l.write(t, l.lines(events), int64(len(events)))
}

func (l *thread) lines(events []agjson.Event) []byte {
	var body []byte
	for i, ev := range events {
		ev.Seq = l.next + int64(i)
		body = append(agjson.AppendEvent(body, &ev), '\n')
	}
	return body
}

// write stores a body of n events and waits until it is stored.
func (l *thread) write(t testing.TB, body []byte, n int64) bus.Stored {
	t.Helper()
	ch := make(chan bus.Stored, 1)
	l.send(t, body, n, func(s bus.Stored) { ch <- s })
	s := <-ch
	l.epoch = s.Epoch
	return s
}

// send is write without waiting; the thread must have begun.
func (l *thread) send(t testing.TB, body []byte, n int64, done func(bus.Stored)) {
	t.Helper()
	h := bus.EventHeader{Thread: l.id, Epoch: l.epoch, First: l.next, Count: n, Frame: -1}
	if l.next == 0 {
		h.Epoch = bus.Epoch{}
	}
	l.next += n
	ok(t, l.r.writer(l.r.bus.Shard(l.id)).Publish(context.Background(), h, body, done))
}

// cursor is that of the last event written.
func (l *thread) cursor() string { return bus.Cursor{Epoch: l.epoch, Ordinal: l.next - 1}.String() }

// reduce writes the thread's fold to the store, as far as the log has it.
func (l *thread) reduce(t testing.TB) {
	t.Helper()
	if l.fold == nil {
		l.fold = threads.NewFold(l.id)
	}
	at := must(l.r.bus.Head(context.Background(), l.id))(t)
	from := uint64(1)
	if l.fold.Epoch() == at.Epoch {
		from = l.fold.Position().Sequence + 1
	}
	for m, err := range l.r.bus.ReadThreadTo(context.Background(), l.id, from, at.StreamSeq) {
		ok(t, err)
		must(l.fold.Take(&m))(t)
	}
	if !l.fold.Dirty() {
		return
	}
	res := must(l.r.store.Apply(context.Background(), l.id, l.fold.Update()))(t)
	if res.Outcome != snapshot.Applied {
		t.Fatalf("the fold was not stored: %v", res.Outcome)
	}
	l.fold.Stored(l.fold.Position().Version)
}

// stream is a log as events.
type stream struct {
	name   string
	events []agjson.Event
	want   string // AgReduceResult of the whole
}

func first() agjson.Event {
	return agjson.Event{Body: &agjson.MessagesSnapshot{
		Messages: []agjson.Message{}, Turns: []agjson.TurnRecord{}, Artifacts: []agjson.Artifact{}, Memory: []agjson.MemoryRecord{},
	}}
}

// streams are the golden streams of the normalizers and of the reducer, as a log holds them.
func streams(t testing.TB) []stream {
	t.Helper()
	var out []stream
	for _, pattern := range []string{
		"../../pkg/agjson/reducer/testdata/streams/*.ndjson",
		"../../pkg/agjson/normalizer/*/testdata/frames/*.events.ndjson",
		"../../pkg/agjson/normalizer/*/testdata/frames/*/*.events.ndjson",
	} {
		for _, p := range must(filepath.Glob(pattern))(t) {
			s := stream{name: strings.TrimSuffix(strings.TrimPrefix(p, "../../pkg/agjson/"), ".ndjson"), events: []agjson.Event{first()}}
			err := agjson.EachLine(must(os.ReadFile(p))(t), func(line []byte) error {
				ev, err := agjson.Decode(line)
				if _, snap := ev.Body.(*agjson.MessagesSnapshot); err == nil && !snap {
					ev.Seq = int64(len(s.events))
					s.events = append(s.events, ev)
				}
				return err
			})
			ok(t, err)
			f := client.NewFold()
			ok(t, f.Apply(client.Batch{Events: raws(s.events)}))
			s.want = text(f)
			out = append(out, s)
		}
	}
	if len(out) < 50 {
		t.Fatalf("only %d streams", len(out))
	}
	return out
}

// longest is the stream with most events.
func longest(t testing.TB) stream {
	return slices.MaxFunc(streams(t), func(a, b stream) int { return len(a.events) - len(b.events) })
}

func raws(events []agjson.Event) []json.RawMessage {
	out := make([]json.RawMessage, len(events))
	for i := range events {
		out[i] = agjson.AppendEvent(nil, &events[i])
	}
	return out
}

// text is a fold's result in one spelling; a memory is a set, whose order a pair does not keep.
func text(f *client.Fold) string {
	res := f.Result()
	res.Memory = slices.Clone(res.Memory)
	slices.SortFunc(res.Memory, func(a, b agjson.MemoryRecord) int {
		return bytes.Compare(agjson.AppendMemoryRecord(nil, &a), agjson.AppendMemoryRecord(nil, &b))
	})
	return string(agjson.AppendReduceResult(nil, &res))
}

// follower is a client's subscription that is folded until it has come to an ordinal.
type follower struct {
	mu      sync.Mutex
	cond    *sync.Cond
	fold    *client.Fold
	seq     int64
	cursor  string
	resets  []string
	batches int
	events  int
	err     error
}

// follow folds a subscription in the background until it ends.
func follow(t testing.TB, c *client.Client, id, from string, with *client.Fold) (*follower, *client.Subscription) {
	t.Helper()
	s := must(c.Subscribe(id, from))(t)
	f := &follower{fold: with, seq: -1}
	f.cond = sync.NewCond(&f.mu)
	if f.fold == nil {
		f.fold = client.NewFold()
	} else {
		f.seq = with.Seq()
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for b, err := range s.Batches(ctx) {
			if !f.take(b, err) {
				return
			}
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return f, s
}

func (f *follower) take(b client.Batch, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.cond.Broadcast()
	if err == nil {
		before := f.fold.Seq()
		err = f.fold.Apply(b)
		if err == nil && b.Reset == "" && f.fold.Seq() != before+int64(len(b.Events)) {
			err = fmt.Errorf("%d events took the fold from %d to %d", len(b.Events), before, f.fold.Seq())
		}
	}
	if err != nil {
		f.err = err
		return false
	}
	if b.Reset != "" {
		f.resets = append(f.resets, b.Reset)
	}
	f.batches++
	f.events += len(b.Events)
	f.seq, f.cursor = f.fold.Seq(), b.Cursor
	return true
}

// wait waits until the fold has come to an ordinal.
func (f *follower) wait(t testing.TB, seq int64) {
	t.Helper()
	timeout := time.AfterFunc(natstest.Within, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.err == nil {
			f.err = errors.New("not in time")
		}
		f.cond.Broadcast()
	})
	defer timeout.Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.seq < seq && f.err == nil {
		f.cond.Wait()
	}
	if f.seq < seq {
		t.Fatalf("at ordinal %d of %d after %d batches and resets %q: %v", f.seq, seq, f.batches, f.resets, f.err)
	}
}

func (f *follower) result() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return text(f.fold)
}

func (f *follower) reasons() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.resets)
}

// metric is the sum of a metric over its labels, or of those with one value of a label.
func (r *rig) metric(name string, label ...string) float64 {
	r.t.Helper()
	sum := 0.0
	for _, f := range must(r.reg.Gather())(r.t) {
		if f.GetName() != name && f.GetName() != "agwire_fanout_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			match := len(label) == 0
			for _, l := range m.GetLabel() {
				match = match || l.GetValue() == label[0]
			}
			if match {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}
