package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/agwire/agwire/pkg/agjson"
)

// Close codes that are sent from here.
const (
	closeNormal    = 1000
	closeSilent    = 4002
	closeMalformed = 3400 // a message that is none of the protocol's
)

// missed is after how many heartbeats' time without a message a connection is taken for dead.
const missed = 2.5

// conn is one WebSocket. Its answers and the client's state are guarded by the client's lock.
type conn struct {
	c       *Client
	ws      *websocket.Conn
	silence time.Duration

	owed map[string]int // answers that are still due, by thread: what comes before them is of an older subscription
	out  []any          // requests to be written
	more chan struct{}  // holds one when there are
}

// message is a message of the server.
type message struct {
	Op        string          `json:"op"`
	Thread    string          `json:"thread"`
	Cursor    string          `json:"cursor"`
	Reason    string          `json:"reason"`
	Pair      bool            `json:"pair"`
	Events    json.RawMessage `json:"events"`
	Heads     map[string]Head `json:"heads"`
	Heartbeat float64         `json:"heartbeat"`
	Code      string          `json:"code"`
	Message   string          `json:"message"`
}

// Head is where a thread's log stands, as the last heartbeat told.
type Head struct {
	Cursor string `json:"cursor"` // "" = there is no such thread yet
	Open   bool   `json:"open"`   // a turn is open
}

type request struct {
	Op     string `json:"op"`
	Thread string `json:"thread,omitempty"`
	From   string `json:"from,omitempty"`
}

// dial makes a connection and waits for its hello. After an error it says how long the server wants it to wait.
func dial(ctx context.Context, c *Client) (*conn, time.Duration, error) {
	target, err := c.o.socketURL()
	if err != nil {
		return nil, 0, fmt.Errorf("client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Patience)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, target, &websocket.DialOptions{
		HTTPClient: c.o.HTTPClient, HTTPHeader: c.o.header(), Subprotocols: []string{Subprotocol},
	})
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			return nil, retryAfter(resp.Header), &StatusError{resp.StatusCode}
		}
		return nil, 0, fmt.Errorf("client: connect: %w", err)
	}
	ws.SetReadLimit(c.o.MaxMessage)
	k := &conn{c: c, ws: ws, owed: map[string]int{}, more: make(chan struct{}, 1)}
	m, err := k.read(ctx)
	if err == nil && (m.Op != "hello" || ws.Subprotocol() != Subprotocol) {
		err = fmt.Errorf("client: the server does not speak %s", Subprotocol)
	}
	if err != nil {
		_ = ws.Close(closeMalformed, "no hello")
		return nil, 0, err
	}
	k.silence = c.o.Patience
	if m.Heartbeat > 0 {
		k.silence = time.Duration(m.Heartbeat * missed * float64(time.Second))
	}
	return k, 0, nil
}

func retryAfter(h http.Header) time.Duration {
	s, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || s < 0 || s > 3600 {
		return 0
	}
	return time.Duration(s) * time.Second
}

// read reads one message.
func (k *conn) read(ctx context.Context) (message, error) {
	kind, data, err := k.ws.Read(ctx)
	if err != nil {
		var ce websocket.CloseError
		if errors.As(err, &ce) {
			return message{}, &CloseError{Code: int(ce.Code), Reason: ce.Reason}
		}
		return message{}, fmt.Errorf("client: read: %w", err)
	}
	var m message
	if kind != websocket.MessageText || json.Unmarshal(data, &m) != nil || m.Op == "" {
		_ = k.ws.Close(closeMalformed, "malformed message")
		return message{}, errors.New("client: a message is not of the protocol")
	}
	return m, nil
}

// serve reads until the connection ends.
func (k *conn) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { k.write(ctx) })
	var silent atomic.Bool
	watchdog := time.AfterFunc(k.silence, func() {
		silent.Store(true)
		cancel() // ends the read, and the connection with it
	})
	defer func() {
		watchdog.Stop()
		cancel()
		wg.Wait()
		_ = k.ws.CloseNow()
	}()
	for {
		m, err := k.read(ctx)
		if err != nil {
			if silent.Load() {
				return &CloseError{Code: closeSilent, Reason: "the server went silent"}
			}
			return err
		}
		watchdog.Reset(k.silence)
		k.c.mu.Lock()
		err = k.dispatch(&m)
		k.c.mu.Unlock()
		if err != nil {
			_ = k.ws.Close(closeNormal, "asked in vain")
			return err
		}
	}
}

// write writes requests until ctx ends.
func (k *conn) write(ctx context.Context) {
	for {
		select {
		case <-k.more:
		case <-ctx.Done():
			return
		}
		k.c.mu.Lock()
		out := k.out
		k.out = nil
		k.c.mu.Unlock()
		for _, q := range out {
			data, err := json.Marshal(q)
			if err != nil {
				continue
			}
			if k.ws.Write(ctx, websocket.MessageText, data) != nil {
				return // the reader finds out, too
			}
		}
	}
}

// send queues a request whose answer is due. The client is locked, here and below.
func (k *conn) send(q request) {
	k.owed[q.Thread]++
	k.out = append(k.out, q)
	select {
	case k.more <- struct{}{}:
	default:
	}
}

// answered counts an answer, and tells whether none is due any more.
func (k *conn) answered(thread string) bool {
	if n := k.owed[thread]; n > 1 {
		k.owed[thread] = n - 1
		return false
	}
	delete(k.owed, thread)
	return true
}

// current is the subscription that a message is for, nil if it is of an older one.
func (k *conn) current(thread string) *Subscription {
	if k.owed[thread] > 0 {
		return nil
	}
	return k.c.subs[thread]
}

// dispatch takes a message. An error gives the connection up.
func (k *conn) dispatch(m *message) error {
	switch m.Op {
	case "subscribed":
		if k.answered(m.Thread) {
			if s := k.c.subs[m.Thread]; s != nil {
				s.subscribed(m.Cursor)
			}
		}
	case "unsubscribed":
		k.answered(m.Thread)
	case "reset":
		if s := k.current(m.Thread); s != nil {
			s.reset(m.Reason)
		}
	case "events":
		if s := k.current(m.Thread); s != nil {
			events, err := agjson.Items(m.Events)
			if err != nil {
				return fmt.Errorf("client: a message is not of the protocol: %w", err)
			}
			s.take(events, m.Cursor, m.Pair, len(m.Events))
		}
	case "heartbeat":
		return k.heartbeat(m.Heads)
	case "error":
		if m.Thread != "" && k.answered(m.Thread) {
			if s := k.c.subs[m.Thread]; s != nil {
				s.refused(&RefusedError{m.Thread, m.Code, m.Message})
			}
		}
	}
	return nil
}

func (k *conn) heartbeat(heads map[string]Head) error {
	for thread, s := range k.c.subs {
		h, ok := heads[thread]
		if !s.heard(h, ok, k.owed[thread] == 0) {
			return errors.New("client: a request was not answered")
		}
	}
	return nil
}
