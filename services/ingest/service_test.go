package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/internal/push"
	"github.com/agwire/agwire/services/ingest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// server is an ingest with a broker of its own.
type server struct {
	*httptest.Server
	nats *natstest.Server
	bus  *bus.Bus
	stop func()
}

func start(t *testing.T, change func(*ingest.Config)) *server {
	t.Helper()
	s := &server{nats: natstest.New(t)}
	var err error
	if s.bus, err = bus.Connect(t.Context(), bus.Options{URL: s.nats.URL(), Shards: 2}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.bus.Close)
	if err := s.bus.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg := ingest.Defaults()
	if change != nil {
		change(&cfg)
	}
	svc, err := ingest.New(cfg, ingest.Deps{Bus: s.bus, Log: zap.NewNop(), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, h := range svc.Routes() {
		mux.Handle(pattern, h)
	}
	s.Server = httptest.NewServer(mux)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := svc.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	s.stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(func() { s.stop(); s.Close(); http.DefaultClient.CloseIdleConnections() })
	natstest.Eventually(t, "ingest is ready", svc.Ready)
	return s
}

type answer struct {
	status int
	ingest.State
	Error  struct{ Code, Message string }
	Nested ingest.State `json:"state"`
}

func (s *server) do(t *testing.T, method, path string, body io.Reader) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode}
	if err := json.Unmarshal(data, &a); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return a
}

const path = "/v1/threads/a%2Fb%20c/invokes/i1/frames"

func frames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"type\":\"x\",\"n\":%d}\n", i)
	}
	return b.String()
}

// stored reads an invoke's frames as a normalizer takes them: the next index only, since what was sent again after an error
// lies in the log more than once.
func (s *server) stored(t *testing.T, thread, invoke string) (list []string, end *bus.End) {
	t.Helper()
	for f, err := range s.bus.ReadInvoke(t.Context(), thread, invoke, 1, 1<<60) {
		if err != nil || f.Err != nil {
			t.Fatal(err, f.Err)
		}
		if f.Index > int64(len(list)) && end == nil {
			t.Fatalf("frame %d lies behind frame %d", f.Index, len(list)-1)
		}
		if f.Index != int64(len(list)) {
			continue
		}
		if f.Kind == bus.KindEnd {
			end = &f.End
			continue
		}
		list = append(list, string(f.Body))
	}
	return list, end
}

func TestUpload(t *testing.T) {
	s := start(t, nil)
	if a := s.do(t, "GET", path, nil); a.status != 200 || a.Stored != 0 || a.Ended {
		t.Fatalf("before: %+v", a)
	}
	a := s.do(t, "POST", path+"?framework=vercel&turn=T1&end=false", strings.NewReader(frames(3)))
	if a.status != 200 || a.Stored != 3 || a.Ended || a.Thread != "a/b c" {
		t.Fatalf("first part: %+v", a)
	}
	// The same again, and more: what is stored is stored once.
	a = s.do(t, "POST", path+"?framework=vercel&from=1", strings.NewReader(strings.SplitAfterN(frames(5), "\n", 2)[1]))
	if a.status != 200 || a.Stored != 5 || !a.Ended {
		t.Fatalf("second part: %+v", a)
	}
	list, end := s.stored(t, "a/b c", "i1")
	if strings.Join(list, "\n")+"\n" != frames(5) || end == nil || end.Reason != bus.EndDone {
		t.Fatalf("stored %q, end %v", list, end)
	}
	if a = s.do(t, "POST", path+"?framework=vercel", strings.NewReader(frames(5))); a.status != 200 || a.Stored != 5 || !a.Ended {
		t.Errorf("the whole again: %+v", a)
	}
	if a = s.do(t, "POST", path+"?framework=vercel", strings.NewReader(frames(6))); a.status != 409 || a.Error.Code != "ended" || a.Nested.Stored != 5 {
		t.Errorf("more after the end: %+v", a)
	}
	if a = s.do(t, "GET", path, nil); a.Stored != 5 || !a.Ended || a.Reason != "done" {
		t.Errorf("after: %+v", a)
	}
}

func TestRefusals(t *testing.T) {
	s := start(t, func(c *ingest.Config) { c.MaxFrame = 1 << 10 })
	for name, c := range map[string]struct {
		path, body string
		status     int
		code, says string
	}{
		"no framework":    {path, "{}", 400, "bad_parameter", "framework"},
		"unknown one":     {path + "?framework=nope", "{}", 400, "bad_parameter", "framework"},
		"not built yet":   {path + "?framework=bedrock", "{}", 400, "bad_parameter", "bedrock is not yet"},
		"all at once":     {path + "?framework=vercel&from=-1&end=maybe&color=red", "{}", 400, "bad_parameter", "color"},
		"a gap":           {path + "?framework=vercel&from=7", "{}", 409, "gap", ""},
		"not JSON":        {"/v1/threads/t/invokes/bad/frames?framework=vercel", "{}\n{\n", 400, "bad_frame", "frame 1, line 2"},
		"too large":       {"/v1/threads/t/invokes/big/frames?framework=vercel", "{}\n\"" + strings.Repeat("x", 2000) + "\"", 413, "frame_too_large", "line 2"},
		"thread too long": {"/v1/threads/" + strings.Repeat("x", 300) + "/invokes/i/frames?framework=vercel", "{}", 400, "bad_thread", "256"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.do(t, "POST", c.path, strings.NewReader(c.body))
			if a.status != c.status || a.Error.Code != c.code || !strings.Contains(a.Error.Message, c.says) {
				t.Errorf("%+v", a)
			}
		})
	}
	// What came before the bad frame is stored, and the invoke goes on from there.
	if a := s.do(t, "GET", "/v1/threads/t/invokes/bad/frames", nil); a.Stored != 1 || a.Ended {
		t.Errorf("after a bad frame: %+v", a)
	}
}

// A body that is cut leaves what came whole, and no end.
func TestCutBody(t *testing.T) {
	s := start(t, nil)
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL+path+"?framework=vercel", r)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		resp, err := s.Client().Do(req)
		if err == nil {
			resp.Body.Close()
		}
	})
	if _, err := io.WriteString(w, frames(10)+"{\"type\":\"cut"); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "ten frames are stored", func() bool { return s.do(t, "GET", path, nil).Stored == 10 })
	cancel()
	w.CloseWithError(errors.New("cut"))
	wg.Wait()
	natstest.Eventually(t, "the upload goes on", func() bool {
		a := s.do(t, "POST", path+"?framework=vercel&from=10", strings.NewReader("{\"n\":10}"))
		return a.status == 200 && a.Stored == 11 && a.Ended
	})
}

// A service that leaves tells those who upload to come back, and loses nothing that it took.
func TestDrain(t *testing.T) {
	s := start(t, nil)
	r, w := io.Pipe()
	defer w.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path+"?framework=vercel", r)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan int, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		resp, err := s.Client().Do(req)
		if err != nil {
			got <- 0 // the connection was closed under the body, which a client takes for the same
			return
		}
		resp.Body.Close()
		got <- resp.StatusCode
	})
	if _, err := io.WriteString(w, frames(4)); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "four frames are stored", func() bool { return s.do(t, "GET", path, nil).Stored == 4 })
	s.stop()
	if status := <-got; status != 503 && status != 0 {
		t.Errorf("answered %d", status)
	}
	w.CloseWithError(io.ErrClosedPipe)
	wg.Wait()
	if a := s.do(t, "POST", "/v1/threads/t/invokes/i/frames?framework=vercel", strings.NewReader("{}")); a.status != 503 {
		t.Errorf("after leaving: %+v", a)
	}
}

// The client of package push stores each frame once, over restarts of the broker.
func TestPushOverBrokerRestart(t *testing.T) {
	s := start(t, nil)
	u, err := push.New(t.Context(), push.Options{URL: s.URL, Thread: "t", Invoke: "i", Framework: "vercel", MaxBatch: 1 << 10, Client: s.Client()}, 0)
	if err != nil {
		t.Fatal(err)
	}
	const n = 3000
	for i, line := range bytes.Split([]byte(strings.TrimSpace(frames(n))), []byte("\n")) {
		if err := u.Send(t.Context(), line); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 500 {
			s.nats.Restart(t)
		}
	}
	st, err := u.End(t.Context(), 0)
	if err != nil || st.Stored != n || !st.Ended {
		t.Fatalf("%+v %v", st, err)
	}
	list, _ := s.stored(t, "t", "i")
	if strings.Join(list, "\n")+"\n" != frames(n) {
		t.Error("the log differs from what was sent")
	}
}

// What somebody else's end cut off is never called stored (DESIGN §3).
func TestEndedBySomebodyElse(t *testing.T) {
	s := start(t, nil)
	r, w := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path+"?framework=vercel", r)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan answer, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Error(err)
			got <- answer{}
			return
		}
		defer resp.Body.Close()
		a := answer{status: resp.StatusCode}
		if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
			t.Error(err)
		}
		got <- a
	})
	if _, err := io.WriteString(w, frames(3)); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "three frames are stored", func() bool { return s.do(t, "GET", path, nil).Stored == 3 })
	if ok, err := s.bus.EndInvoke(t.Context(), "a/b c", "i1", 3, bus.End{Reason: bus.EndIdle}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, err := io.WriteString(w, frames(2)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	wg.Wait()
	if a := <-got; a.status != 409 || a.Error.Code != "ended" || a.Nested.Stored != 3 || a.Nested.Reason != "idle" {
		t.Errorf("%+v", a)
	}
}

// A page of another origin cannot write, though its browser sends the request without asking.
func TestForeignOrigin(t *testing.T) {
	s := start(t, nil)
	for origin, want := range map[string]int{"https://evil.example": 403, "null": 403, "http://localhost:3000": 200, s.URL: 200} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/v1/threads/o/invokes/i/frames?framework=vercel&end=false", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("origin %s: answered %d, want %d", origin, resp.StatusCode, want)
		}
	}
}

// An open upload says that it lives.
func TestBeats(t *testing.T) {
	s := start(t, func(c *ingest.Config) { c.Beat = 20 * time.Millisecond })
	beats := make(chan string, 100)
	stop, err := s.bus.SubscribeBeats(s.bus.Shard("a/b c"), func(thread, invoke string) { beats <- thread + " " + invoke })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	r, w := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path+"?framework=vercel", r)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
	})
	for range 3 {
		if got := <-beats; got != "a/b c i1" {
			t.Errorf("a beat of %q", got)
		}
	}
	w.Close()
	wg.Wait()
}
