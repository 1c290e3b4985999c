package fanout_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/services/fanout"
)

func asClose(err error, ce *websocket.CloseError) bool { return errors.As(err, ce) }

// note is an event that folds to nothing.
func note(text string) agjson.Event {
	return agjson.Event{Body: must2(agjson.Decode([]byte(`{"type":"ext.test.note","seq":0,"text":` + string(agjson.Quote(text)) + `}`))).Body}
}

func must2(ev agjson.Event, err error) agjson.Event {
	if err != nil {
		panic(err)
	}
	return ev
}

func notes(n int, text string) []agjson.Event {
	list := make([]agjson.Event, n)
	for i := range list {
		list[i] = note(text)
	}
	return list
}

func TestPlacesToStart(t *testing.T) {
	r := newRig(t, options{})
	l := r.thread("a thread/1")
	l.append(t, append([]agjson.Event{first()}, notes(4, "x")...)...) // 0..4, one message
	at2 := bus.Cursor{Epoch: l.epoch, Ordinal: 2}.String()
	k := r.raw(t, nil)

	k.subscribe(t, l.id, "start")
	if m := k.want(t, "subscribed"); m.Thread != l.id || m.cursor() != l.cursor() {
		t.Fatalf("%+v", m)
	}
	if m := k.batch(t, 0, 1, 2, 3, 4); m.cursor() != l.cursor() || m.Thread != l.id {
		t.Fatalf("%+v", m)
	}
	k.subscribe(t, l.id, "now")
	k.want(t, "subscribed")
	if m := k.pair(t, "join"); m.cursor() != l.cursor() || m.seqs(t)[len(m.Events)-1] != 4 {
		t.Fatalf("%+v", m)
	}
	k.subscribe(t, l.id, "")
	k.want(t, "subscribed")
	k.pair(t, "join")
	k.subscribe(t, l.id, at2) // within a message
	k.want(t, "subscribed")
	k.batch(t, 3, 4)
	k.subscribe(t, l.id, l.cursor())
	k.want(t, "subscribed")
	l.append(t, note("y"))
	k.batch(t, 5)
	k.subscribe(t, l.id, "live")
	if m := k.want(t, "subscribed"); m.cursor() != l.cursor() {
		t.Fatalf("%+v", m)
	}
	l.append(t, notes(2, "z")...)
	k.batch(t, 6, 7)
	k.send(t, `{"op":"unsubscribe","thread":"a thread/1"}`)
	k.want(t, "unsubscribed")
	l.append(t, note("y"))
	k.send(t, `{"op":"ping"}`)
	k.want(t, "pong")
	k.send(t, `{"op":"unsubscribe","thread":"a thread/1"}`)
	k.want(t, "unsubscribed")
}

// A thread that does not exist yet can be followed from any place (B1 28, 33).
func TestThreadToCome(t *testing.T) {
	r := newRig(t, options{})
	for _, from := range []string{"now", "start", "live"} {
		l := r.thread("to come " + from)
		k := r.raw(t, nil)
		k.subscribe(t, l.id, from)
		if m := k.want(t, "subscribed"); m.cursor() != "" {
			t.Fatalf("%+v", m)
		}
		s := r.sse(t, l.id, from, "")
		s.batch(t, "start")
		l.append(t, first(), note("x"))
		k.batch(t, 0, 1)
		s.batch(t, l.cursor(), 0, 1)
		l.append(t, note("x"))
		k.batch(t, 2)
	}
}

func TestRefusedPlaces(t *testing.T) {
	r := newRig(t, options{})
	k := r.raw(t, nil)
	for _, q := range []struct{ thread, from, code string }{
		{"t", "nowhere", "bad_cursor"},
		{"t", "zz-1", "bad_cursor"},
		{"t", "1z.1-01", "bad_cursor"},
		{"", "now", "bad_thread"},
		{strings.Repeat("x", 257), "now", "bad_thread"},
	} {
		k.subscribe(t, q.thread, q.from)
		if m := k.want(t, "error"); m.Code != q.code || m.Thread != q.thread {
			t.Errorf("%+v is answered %+v", q, m)
		}
	}
	for path, status := range map[string]int{
		"/v1/threads/t/events?from=nowhere":                   400,
		"/v1/threads/" + strings.Repeat("x", 257) + "/events": 400,
		"/v1/ws": 426,
	} {
		resp := must(http.Get(r.http.URL + path))(t)
		resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("%s is answered %d, want %d", path, resp.StatusCode, status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// A cursor of another thread, whichever its shard, is never taken for one of this (B1 36).
func TestForeignCursor(t *testing.T) {
	r := newRig(t, options{shards: 8})
	var logs []*thread
	for n := 0; len(logs) < 8; n++ {
		l := r.thread("foreign " + string(rune('a'+n)))
		if !slices.ContainsFunc(logs, func(o *thread) bool { return r.bus.Shard(o.id) == r.bus.Shard(l.id) }) {
			logs = append(logs, l)
			l.append(t, first(), note(l.id), note(l.id))
		}
	}
	k := r.raw(t, nil)
	for _, l := range logs {
		for _, o := range logs {
			if o != l {
				k.subscribe(t, l.id, bus.Cursor{Epoch: o.epoch, Ordinal: 1}.String())
				k.want(t, "subscribed")
				if m := k.pair(t, "epoch"); m.cursor() != l.cursor() {
					t.Fatalf("%+v", m)
				}
			}
		}
	}
}

// Each request is answered once, in order, however fast they follow one another (B1 26).
func TestEachRequestIsAnswered(t *testing.T) {
	r := newRig(t, options{})
	l := r.thread("t")
	l.append(t, first(), note("x"))
	k := r.raw(t, nil)
	const n = 40
	answers := 0
	for i := range n {
		if i%5 == 4 {
			k.send(t, `{"op":"unsubscribe","thread":"t"}`)
		} else {
			k.subscribe(t, "t", "now")
		}
	}
	k.subscribe(t, "t", "start")
	for answers <= n {
		m := k.next(t)
		if m.Op == "subscribed" || m.Op == "unsubscribed" {
			answers++
		}
	}
	k.batch(t, 0, 1)
	l.append(t, note("x"))
	k.batch(t, 2)
}

func TestMalformedMessages(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { c.MaxMessage = 1 << 10; c.MaxSubscriptions = 2 }})
	for text, code := range map[string]int{
		"{":                               4400,
		`{"op":"dance"}`:                  4400,
		`{"op":"subscribe"}`:              4400,
		`{"op":"unsubscribe"}`:            4400,
		`{"op":"subscribe","thread":7}`:   4400,
		`[]`:                              4400,
		"\"" + strings.Repeat("x", 1<<10): 4409,
		"{\"op\":\"ping\"}" + strings.Repeat(" ", 1<<20): 4409,
	} {
		k := r.raw(t, nil)
		k.send(t, text)
		if got, reason := k.closed(t); got != code || reason == "" {
			t.Errorf("%.40q is closed with %d %q, want %d", text, got, reason, code)
		}
	}
	k := r.raw(t, nil)
	ok(t, k.ws.Write(t.Context(), websocket.MessageBinary, []byte(`{"op":"ping"}`)))
	if got, _ := k.closed(t); got != 4400 {
		t.Errorf("a binary message is closed with %d", got)
	}
	k = r.raw(t, nil)
	for _, thread := range []string{"a", "b", "a", "c"} {
		k.subscribe(t, thread, "now")
	}
	if got, _ := k.closed(t); got != 4408 {
		t.Errorf("too many subscriptions are closed with %d", got)
	}
	natstest.Eventually(t, "nothing is left", func() bool {
		return r.metric("connections") == 0 && r.metric("subscriptions") == 0 && r.metric("rooms") == 0
	})
	if r.metric("closes_total", "4400") != 7 || r.metric("closes_total", "4409") != 2 || r.metric("closes_total", "4408") != 1 {
		t.Errorf("closes: %v, %v, %v", r.metric("closes_total", "4400"), r.metric("closes_total", "4409"), r.metric("closes_total", "4408"))
	}
}

// Heartbeats tell the head of each thread, and whether a turn is open in it (B1 6).
func TestHeartbeat(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { c.Heartbeat = 50 * time.Millisecond }})
	s := corpus(t)[0]
	l, none := r.thread("t"), r.thread("none")
	open := slices.IndexFunc(s.events, func(ev agjson.Event) bool { return ev.Body.Type() == "turn.start" })
	l.append(t, s.events[:open+1]...)
	l.reduce(t)
	k := r.raw(t, nil)
	k.subscribe(t, l.id, "live")
	k.subscribe(t, none.id, "now")
	until := func(what string, f func(msg) bool) {
		t.Helper()
		deadline := time.Now().Add(natstest.Within)
		for {
			if m := k.any(t); m.Op == "heartbeat" && f(m) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	until("the turn is open", func(m msg) bool {
		h, named := m.Heads[none.id]
		return m.Heads[l.id].Cursor == l.cursor() && m.Heads[l.id].Open && named && h.Cursor == "" && !h.Open
	})
	l.append(t, s.events[open+1:]...)
	l.reduce(t)
	until("the turn is closed", func(m msg) bool { return m.Heads[l.id].Cursor == l.cursor() && !m.Heads[l.id].Open })

	e := r.sse(t, l.id, "live", "")
	for {
		m, more := e.any(t)
		if !more {
			t.Fatal("the stream ended")
		}
		if m.event == "heartbeat" {
			var h struct {
				Cursor string
				Open   bool
			}
			if m.id != "" || json.Unmarshal([]byte(m.data), &h) != nil || h.Cursor != l.cursor() || h.Open {
				t.Fatalf("%+v", m)
			}
			break
		}
	}
}

func TestOrigins(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { c.Origins = []string{"https://app.example.com"} }})
	l := r.thread("t")
	l.append(t, first())
	for origin, want := range map[string]bool{
		"": true, r.http.URL: true, "http://localhost:3000": true, "http://[::1]": true, "http://127.9.9.9:1": true,
		"https://app.example.com": true, "https://APP.example.com": true,
		"http://app.example.com": false, "https://app.example.com.evil.org": false, "https://evil.org": false, "null": false,
		"http://localhost.evil.org": false,
	} {
		for _, path := range []string{"/v1/ws", "/v1/threads/t/events"} {
			req := must(http.NewRequestWithContext(t.Context(), "GET", r.http.URL+path, nil))(t)
			if path == "/v1/ws" {
				for k, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
					"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "other, agwire.v1"} {
					req.Header.Set(k, v)
				}
			}
			if origin != "" {
				req.Header.Set("Origin", origin)
			}
			resp := must(http.DefaultClient.Do(req))(t)
			resp.Body.Close()
			if got := resp.StatusCode != http.StatusForbidden; got != want {
				t.Errorf("%s from %q is answered %d", path, origin, resp.StatusCode)
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestTooManyConnections(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { c.MaxConnections = 2 }})
	k := r.raw(t, nil)
	r.sse(t, "t", "", "")
	resp := must(http.Get(r.http.URL + "/v1/threads/t/events"))(t)
	resp.Body.Close()
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("answered %d %v", resp.StatusCode, resp.Header)
	}
	ok(t, k.ws.Close(websocket.StatusNormalClosure, ""))
	natstest.Eventually(t, "a place is free", func() bool {
		resp := must(http.Get(r.http.URL + "/v1/ws"))(t)
		resp.Body.Close()
		return resp.StatusCode == 426
	})
	http.DefaultClient.CloseIdleConnections()
}

// A server that leaves tells its connections so, one after another, and ends event streams whole.
func TestDrain(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { c.Drain = 2 * time.Second }})
	l := r.thread("t")
	l.append(t, first(), note("x"))
	var list []*raw
	for range 5 {
		k := r.raw(t, nil)
		k.subscribe(t, "t", "start")
		k.want(t, "subscribed")
		k.batch(t, 0, 1)
		list = append(list, k)
	}
	s := r.sse(t, "t", "start", "")
	s.batch(t, "start")
	s.batch(t, l.cursor(), 0, 1)
	codes := make(chan int, len(list))
	for _, k := range list {
		go func() {
			code, _ := k.closed(t)
			codes <- code
		}()
	}
	began := time.Now()
	r.stop()
	took := time.Since(began)
	for range list {
		if code := <-codes; code != 4000 {
			t.Errorf("closed with %d", code)
		}
	}
	if took < time.Second || took > 2*time.Second {
		t.Errorf("the drain took %v of 2s", took)
	}
	retried := false
	for {
		m, more := s.any(t)
		if !more {
			break
		}
		retried = retried || m.retry != ""
	}
	if !retried {
		t.Error("the event stream did not say when to come back")
	}
	req := httptest.NewRequest("GET", "/v1/threads/t/events", nil)
	req.SetPathValue("thread", "t")
	rec := httptest.NewRecorder()
	r.svc.Routes()["GET /v1/threads/{thread}/events"].ServeHTTP(rec, req)
	if rec.Code != 503 {
		t.Errorf("after leaving: %d", rec.Code)
	}
}
