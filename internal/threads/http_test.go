package threads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap/zaptest"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// world is a log, a Redis, and the read API over both.
type world struct {
	t     testing.TB
	nats  *natstest.Server
	bus   *bus.Bus
	redis *redistest.Server
	store *snapshot.Store
	api   *Threads
	srv   *httptest.Server

	mu      sync.Mutex
	writers map[int]*bus.FencedWriter
	epochs  map[string]bus.Epoch
}

func newWorld(t testing.TB, srv *redistest.Server) *world {
	t.Helper()
	n := natstest.New(t)
	w := &world{t: t, nats: n, bus: n.Bus(t, bus.Options{Shards: 2}), redis: srv, store: open(t, srv), writers: map[int]*bus.FencedWriter{}, epochs: map[string]bus.Epoch{}}
	cfg := Defaults()
	cfg.StoreWait, cfg.Wait = 2*time.Second, 10*time.Second
	var err error
	w.api, err = New(cfg, Deps{Bus: w.bus, Store: w.store, Log: zaptest.NewLogger(t), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, h := range w.api.Routes() {
		mux.Handle(pattern, h)
	}
	w.srv = httptest.NewServer(mux)
	t.Cleanup(w.srv.Close)
	return w
}

// writer is the one of a shard; it ends with the test.
func (w *world) writer(shard int) *bus.FencedWriter {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if fw := w.writers[shard]; fw != nil {
		return fw
	}
	fw, err := w.bus.Claim(w.t.Context(), shard, bus.WriterOptions{Owner: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return fw.Run(ctx) })
	w.t.Cleanup(func() { cancel(); _ = g.Wait() })
	w.writers[shard] = fw
	return fw
}

// log writes events to the thread's log, as one message, and waits until it is stored.
func (w *world) log(thread string, events []agjson.Event) bus.Stored {
	w.t.Helper()
	h := bus.EventHeader{Thread: thread, First: events[0].Seq, Count: int64(len(events)), Frame: -1}
	if h.First > 0 {
		h.Epoch = w.epochs[thread]
	}
	done := make(chan bus.Stored, 1)
	fw := w.writer(w.bus.Shard(thread))
	if err := fw.Publish(w.t.Context(), h, ndjson(events), func(s bus.Stored) { done <- s }); err != nil {
		w.t.Fatal(err)
	}
	select {
	case s := <-done:
		w.epochs[thread] = s.Epoch
		return s
	case <-time.After(natstest.Within):
		w.t.Fatal("a message is not stored")
		return bus.Stored{}
	}
}

// reduce writes the thread's fold, as the log has it now, to Redis.
func (w *world) reduce(thread string) {
	w.t.Helper()
	f, err := FromLog(w.t.Context(), w.bus, thread, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if res, err := w.store.Apply(w.t.Context(), thread, f.Update()); err != nil || res.Outcome != snapshot.Applied {
		w.t.Fatal(res, err)
	}
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (w *world) get(path string, header ...string) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.srv.URL+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := w.srv.Client().Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

type threadBody struct {
	Thread string          `json:"thread"`
	Cursor string          `json:"cursor"`
	Open   bool            `json:"open"`
	Result json.RawMessage `json:"result"`
}

func (w *world) thread(id, query string) threadBody {
	w.t.Helper()
	a := w.get("/v1/threads/" + url.PathEscape(id) + query)
	var b threadBody
	if err := json.Unmarshal([]byte(a.body), &b); err != nil || a.status != 200 {
		w.t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	if b.Thread != id || a.header.Get("ETag") != `"`+b.Cursor+`"` {
		w.t.Fatalf("thread %q, cursor %s, tag %s", b.Thread, b.Cursor, a.header.Get("ETag"))
	}
	return b
}

const odd = "a thread/with ✓ { } * > . \"odd\" ids"

// A thread is answered from Redis, or, where that has nothing of use, from the log.
func TestGetThread(t *testing.T) {
	redistest.EachOwned(t, func(t *testing.T, srv *redistest.Server) {
		w := newWorld(t, srv)
		s := simple(t)
		check := func(what string, b threadBody, n int, from string) {
			t.Helper()
			want := reducer.Fold(s[:n])
			same(t, what, sortedText(t, b.Result), sorted(want.Result()))
			if c, err := bus.ParseCursor(b.Cursor); err != nil || c.Ordinal != int64(n-1) || c.Epoch != w.epochs[odd] || b.Open != want.OpenTurn() {
				t.Fatalf("%s: %+v", what, b)
			}
			p, err := w.api.Join(t.Context(), odd)
			if err != nil || p.FromLog != (from == sourceLog) {
				t.Fatalf("%s: join: %+v, %v", what, p, err)
			}
		}
		if a := w.get("/v1/threads/" + url.PathEscape(odd)); a.status != 404 || !strings.Contains(a.body, `"not_found"`) {
			t.Fatalf("%+v", a)
		}
		if _, err := w.api.Join(t.Context(), odd); !errors.Is(err, bus.ErrNotFound) {
			t.Fatal(err)
		}
		w.log(odd, s[:20])
		check("from the log", w.thread(odd, ""), 20, sourceLog)
		w.reduce(odd)
		check("from redis", w.thread(odd, ""), 20, sourceStore)
		w.log(odd, s[20:34])
		check("redis is behind", w.thread(odd, ""), 20, sourceStore)
		ahead := bus.Cursor{Epoch: w.epochs[odd], Ordinal: 33}
		check("no older than a cursor", w.thread(odd, "?min="+ahead.String()), 34, sourceStore)
		older := bus.Cursor{Epoch: bus.Epoch{Incarnation: 1, Seq: 1}, Ordinal: 1000}
		check("an older epoch", w.thread(odd, "?min="+older.String()), 20, sourceStore)
		ahead.Ordinal++
		if a := w.get("/v1/threads/" + url.PathEscape(odd) + "?min=" + ahead.String()); a.status != 409 || a.header.Get("Retry-After") == "" {
			t.Fatalf("%+v", a)
		}
		w.redis.Client().HDel(t.Context(), w.redis.Prefix+"t:{"+odd+"}", "m:u1")
		check("redis has lost a part", w.thread(odd, ""), 34, sourceLog)
		w.redis.Kill()
		check("redis is dead", w.thread(odd, ""), 34, sourceLog)
		w.redis.Restart()
		check("redis is empty", w.thread(odd, ""), 34, sourceLog)
		if _, err := w.store.Delete(t.Context(), odd, snapshot.Mark{Incarnation: 1 << 62, Sequence: 1 << 40}); err != nil {
			t.Fatal(err)
		}
		if a := w.get("/v1/threads/" + url.PathEscape(odd)); a.status != 404 {
			t.Fatalf("a deleted thread: %+v", a)
		}
		if _, err := w.api.Join(t.Context(), odd); !errors.Is(err, bus.ErrNotFound) {
			t.Fatalf("a deleted thread: %v", err)
		}
	})
}

// Who has the cursor is told that nothing is new.
func TestNotModified(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	s := simple(t)
	w.log("t", s[:20])
	for _, where := range []string{"log", "redis"} {
		cursor := w.thread("t", "").Cursor
		for _, tag := range []string{`"` + cursor + `"`, `W/"` + cursor + `"`, `"x", "` + cursor + `"`, "*"} {
			a := w.get("/v1/threads/t", "If-None-Match", tag)
			if a.status != 304 || a.body != "" || a.header.Get("ETag") != `"`+cursor+`"` {
				t.Errorf("%s, %s: %+v", where, tag, a)
			}
		}
		if a := w.get("/v1/threads/t", "If-None-Match", `"x"`); a.status != 200 {
			t.Errorf("%s: %+v", where, a)
		}
		w.reduce("t")
	}
}

// A thread whose log is cut, or holds what is no event, is told apart from one that is not there.
func TestUnreadableLog(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	s := simple(t)
	w.log("trimmed", s[:5])
	// What the log has no beginning of.
	w.epochs["cut"] = w.epochs["trimmed"]
	w.log("cut", s[5:9])
	if a := w.get("/v1/threads/cut"); a.status != 410 || !strings.Contains(a.body, `"trimmed"`) {
		t.Errorf("%+v", a)
	}
	w.epochs["hole"] = w.log("hole", s[:5]).Epoch
	w.log("hole", s[7:9])
	if a := w.get("/v1/threads/hole"); a.status != 500 || !strings.Contains(a.body, `"unreadable"`) {
		t.Errorf("%+v", a)
	}
	if _, err := w.api.Join(t.Context(), "hole"); !errors.Is(err, bus.ErrPoison) {
		t.Error(err)
	}
}

// Many who ask for the same at the same time cost one fold.
func TestFoldsAreShared(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	s := simple(t)
	w.log("t", s)
	for range cap(w.api.slots) {
		w.api.slots <- struct{}{} // all places are taken
	}
	var g errgroup.Group
	started := make(chan struct{}, 20)
	for range 20 {
		g.Go(func() error {
			started <- struct{}{}
			_, err := w.api.Join(t.Context(), "t")
			return err
		})
	}
	for range 20 {
		<-started
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.api.fold(ctx, "other", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("whose context has ended: %v", err)
	}
	for range cap(w.api.slots) {
		<-w.api.slots
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestListThreads(t *testing.T) {
	w := newWorld(t, redistest.New(t))
	s := simple(t)
	for i := range 7 {
		id := fmt.Sprintf("%c/%d", 'a'+rune(i%2), i)
		w.log(id, s[:5+10*i])
		w.reduce(id)
	}
	type page struct {
		Threads []listed `json:"threads"`
		Next    string   `json:"next"`
	}
	list := func(query string) (p page) {
		t.Helper()
		a := w.get("/v1/threads" + query)
		if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return p
	}
	ids := func(p page) (out string) {
		for _, e := range p.Threads {
			out += e.Thread + " "
			if c, err := bus.ParseCursor(e.Cursor); err != nil || c.Epoch != w.epochs[e.Thread] {
				t.Errorf("%+v: %v", e, err)
			}
			if time.Since(e.UpdatedAt) > time.Minute {
				t.Errorf("%+v", e)
			}
		}
		return out
	}
	if got := ids(list("")); got != "a/6 b/5 a/4 b/3 a/2 b/1 a/0 " {
		t.Error(got)
	}
	if got := ids(list("?prefix=b%2F")); got != "b/5 b/3 b/1 " {
		t.Error(got)
	}
	got, next := "", ""
	for {
		p := list("?limit=3&after=" + url.QueryEscape(next))
		got += ids(p) + "| "
		if next = p.Next; next == "" {
			break
		}
	}
	if got != "a/6 b/5 a/4 | b/3 a/2 b/1 | a/0 | " {
		t.Error(got)
	}
	// Redis has lost one, and its name not: the log says where it stands.
	w.redis.Client().Del(t.Context(), w.redis.Prefix+"t:{a/4}")
	if got := ids(list("")); got != "a/6 b/5 a/4 b/3 a/2 b/1 a/0 " {
		t.Error(got)
	}
	if p := list("?prefix=zzz"); p.Threads == nil || len(p.Threads) != 0 || p.Next != "" {
		t.Errorf("%+v", p)
	}
	for query, name := range map[string]string{
		"?limit=0": "limit", "?limit=1001": "limit", "?limit=x": "limit", "?after=%20": "after", "?after=AAAA": "after",
		"?prefix=%ff": "prefix", "?prefix=" + strings.Repeat("x", 257): "prefix", "?limit=%zz": "query",
	} {
		a := w.get("/v1/threads" + query)
		if a.status != 400 || !strings.Contains(a.body, `"code":"bad_parameter","message":"`+name+`: want`) {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
	for path, name := range map[string]string{
		"/v1/threads/" + strings.Repeat("x", 257): "thread", "/v1/threads/%ff": "thread", "/v1/threads/a?min=7": "min", "/v1/threads/a?min=%zz": "query",
	} {
		a := w.get(path)
		if a.status != 400 || !strings.Contains(a.body, `"message":"`+name+`: want`) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// A thread that is not kept is read from the log, which has its end, and the list tells nothing old of it (DESIGN §4).
func TestVoidThread(t *testing.T) {
	redistest.EachOwned(t, func(t *testing.T, srv *redistest.Server) {
		w := newWorld(t, srv)
		s := read(t, "../../pkg/agjson/reducer/testdata/streams/two-turns.ndjson")
		half := len(s) - 1
		w.log("t", s[:half])
		w.reduce("t")
		if old := w.thread("t", ""); !old.Open {
			t.Fatal("no turn is open")
		}
		last := w.log("t", s[half:])
		at := snapshot.Position{Version: VersionOf(last.Epoch, last.Seq), Ordinal: int64(len(s) - 1), UpdatedAt: time.Now()}
		if res, err := w.store.Void(t.Context(), "t", at); err != nil || res.Outcome != snapshot.Applied {
			t.Fatal(res, err)
		}
		want := bus.Cursor{Epoch: last.Epoch, Ordinal: int64(len(s) - 1)}.String()
		if now := w.thread("t", ""); now.Open || now.Cursor != want {
			t.Errorf("open %v at %s, want the end at %s", now.Open, now.Cursor, want)
		}
		var page struct{ Threads []listed }
		a := w.get("/v1/threads")
		if err := json.Unmarshal([]byte(a.body), &page); err != nil || len(page.Threads) != 1 {
			t.Fatalf("%s: %v", a.body, err)
		}
		if l := page.Threads[0]; l.Open || l.Cursor != want {
			t.Errorf("listed: %+v, want the end at %s", l, want)
		}
	})
}

func TestListWithoutRedis(t *testing.T) {
	redistest.EachOwned(t, func(t *testing.T, srv *redistest.Server) {
		w := newWorld(t, srv)
		srv.Kill()
		if a := w.get("/v1/threads"); a.status != 503 || a.header.Get("Retry-After") != "1" || !strings.Contains(a.body, `"unavailable"`) {
			t.Errorf("%+v", a)
		}
		if _, err := w.api.Join(t.Context(), "t"); !errors.Is(err, bus.ErrNotFound) {
			t.Error(err)
		}
		srv.Restart()
		if a := w.get("/v1/threads"); a.status != 200 || a.body != `{"threads":[]}`+"\n" {
			t.Errorf("%+v", a)
		}
	})
}

func TestConfigReportsEveryBadField(t *testing.T) {
	_, err := New(Config{}, Deps{})
	for _, name := range []string{"folds", "store-wait", "wait", "dependency"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
}
