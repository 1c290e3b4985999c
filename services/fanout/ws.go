package fanout

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/agwire/agwire/internal/httpapi"
	"github.com/agwire/agwire/internal/subject"
)

// serveSocket makes a WebSocket of a request. What is left of the request, and the server's goroutine, end with it.
func (s *Service) serveSocket(w http.ResponseWriter, r *http.Request) {
	if e := s.admit(r); e != nil {
		e.Write(w)
		return
	}
	kept := false
	defer func() {
		if !kept {
			s.leave()
		}
	}()
	if !websocketRequest(r) {
		w.Header().Set("Upgrade", "websocket")
		(&httpapi.Error{Status: http.StatusUpgradeRequired, Code: "upgrade", Message: "this is a WebSocket of sub-protocol " + subprotocol}).Write(w)
		return
	}
	// The request's context says nothing about a connection that was taken over.
	ctx := context.WithoutCancel(r.Context())
	k := &socket{stuck: s.cfg.Stuck}
	c := newClient(ctx, s, webSocket)
	c.sink = k
	k.slow = c.isStuck
	conn, err := websocket.Accept(&takeover{w, k, s.cfg.SocketBuffer}, r, &websocket.AcceptOptions{
		Subprotocols:       []string{subprotocol},
		InsecureSkipVerify: true, // the origin was checked by admit
		OnPingReceived:     c.pinged,
		OnPongReceived:     func(context.Context, []byte) { c.alive() },
	})
	if err != nil {
		c.cancel()
		return // the library has answered
	}
	k.conn = conn
	conn.SetReadLimit(-1) // receive has its own, and its own close code
	kept = true
	s.wg.Go(func() {
		defer s.leave()
		c.serve(ctx, conn)
	})
}

// serve serves a WebSocket to its end.
func (c *client) serve(ctx context.Context, conn *websocket.Conn) {
	c.s.open(c)
	defer func() { _ = conn.CloseNow() }()
	defer c.s.shut(c)
	c.tell(encodeHello(c.s.cfg.Heartbeat.Seconds()))
	if err := c.receive(ctx, conn); err != nil {
		c.count(max(0, int(websocket.CloseStatus(err))))
		return
	}
	<-c.ended
}

// websocketRequest tells whether a request asks for a WebSocket of our sub-protocol, or of none.
func websocketRequest(r *http.Request) bool {
	if r.Header.Get("Upgrade") == "" {
		return false
	}
	asked := strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ",")
	return asked == "" || slices.ContainsFunc(strings.Split(asked, ","), func(p string) bool { return strings.TrimSpace(p) == subprotocol })
}

// request is a message of a client.
type request struct {
	Op     string  `json:"op"`
	Thread *string `json:"thread"`
	From   string  `json:"from"`
}

// receive takes the client's messages. nil means that the connection is ended from here; an error that it is over.
func (c *client) receive(ctx context.Context, conn *websocket.Conn) error {
	limit := int64(c.s.cfg.MaxMessage)
	for {
		kind, rd, err := conn.Reader(ctx)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(io.LimitReader(rd, limit+1))
		if err != nil {
			return err
		}
		c.alive()
		var q request
		switch {
		case int64(len(data)) > limit:
			c.finish(closeTooLarge, "message too large")
			return nil
		case kind != websocket.MessageText || json.Unmarshal(data, &q) != nil:
			c.finish(closeMalformed, "malformed message")
			return nil
		}
		if e := c.request(ctx, q); e != nil {
			c.finish(e.code, e.reason)
			return nil
		}
		if !c.waitRoom() {
			return nil
		}
	}
}

// request does what a message asks for, or says how the connection ends.
func (c *client) request(ctx context.Context, q request) *ending {
	switch q.Op {
	case "ping":
		c.tell(encodePong())
		return nil
	case "subscribe", "unsubscribe":
	default:
		return &ending{code: closeMalformed, reason: "unknown op"}
	}
	if q.Thread == nil {
		return &ending{code: closeMalformed, reason: q.Op + " without a thread"}
	}
	thread := *q.Thread
	if subject.CheckID(thread) != nil {
		c.refuse(thread, "bad_thread", "a thread's id is 1 to 256 bytes of UTF-8")
		return nil
	}
	if q.Op == "unsubscribe" {
		c.drop(thread)
		c.tell(encodeAnswer("unsubscribed", name(thread), nil))
		return nil
	}
	from, err := parsePlace(q.From)
	if err != nil {
		c.refuse(thread, "bad_cursor", "from: "+err.Error())
		return nil
	}
	if c.full(thread) {
		return &ending{code: closeTooMany, reason: "too many subscriptions"}
	}
	c.subscribe(ctx, thread, from)
	return nil
}

// full says whether there is no room for a subscription to a thread.
func (c *client) full(thread string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.subs[thread] == nil && len(c.subs) >= c.s.cfg.MaxSubscriptions
}

// refuse answers a request about a thread with an error.
func (c *client) refuse(thread, code, message string) {
	c.s.m.refused.WithLabelValues(code).Inc()
	c.tell(c.wire.encodeError(thread, code, message))
}

func (c *client) tell(data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reply(data)
}

// alive notes a sign of life.
func (c *client) alive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = time.Now()
}

// isStuck notes that the client takes nothing.
func (c *client) isStuck() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stuck = true
}

// pinged answers a ping in its turn: the library would write it at once, or give the connection up.
func (c *client) pinged(_ context.Context, payload []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = time.Now()
	if len(c.control) < maxControl {
		c.reply(pongFrame(payload))
	}
	return false
}
