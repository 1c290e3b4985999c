package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/app"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is a Service whose steps a test decides.
type service struct {
	name   string
	diary  *diary
	ready  atomic.Bool // what Ready says once Run is under way
	up     atomic.Bool
	finish chan error // what Run returns, before ctx ends
	drain  chan error // if not nil, what Run returns once ctx has ended
	routes map[string]http.Handler
	why    string // what Why says
}

func newService(name string, d *diary) *service {
	s := &service{name: name, diary: d, finish: make(chan error, 1)}
	s.ready.Store(true)
	return s
}

func (s *service) Ready() bool                     { return s.up.Load() && s.ready.Load() }
func (s *service) Why() string                     { return s.why }
func (s *service) Routes() map[string]http.Handler { return s.routes }
func (s *service) Run(ctx context.Context) error {
	s.diary.add("+" + s.name)
	defer s.diary.add("-" + s.name)
	s.up.Store(true)
	select {
	case err := <-s.finish:
		return err
	case <-ctx.Done():
	}
	if s.drain == nil {
		return nil
	}
	s.diary.add("~" + s.name)
	return <-s.drain
}

// diary is what happened, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
	wake  chan struct{}
}

func newDiary() *diary { return &diary{wake: make(chan struct{}, 100)} }

func (d *diary) add(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
	d.wake <- struct{}{}
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.lines, " ")
}

// await blocks until the diary reads want.
func (d *diary) await(t *testing.T, want string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for d.String() != want {
		select {
		case <-d.wake:
		case <-deadline:
			t.Fatalf("the diary reads %q, want %q", d, want)
		}
	}
}

// process is an App that runs in the background.
type process struct {
	*app.App
	url  string
	stop context.CancelFunc
	end  chan error
}

func testConfig() app.Config {
	cfg := app.DefaultConfig("127.0.0.1:0")
	cfg.Drain, cfg.StartWait = 10*time.Second, 10*time.Second
	return cfg
}

// start runs the services; wait, which the test calls, returns what Run did.
func start(t *testing.T, cfg app.Config, services ...*service) *process {
	t.Helper()
	a, err := app.New(cfg, app.Deps{Log: zaptest.NewLogger(t), Metrics: app.NewRegistry("test")})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range services {
		if err := a.Add(s.name, s); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	addr, err := a.Listen(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{App: a, url: "http://" + addr.String(), stop: cancel, end: make(chan error, 1)}
	var running sync.WaitGroup
	running.Go(func() { p.end <- a.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait(); http.DefaultClient.CloseIdleConnections() })
	return p
}

func (p *process) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-p.end:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("Run has not returned")
		return nil
	}
}

func (p *process) get(t *testing.T, path string) (int, string) {
	t.Helper()
	resp, err := http.Get(p.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// awaitStatus asks until the answer has the status.
func (p *process) awaitStatus(t *testing.T, path string, want int) string {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		code, body := p.get(t, path)
		if code == want {
			return body
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s answers %d %s, want %d", path, code, body, want)
		}
	}
}

func TestStartsInOrderStopsInReverse(t *testing.T) {
	d := newDiary()
	a, b, c := newService("a", d), newService("b", d), newService("c", d)
	a.ready.Store(false)
	a.why = "the sea is rough"
	b.drain = make(chan error)
	p := start(t, testConfig(), a, b, c)
	d.await(t, "+a")
	if body := p.awaitStatus(t, "/readyz", 503); body != `{"ready":false,"services":{"a":false,"b":false,"c":false},"why":{"a":"the sea is rough","b":"starting","c":"starting"}}`+"\n" {
		t.Errorf("readyz says %s", body)
	}
	a.ready.Store(true)
	d.await(t, "+a +b +c")
	p.awaitStatus(t, "/readyz", 200)
	p.stop()
	d.await(t, "+a +b +c -c ~b")
	b.drain <- nil
	d.await(t, "+a +b +c -c ~b -b -a")
	if err := p.wait(t); err != nil {
		t.Errorf("Run: %v", err)
	}
	if _, err := http.Get(p.url + "/healthz"); err == nil {
		t.Error("the server still answers")
	}
}

func TestProbesOutliveTheDrain(t *testing.T) {
	d := newDiary()
	a := newService("a", d)
	a.drain = make(chan error)
	a.routes = map[string]http.Handler{"GET /v1/a": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") })}
	b := newService("b", d)
	b.routes = map[string]http.Handler{"GET /v1/b": http.NotFoundHandler()}
	p := start(t, testConfig(), a, b)
	p.awaitStatus(t, "/readyz", 200)
	if code, body := p.get(t, "/v1/a"); code != 200 || body != "here" {
		t.Errorf("route answers %d %s", code, body)
	}
	p.stop()
	d.await(t, "+a +b -b ~a")
	if code, body := p.get(t, "/readyz"); code != 503 || !strings.Contains(body, `"stopping":true`) {
		t.Errorf("while draining, readyz answers %d %s", code, body)
	}
	if code, _ := p.get(t, "/healthz"); code != 200 {
		t.Errorf("while draining, healthz answers %d", code)
	}
	if code, _ := p.get(t, "/v1/a"); code != 200 {
		t.Errorf("a draining service's route answers %d", code)
	}
	if code, body := p.get(t, "/v1/b"); code != 503 || body != "b is not running\n" {
		t.Errorf("an ended service's route answers %d %s", code, body)
	}
	if code, body := p.get(t, "/metrics"); code != 200 || !strings.Contains(body, `agwire_app_service_ready{service="a"} 1`) ||
		!strings.Contains(body, `agwire_app_service_ready{service="b"} 0`) || !strings.Contains(body, `agwire_app_build_info{version="test"} 1`) ||
		!strings.Contains(body, "go_goroutines") {
		t.Errorf("metrics answer %d %s", code, body)
	}
	close(a.drain)
	if err := p.wait(t); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestAFailureStopsAll(t *testing.T) {
	boom := errors.New("boom")
	for _, tc := range []struct{ give, want error }{{boom, boom}, {nil, app.ErrEnded}, {context.Canceled, context.Canceled}} {
		d := newDiary()
		a, b := newService("a", d), newService("b", d)
		p := start(t, testConfig(), a, b)
		d.await(t, "+a +b")
		a.finish <- tc.give
		if err := p.wait(t); !errors.Is(err, tc.want) || !strings.HasPrefix(err.Error(), "a: ") {
			t.Errorf("Run: %v, want %v of a", err, tc.want)
		}
		if d.String() != "+a +b -a -b" {
			t.Errorf("the diary reads %q", d)
		}
	}
}

func TestAFailureWhileStartingStartsNoMore(t *testing.T) {
	d := newDiary()
	a, b := newService("a", d), newService("b", d)
	a.ready.Store(false)
	p := start(t, testConfig(), a, b)
	d.await(t, "+a")
	a.finish <- errors.New("no disk")
	if err := p.wait(t); err == nil || err.Error() != "a: no disk" || d.String() != "+a -a" {
		t.Errorf("Run: %v; the diary reads %q", err, d)
	}
}

func TestASignalWhileStartingStartsNoMore(t *testing.T) {
	d := newDiary()
	a, b := newService("a", d), newService("b", d)
	a.ready.Store(false)
	p := start(t, testConfig(), a, b)
	d.await(t, "+a")
	p.stop()
	if err := p.wait(t); err != nil || d.String() != "+a -a" {
		t.Errorf("Run: %v; the diary reads %q", err, d)
	}
}

func TestAnUnreadyServiceDelaysTheNextOnlySoLong(t *testing.T) {
	cfg := testConfig()
	cfg.StartWait = time.Millisecond
	d := newDiary()
	a, b := newService("a", d), newService("b", d)
	a.ready.Store(false)
	p := start(t, cfg, a, b)
	d.await(t, "+a +b")
	p.stop()
	if err := p.wait(t); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestDrainBudget(t *testing.T) {
	cfg := testConfig()
	cfg.Drain = time.Millisecond
	d := newDiary()
	a, b := newService("a", d), newService("b", d)
	b.drain = make(chan error)
	p := start(t, cfg, a, b)
	d.await(t, "+a +b")
	p.stop()
	err := p.wait(t)
	if !errors.Is(err, app.ErrDrain) || !strings.Contains(err.Error(), "b") {
		t.Errorf("Run: %v", err)
	}
	close(b.drain)
	deadline := time.Now().Add(10 * time.Second)
	for !strings.Contains(d.String(), "-b") || !strings.Contains(d.String(), "-a") {
		if time.Now().After(deadline) {
			t.Fatalf("the diary reads %q", d)
		}
	}
}

func TestAFailedDrainIsAFailure(t *testing.T) {
	d := newDiary()
	a := newService("a", d)
	a.drain = make(chan error, 1)
	p := start(t, testConfig(), a)
	d.await(t, "+a")
	p.stop()
	a.drain <- errors.New("two messages not acknowledged")
	if err := p.wait(t); err == nil || err.Error() != "a: two messages not acknowledged" {
		t.Errorf("Run: %v", err)
	}
}

func TestRoutes(t *testing.T) {
	say := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, text+r.PathValue("thread")) })
	}
	d := newDiary()
	a, b := newService("a", d), newService("b", d)
	a.routes = map[string]http.Handler{"GET /v1/threads/{thread}": say("get "), "GET /": say("page")}
	b.routes = map[string]http.Handler{"POST /v1/threads/{thread}/frames": say("post ")}
	p := start(t, testConfig(), a, b)
	p.awaitStatus(t, "/readyz", 200)
	if _, body := p.get(t, "/v1/threads/x%2Fy"); body != "get x/y" {
		t.Errorf("answer %q", body)
	}
	if _, body := p.get(t, "/index.html"); body != "page" {
		t.Errorf("answer %q", body)
	}
	if code, _ := p.get(t, "/debug/pprof/"); code != 200 {
		t.Errorf("pprof answers %d where it is off and / is the page", code)
	}
	p.stop()
	if err := p.wait(t); err != nil {
		t.Error(err)
	}
}

func TestAddRefuses(t *testing.T) {
	a, err := app.New(testConfig(), app.Deps{Log: zaptest.NewLogger(t), Metrics: app.NewRegistry("")})
	if err != nil {
		t.Fatal(err)
	}
	d := newDiary()
	one := newService("one", d)
	one.routes = map[string]http.Handler{"GET /x/{a}": http.NotFoundHandler()}
	if err := a.Add("one", one); err != nil {
		t.Fatal(err)
	}
	two := newService("two", d)
	for want, routes := range map[string]map[string]http.Handler{
		"conflicts":  {"GET /x/{b}": http.NotFoundHandler()},
		"route \"\"": {"": http.NotFoundHandler()},
		"/metrics":   {"GET /metrics": http.NotFoundHandler()},
	} {
		two.routes = routes
		if err := a.Add("two", two); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := a.Add("one", newService("one", d)); err == nil {
		t.Error("one name twice is accepted")
	}
	if err := a.Handle("GET /x/{c}", http.NotFoundHandler()); err == nil {
		t.Error("a conflicting pattern is accepted")
	}
}

func TestPprofIsASetting(t *testing.T) {
	for _, on := range []bool{false, true} {
		cfg := testConfig()
		cfg.Pprof = on
		p := start(t, cfg, newService("a", newDiary()))
		want := map[bool]int{false: 404, true: 200}[on]
		if code, _ := p.get(t, "/debug/pprof/goroutine?debug=1"); code != want {
			t.Errorf("pprof %v answers %d", on, code)
		}
		p.stop()
		if err := p.wait(t); err != nil {
			t.Error(err)
		}
	}
}

func TestListen(t *testing.T) {
	p := start(t, testConfig(), newService("a", newDiary()))
	if strings.HasSuffix(p.url, ":0") {
		t.Errorf("the address is %s", p.url)
	}
	cfg := testConfig()
	cfg.Listen = strings.TrimPrefix(p.url, "http://")
	second, err := app.New(cfg, app.Deps{Log: zaptest.NewLogger(t), Metrics: app.NewRegistry("")})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Run(t.Context()); err == nil || !strings.Contains(err.Error(), cfg.Listen) {
		t.Errorf("Run on a taken address: %v", err)
	}
	p.stop()
	if err := p.wait(t); err != nil {
		t.Error(err)
	}
	if _, err := second.Listen(t.Context()); err != nil {
		t.Errorf("Listen on the freed address: %v", err)
	}
	if err := errors.Join(second.Close(), second.Close()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestNewReportsEveryBadField(t *testing.T) {
	_, err := app.New(app.Config{Listen: "localhost"}, app.Deps{})
	for _, want := range []string{"Listen is no host:port", "Drain", "StartWait", "log"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New: %v, want %s", err, want)
		}
	}
}

// A slow request holds the server, not the process, beyond the budget.
func TestAStuckRequestIsCutAtTheBudget(t *testing.T) {
	cfg := testConfig()
	cfg.Drain = 50 * time.Millisecond
	d := newDiary()
	a := newService("a", d)
	entered, cut := make(chan struct{}), make(chan struct{})
	a.routes = map[string]http.Handler{"GET /stuck": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		close(cut)
	})}
	p := start(t, cfg, a)
	p.awaitStatus(t, "/readyz", 200)
	var g errgroup.Group
	g.Go(func() error {
		resp, err := http.Get(p.url + "/stuck")
		if err == nil {
			resp.Body.Close()
		}
		return err
	})
	<-entered
	p.stop()
	if err := p.wait(t); err != nil {
		t.Errorf("Run: %v", err)
	}
	<-cut
	if err := g.Wait(); err == nil {
		t.Error("the request was answered")
	}
}

func TestLogger(t *testing.T) {
	var b bytes.Buffer
	log, err := app.NewLogger(&b, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	log.Debug("unseen")
	log.Named("ingest").Info("seen")
	var line map[string]string
	if err := json.Unmarshal(b.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	when, err := time.Parse("2006-01-02T15:04:05.000000Z", line["ts"])
	if err != nil || time.Since(when).Abs() > time.Minute || line["level"] != "info" || line["msg"] != "seen" || line["svc"] != "ingest" {
		t.Errorf("the line is %s", b.String())
	}
	b.Reset()
	if log, err = app.NewLogger(&b, "console", "warn"); err != nil {
		t.Fatal(err)
	}
	log.Info("unseen")
	log.Warn("seen")
	if fields := strings.Fields(b.String()); !slices.Equal(fields[1:], []string{"WARN", "seen"}) {
		t.Errorf("the line is %s", b.String())
	}
	if _, err := app.NewLogger(&b, "xml", "info"); err == nil {
		t.Error("a bad format is accepted")
	}
	if _, err := app.NewLogger(&b, "json", "loud"); err == nil {
		t.Error("a bad level is accepted")
	}
}
