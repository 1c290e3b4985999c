package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/agwire/agwire/pkg/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFollowsAndResumes(t *testing.T) {
	f := newFake(t)
	var mu sync.Mutex
	var states []client.State
	c, p := f.dial(t, func(o *client.Options) {
		o.Token = "secret"
		o.Header = http.Header{"X-Test": {"1"}}
		o.OnState = func(s client.State) {
			mu.Lock()
			defer mu.Unlock()
			states = append(states, s)
		}
	})
	s, err := c.Subscribe("t", "")
	ok(t, err)
	p.accept("t", "now", "e-4")
	p.pair("t", "join", 4)
	p.events("t", 5, 6, "")
	wants(t, s, "join:4-4@e-4", ":5-6@e-6")
	if s.Cursor() != "e-6" || s.Thread() != "t" {
		t.Errorf("cursor %s of %s", s.Cursor(), s.Thread())
	}
	// Cut.
	_ = p.ws.CloseNow()
	p = f.next(t)
	p.accept("t", "e-6", "e-7")
	p.events("t", 7, 7, "")
	wants(t, s, ":7-7@e-7")
	// Closed with a code that says to come back.
	_ = p.ws.Close(4000, "draining")
	p = f.next(t)
	p.accept("t", "e-7", "e-7")
	p.pair("t", "slow", 9)
	wants(t, s, "slow:9-9@e-9")
	mu.Lock()
	live := 0
	code := 0
	for _, s := range states {
		if s.Live {
			live++
		} else {
			code = max(code, s.Code)
		}
	}
	mu.Unlock()
	if live != 3 || code != 4000 {
		t.Errorf("%d times live, code %d", live, code)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.headers {
		if h.Get("Authorization") != "Bearer secret" || h.Get("X-Test") != "1" {
			t.Errorf("headers %v", h)
		}
	}
}

func TestAsksAgain(t *testing.T) {
	f := newFake(t)
	c, p := f.dial(t, nil)
	s, err := c.Subscribe("t", client.Start)
	ok(t, err)
	p.accept("t", "start", "e-9")
	p.events("t", 0, 2, "")
	p.events("t", 4, 5, "") // 3 is missing
	wants(t, s, ":0-2@e-2")
	p.want("subscribe", "t", "e-2")
	p.events("t", 6, 6, "") // of the older subscription
	p.send(`{"op":"subscribed","thread":"t","cursor":"e-9"}`)
	p.events("t", 2, 4, "") // 2 is known
	p.events("t", 5, 6, "")
	wants(t, s, ":3-4@e-4", ":5-6@e-6")
	// A batch without the pair that is due.
	p.send(`{"op":"reset","thread":"t","reason":"gap"}`)
	p.events("t", 7, 7, "")
	p.accept("t", "e-6", "e-9")
	p.events("t", 7, 9, "")
	wants(t, s, ":7-9@e-9")
	// A head that does not come (B1 6).
	p.send(`{"op":"heartbeat","heads":{"t":{"cursor":"e-10","open":true}}}`)
	p.accept("t", "e-9", "e-10")
	if h, told := s.Head(); !told || h != (client.Head{Cursor: "e-10", Open: true}) {
		t.Errorf("head %+v", h)
	}
	p.events("t", 10, 10, "")
	wants(t, s, ":10-10@e-10")
	// A head that is where we are, or comes in time, is no reason.
	p.send(`{"op":"heartbeat","heads":{"t":{"cursor":"e-10","open":false}}}`)
	p.send(`{"op":"heartbeat","heads":{"t":{"cursor":"e-11","open":false}}}`)
	p.events("t", 11, 11, "")
	wants(t, s, ":11-11@e-11")
	p.send(`{"op":"heartbeat","heads":{"t":{"cursor":"e-11","open":false}}}`)
	p.quiet()
	// Heartbeats that do not name the thread.
	p.send(`{"op":"heartbeat","heads":{}}`)
	p.send(`{"op":"heartbeat","heads":{}}`)
	p.accept("t", "e-11", "e-11")
	if st := s.Stats(); st.Gaps != 2 || st.Behind != 1 || st.Resets != 1 || st.Events != 12 {
		t.Errorf("%+v", st)
	}
}

// What is due and does not come gives the connection up.
func TestUnanswered(t *testing.T) {
	f := newFake(t)
	c, p := f.dial(t, nil)
	_, err := c.Subscribe("t", client.Now)
	ok(t, err)
	p.want("subscribe", "t", "now")
	for range 3 {
		p.send(`{"op":"heartbeat","heads":{}}`)
	}
	p = f.next(t)
	p.accept("t", "now", "e-4")
	p.send(`{"op":"reset","thread":"t","reason":"join"}`)
	for range 3 {
		p.send(`{"op":"heartbeat","heads":{"t":{"cursor":"e-4","open":true}}}`)
	}
	p = f.next(t)
	p.accept("t", "now", "e-4")
}

// A server that goes silent is left.
func TestSilence(t *testing.T) {
	f := newFake(t)
	f.set(0, `{"op":"hello","protocol":"agwire.v1","heartbeat":0.02}`)
	_, p := f.dial(t, nil)
	<-p.over
	f.next(t)
}

// A thread that did not exist is had from its start, though only what comes was asked for.
func TestLiveThreadToCome(t *testing.T) {
	f := newFake(t)
	c, p := f.dial(t, nil)
	s, err := c.Subscribe("t", client.Live)
	ok(t, err)
	p.accept("t", "live", "")
	_ = p.ws.CloseNow()
	p = f.next(t)
	p.accept("t", "start", "e-1")
	p.events("t", 0, 1, "")
	wants(t, s, ":0-1@e-1")

	o, err := c.Subscribe("o", client.Live)
	ok(t, err)
	p.accept("o", "live", "e-7")
	_ = p.ws.CloseNow()
	p = f.next(t)
	for range 2 {
		q := <-p.in
		if q.Thread == "o" && q.From != "e-7" || q.Thread == "t" && q.From != "e-1" {
			t.Errorf("%+v", q)
		}
		p.send(`{"op":"subscribed","thread":%q,"cursor":""}`, q.Thread)
	}
	p.events("o", 8, 8, "")
	wants(t, o, ":8-8@e-8")
}

// A slow reader's thread is let go of and taken up again; the others go on.
func TestSlowReaderOfOne(t *testing.T) {
	f := newFake(t)
	c, p := f.dial(t, func(o *client.Options) { o.Buffer = 1000 })
	slow, err := c.Subscribe("slow", client.Start)
	ok(t, err)
	p.accept("slow", "start", "e-99")
	quick, err := c.Subscribe("quick", client.Start)
	ok(t, err)
	p.accept("quick", "start", "e-99")
	at := 0
	for {
		p.events("slow", at, at+9, "")
		at += 10
		if slow.Stats().Pauses > 0 || at > 1000 {
			break
		}
		p.events("quick", at-10, at-1, "")
		next(t, quick)
	}
	p.want("unsubscribe", "slow", "")
	p.events("slow", at, at+9, "")
	p.send(`{"op":"unsubscribed","thread":"slow"}`)
	p.send(`{"op":"heartbeat","heads":{"quick":{"cursor":"e-%d","open":true}}}`, at-11)
	p.quiet()
	cursor := slow.Cursor()
	last := ""
	for !strings.HasSuffix(last, "@"+cursor) {
		last = next(t, slow)
	}
	p.want("subscribe", "slow", cursor)
	p.send(`{"op":"subscribed","thread":"slow","cursor":"e-99"}`)
	p.events("slow", at-10, at+9, "")
	if got := next(t, slow); !strings.HasSuffix(got, "-"+strconv.Itoa(at+9)+"@e-"+strconv.Itoa(at+9)) {
		t.Errorf("then %s", got)
	}
}

func TestRefusals(t *testing.T) {
	f := newFake(t)
	c, p := f.dial(t, nil)
	s, err := c.Subscribe("t", "x-1")
	ok(t, err)
	p.want("subscribe", "t", "x-1")
	p.send(`{"op":"error","thread":"t","code":"bad_cursor","message":"want a cursor"}`)
	var refused *client.RefusedError
	if _, err := s.Next(t.Context()); !errors.As(err, &refused) || refused.Code != "bad_cursor" || refused.Thread != "t" {
		t.Errorf("refused with %v", err)
	}
	// A cursor of the server's own that it no longer knows.
	s, err = c.Subscribe("t", client.Start)
	ok(t, err)
	p.accept("t", "start", "e-0")
	p.events("t", 0, 0, "")
	wants(t, s, ":0-0@e-0")
	_ = p.ws.CloseNow()
	p = f.next(t)
	p.want("subscribe", "t", "e-0")
	p.send(`{"op":"error","thread":"t","code":"bad_cursor","message":"want a cursor"}`)
	p.accept("t", "now", "")
	p.events("t", 0, 1, "")
	wants(t, s, "anew:0-1@e-1")

	// Replaced, and closed.
	again, err := c.Subscribe("t", client.Now)
	ok(t, err)
	if _, err := s.Next(t.Context()); !errors.Is(err, client.ErrClosed) {
		t.Errorf("the replaced one ends with %v", err)
	}
	p.accept("t", "now", "")
	again.Close()
	again.Close()
	p.want("unsubscribe", "t", "")
	if _, err := again.Next(t.Context()); !errors.Is(err, client.ErrClosed) {
		t.Errorf("the closed one ends with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err = c.Subscribe("u", client.Now)
	ok(t, err)
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	ok(t, c.Close())
	ok(t, c.Close())
	if _, err := s.Next(t.Context()); !errors.Is(err, client.ErrClosed) {
		t.Errorf("after the client: %v", err)
	}
	if _, err := c.Subscribe("v", client.Now); !errors.Is(err, client.ErrClosed) || !errors.Is(c.Err(), client.ErrClosed) {
		t.Errorf("after the client: %v", err)
	}
	<-c.Done()
}

// Where the server says not to come back, the client does not.
func TestFinalClose(t *testing.T) {
	f := newFake(t)
	c, p := f.dial(t, nil)
	s, err := c.Subscribe("t", client.Now)
	ok(t, err)
	p.want("subscribe", "t", "now")
	_ = p.ws.Close(4408, "too many subscriptions")
	var ce *client.CloseError
	if _, err := s.Next(t.Context()); !errors.As(err, &ce) || ce.Code != 4408 || !ce.Final() || !strings.Contains(ce.Error(), "4408") {
		t.Errorf("it ends with %v", err)
	}
	<-c.Done()

	c, p = f.dial(t, nil)
	f.set(403, "")
	_ = p.ws.CloseNow()
	<-c.Done()
	var se *client.StatusError
	if !errors.As(c.Err(), &se) || se.Status != 403 {
		t.Errorf("it ends with %v", c.Err())
	}
}

// What says to try later is tried later.
func TestRefusedForNow(t *testing.T) {
	f := newFake(t)
	c, p := f.dial(t, nil)
	f.set(503, "")
	_ = p.ws.CloseNow()
	eventually(t, "it was tried", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.headers) > 3
	})
	f.set(0, "")
	f.next(t)
	if c.Err() != nil {
		t.Error(c.Err())
	}
}

func TestDialErrors(t *testing.T) {
	f := newFake(t)
	try := func(o client.Options) error {
		tr := &http.Transport{}
		defer tr.CloseIdleConnections()
		o.HTTPClient = &http.Client{Transport: tr}
		c, err := client.Dial(t.Context(), o)
		if err == nil {
			_ = c.Close()
		}
		return err
	}
	err := try(client.Options{URL: "ftp://secret@x", MaxMessage: -1, Buffer: -1, MinBackoff: 2, MaxBackoff: 1, Patience: -1, Grace: -1})
	for _, field := range []string{"URL", "MaxMessage", "Buffer", "MaxBackoff", "Patience", "Grace"} {
		if err == nil || !strings.Contains(err.Error(), field+":") {
			t.Errorf("%s is not named: %v", field, err)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	var se *client.StatusError
	if err := try(client.Options{URL: f.URL}); !errors.As(err, &se) || se.Status != 404 || !se.Final() {
		t.Errorf("elsewhere: %v", err)
	}
	f.set(0, `{"op":"hi"}`)
	if err := try(client.Options{URL: f.URL + "/base"}); err == nil || !strings.Contains(err.Error(), "agwire.v1") {
		t.Errorf("another protocol: %v", err)
	}
	f.set(0, `nonsense`)
	if err := try(client.Options{URL: strings.Replace(f.URL, "http", "ws", 1) + "/base"}); err == nil {
		t.Error("nonsense is taken for hello")
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err == nil {
			_ = ws.Write(r.Context(), websocket.MessageText, []byte(`{"op":"hello"}`))
			_ = ws.CloseNow()
		}
	}))
	defer plain.Close()
	if err := try(client.Options{URL: plain.URL}); err == nil {
		t.Error("a server of no sub-protocol is taken")
	}
	plain.Close()
	if err := try(client.Options{URL: plain.URL, Patience: time.Second}); err == nil {
		t.Error("nobody is taken for a server")
	}
}

// Garbage of the server costs the connection and nothing else.
func TestGarbage(t *testing.T) {
	f := newFake(t)
	c, p := f.dial(t, func(o *client.Options) { o.MaxMessage = 4 << 10 })
	s, err := c.Subscribe("t", client.Start)
	ok(t, err)
	p.accept("t", "start", "e-0")
	p.events("t", 0, 0, "")
	wants(t, s, ":0-0@e-0")
	for i, text := range []string{
		`{`, `{"op":7}`, `[]`, `{"op":"events","thread":"t","events":{}}`, `{"op":"events","thread":"t","events":[1,]}`,
		`{"op":"x","pad":"` + strings.Repeat("x", 8<<10) + `"}`,
	} {
		p.send("%s", text)
		<-p.over
		p = f.next(t)
		p.accept("t", "e-"+strconv.Itoa(i), "e-"+strconv.Itoa(i))
		p.send(`{"op":"of a later version"}`)
		p.events("t", i+1, i+1, "")
		wants(t, s, ":"+strconv.Itoa(i+1)+"-"+strconv.Itoa(i+1)+"@e-"+strconv.Itoa(i+1))
	}
	// An event without an ordinal is a gap; an answer that nobody asked for, a thread that nobody follows are nothing.
	p.send(`{"op":"subscribed","thread":"other","cursor":"e-1"}`)
	p.send(`{"op":"error","code":"x","message":"of the connection"}`)
	p.events("other", 0, 3, "")
	p.send(`{"op":"events","thread":"t","cursor":"e-9","events":[{"type":"x"}]}`)
	p.accept("t", "e-6", "e-6")
}

func TestFollow(t *testing.T) {
	f := newFake(t)
	c, p := f.dial(t, nil)
	s, err := c.Subscribe("t", client.Start)
	ok(t, err)
	stop := errors.New("enough")
	var at []int64
	done := make(chan error, 1)
	go func() {
		done <- s.Follow(t.Context(), func(f *client.Fold, b client.Batch) error {
			at = append(at, f.Seq())
			if f.Cursor() != b.Cursor || f.OpenTurn() || len(f.Result().Messages) != 0 {
				t.Errorf("at %s of %s", f.Cursor(), b.Cursor)
			}
			if f.Seq() == 3 && f.Resets() == 2 {
				return stop
			}
			return nil
		})
	}()
	p.accept("t", "start", "e-1")
	p.events("t", 0, 1, "")
	// A delta for a block that is not there parks the fold.
	p.send(`{"op":"events","thread":"t","cursor":"e-2","events":[{"type":"text.delta","seq":2,"id":"none","delta":"x"}]}`)
	p.accept("t", "now", "e-2")
	p.pair("t", "join", 2)
	p.send(`{"op":"events","thread":"t","cursor":"e-3","events":[{"type":"text.delta","seq":3}]}`) // malformed
	p.accept("t", "now", "e-3")
	p.pair("t", "join", 3)
	if err := <-done; !errors.Is(err, stop) {
		t.Error(err)
	}
	if !slices.Equal(at, []int64{1, 2, 3}) || s.Stats().Resyncs != 2 {
		t.Errorf("folds at %d, %+v", at, s.Stats())
	}

	// One that never folds.
	go func() { done <- s.Follow(t.Context(), func(*client.Fold, client.Batch) error { return nil }) }()
	for {
		p.send(`{"op":"reset","thread":"t","reason":"join"}`)
		p.send(`{"op":"events","thread":"t","cursor":"e-3","pair":true,"events":[{"type":"text.delta","seq":3}]}`)
		select {
		case err := <-done:
			if !errors.Is(err, client.ErrFold) {
				t.Error(err)
			}
			return
		case q := <-p.in:
			if q.From != "now" {
				t.Errorf("%+v", q)
			}
			p.send(`{"op":"subscribed","thread":"t","cursor":"e-3"}`)
		}
	}
}
