package client_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agwire/agwire/pkg/client"
)

const within = 20 * time.Second

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
		<-tick.C
	}
}

// fake is a server of the protocol that a test plays by hand.
type fake struct {
	*httptest.Server
	conns   chan *peer
	mu      sync.Mutex
	refuse  int    // HTTP status for new connections; 0 = none
	hello   string // sent first
	headers []http.Header
}

// peer is one connection of the client's, as the server has it.
type peer struct {
	t  testing.TB
	ws *websocket.Conn
	in chan request
	// over is closed when the connection is.
	over chan struct{}
}

type request struct{ Op, Thread, From string }

func newFake(t testing.TB) *fake {
	f := &fake{conns: make(chan *peer, 16), hello: `{"op":"hello","protocol":"agwire.v1","heartbeat":15}`}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(t, w, r) }))
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func (f *fake) serve(t testing.TB, w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	status, hello := f.refuse, f.hello
	f.headers = append(f.headers, r.Header)
	f.mu.Unlock()
	if status != 0 || r.URL.Path != "/base/v1/ws" {
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(cmp.Or(status, http.StatusNotFound))
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"agwire.v1"}})
	if err != nil {
		t.Error(err)
		return
	}
	defer ws.CloseNow()
	p := &peer{t: t, ws: ws, in: make(chan request, 64), over: make(chan struct{})}
	defer close(p.over)
	if ws.Write(context.Background(), websocket.MessageText, []byte(hello)) != nil {
		return
	}
	f.conns <- p
	for {
		_, data, err := ws.Read(context.Background())
		if err != nil {
			return
		}
		var q request
		if err := json.Unmarshal(data, &q); err != nil {
			t.Errorf("the client sent %s", data)
			return
		}
		p.in <- q
	}
}

// set changes how connections are received.
func (f *fake) set(refuse int, hello string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
	if hello != "" {
		f.hello = hello
	}
}

// next is the next connection.
func (f *fake) next(t testing.TB) *peer {
	t.Helper()
	select {
	case p := <-f.conns:
		return p
	case <-time.After(within):
		t.Fatal("nobody connects")
		return nil
	}
}

// dial connects a client that is quick in all.
func (f *fake) dial(t testing.TB, change func(*client.Options)) (*client.Client, *peer) {
	t.Helper()
	tr := &http.Transport{}
	o := client.Options{
		URL: f.URL + "/base/", HTTPClient: &http.Client{Transport: tr}, MinBackoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond,
		Grace: 20 * time.Millisecond, Patience: 5 * time.Second,
	}
	if change != nil {
		change(&o)
	}
	c, err := client.Dial(t.Context(), o)
	ok(t, err)
	t.Cleanup(func() { _ = c.Close(); tr.CloseIdleConnections() })
	return c, f.next(t)
}

// send sends a message.
func (p *peer) send(format string, args ...any) {
	p.t.Helper()
	if err := p.ws.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		p.t.Error(err)
	}
}

// want is the client's next request, which is this.
func (p *peer) want(op, thread, from string) {
	p.t.Helper()
	select {
	case q := <-p.in:
		if q != (request{op, thread, from}) {
			p.t.Fatalf("the client asks %+v, want %s %s from %q", q, op, thread, from)
		}
	case <-time.After(within):
		p.t.Fatalf("the client asks nothing, want %s %s from %q", op, thread, from)
	}
}

// quiet demands that the client has asked nothing: whatever it asks later comes after a ping of ours is answered.
func (p *peer) quiet() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := p.ws.Ping(ctx); err != nil {
		p.t.Error(err)
	}
	select {
	case q := <-p.in:
		p.t.Fatalf("the client asks %+v", q)
	default:
	}
}

// accept answers a subscription.
func (p *peer) accept(thread, from, cursor string) {
	p.t.Helper()
	p.want("subscribe", thread, from)
	p.send(`{"op":"subscribed","thread":%q,"cursor":%q}`, thread, cursor)
}

// events sends events from one ordinal to another.
func (p *peer) events(thread string, from, to int, more string) {
	p.t.Helper()
	var list []string
	for n := from; n <= to; n++ {
		body := `"type":"ext.test.note"`
		if n == 0 {
			body = `"type":"messages.snapshot","messages":[],"turns":[],"artifacts":[],"memory":[]`
		}
		list = append(list, fmt.Sprintf(`{%s,"seq":%d}`, body, n))
	}
	p.send(`{"op":"events","thread":%q,"cursor":"e-%d"%s,"events":[%s]}`, thread, to, more, strings.Join(list, ","))
}

// pair sends a reset and its pair, which is of one event.
func (p *peer) pair(thread, reason string, at int) {
	p.t.Helper()
	p.send(`{"op":"reset","thread":%q,"reason":%q}`, thread, reason)
	p.send(`{"op":"events","thread":%q,"cursor":"e-%d","pair":true,"events":[{"type":"messages.snapshot","seq":%d,"messages":[],"turns":[],"artifacts":[],"memory":[]}]}`,
		thread, at, at)
}

// next is a subscription's next batch, as "reset:first-last@cursor".
func next(t testing.TB, s *client.Subscription) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	b, err := s.Next(ctx)
	if err != nil {
		return "error: " + err.Error()
	}
	var seqs []int
	for _, e := range b.Events {
		var v struct{ Seq int }
		ok(t, json.Unmarshal(e, &v))
		seqs = append(seqs, v.Seq)
	}
	if len(seqs) == 0 {
		return b.Reset + ":@" + b.Cursor
	}
	return fmt.Sprintf("%s:%d-%d@%s", b.Reset, seqs[0], seqs[len(seqs)-1], b.Cursor)
}

// wants demands the subscription's next batches.
func wants(t testing.TB, s *client.Subscription, batches ...string) {
	t.Helper()
	for _, want := range batches {
		if got := next(t, s); got != want {
			t.Fatalf("the next batch is %s, want %s", got, want)
		}
	}
}
