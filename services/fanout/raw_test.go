package fanout_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agwire/agwire/internal/natstest"
)

// raw is a WebSocket client that shows every message as it comes.
type raw struct {
	ws *websocket.Conn
}

// msg is a message of the server.
type msg struct {
	Op       string            `json:"op"`
	Protocol string            `json:"protocol"`
	Thread   string            `json:"thread"`
	Cursor   *string           `json:"cursor"`
	Reason   string            `json:"reason"`
	Pair     bool              `json:"pair"`
	Events   []json.RawMessage `json:"events"`
	Heads    map[string]struct {
		Cursor string
		Open   bool
	} `json:"heads"`
	Code      string  `json:"code"`
	Heartbeat float64 `json:"heartbeat"`
}

func (m msg) cursor() string {
	if m.Cursor == nil {
		return "none"
	}
	return *m.Cursor
}

// seqs are the ordinals of a batch.
func (m msg) seqs(t testing.TB) []int64 {
	t.Helper()
	out := make([]int64, len(m.Events))
	for i, e := range m.Events {
		var v struct{ Seq int64 }
		ok(t, json.Unmarshal(e, &v))
		out[i] = v.Seq
	}
	return out
}

// dialer makes connections whose kernel keeps as little as it can of what is not read, if the rig says so.
func (r *rig) dialer(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if tcp, is := c.(*net.TCPConn); is && r.narrow {
		err = tcp.SetReadBuffer(64 << 10)
	}
	return c, err
}

// raw connects and takes the hello.
func (r *rig) raw(t testing.TB, header http.Header) *raw {
	t.Helper()
	tr := &http.Transport{DialContext: r.dialer}
	ws, _, err := websocket.Dial(t.Context(), r.http.URL+"/v1/ws", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: tr}, HTTPHeader: header, Subprotocols: []string{"agwire.v1"},
	})
	ok(t, err)
	ws.SetReadLimit(-1)
	t.Cleanup(func() { _ = ws.CloseNow(); tr.CloseIdleConnections() })
	k := &raw{ws}
	if m := k.next(t); m.Op != "hello" || m.Protocol != "agwire.v1" || ws.Subprotocol() != "agwire.v1" || m.Heartbeat <= 0 {
		t.Fatalf("hello is %+v", m)
	}
	return k
}

func (k *raw) send(t testing.TB, text string) {
	t.Helper()
	ok(t, k.ws.Write(t.Context(), websocket.MessageText, []byte(text)))
}

func (k *raw) subscribe(t testing.TB, thread, from string) {
	t.Helper()
	k.send(t, string(must(json.Marshal(map[string]string{"op": "subscribe", "thread": thread, "from": from}))(t)))
}

// any is the next message.
func (k *raw) any(t testing.TB) msg {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), natstest.Within)
	defer cancel()
	_, data, err := k.ws.Read(ctx)
	ok(t, err)
	var m msg
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return m
}

// next is the next message that is no heartbeat.
func (k *raw) next(t testing.TB) msg {
	t.Helper()
	for {
		if m := k.any(t); m.Op != "heartbeat" {
			return m
		}
	}
}

// want is the next message, of this kind.
func (k *raw) want(t testing.TB, op string) msg {
	t.Helper()
	m := k.next(t)
	if m.Op != op {
		t.Fatalf("got %+v, want %s", m, op)
	}
	return m
}

// batch is the next message: events without a pair that are these.
func (k *raw) batch(t testing.TB, seqs ...int64) msg {
	t.Helper()
	m := k.want(t, "events")
	if got := m.seqs(t); m.Pair || !slices.Equal(got, seqs) {
		t.Fatalf("got events %d (pair %v), want %d", got, m.Pair, seqs)
	}
	return m
}

// pair is the next two messages: a reset and its pair.
func (k *raw) pair(t testing.TB, reason string) msg {
	t.Helper()
	if m := k.want(t, "reset"); m.Reason != reason {
		t.Fatalf("reset for %q, want %q", m.Reason, reason)
	}
	m := k.want(t, "events")
	if !m.Pair {
		t.Fatalf("no pair after the reset: %+v", m)
	}
	return m
}

// closed is how the server closes the connection; messages before that are passed over.
func (k *raw) closed(t testing.TB) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), natstest.Within)
	defer cancel()
	for {
		_, _, err := k.ws.Read(ctx)
		if err == nil {
			continue
		}
		var ce websocket.CloseError
		if !asClose(err, &ce) {
			t.Fatalf("the connection was cut: %v", err)
		}
		return int(ce.Code), ce.Reason
	}
}

// sse is an event stream, message by message.
type sse struct {
	resp  *http.Response
	lines *bufio.Reader
}

type sseMsg struct {
	id, event, data, retry string
	comment                bool
}

func (r *rig) sse(t testing.TB, thread, from, lastID string) *sse {
	t.Helper()
	u := r.http.URL + "/v1/threads/" + url.PathEscape(thread) + "/events"
	if from != "" {
		u += "?from=" + url.QueryEscape(from)
	}
	req := must(http.NewRequestWithContext(t.Context(), "GET", u, nil))(t)
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	tr := &http.Transport{}
	resp := must((&http.Client{Transport: tr}).Do(req))(t)
	t.Cleanup(func() { _ = resp.Body.Close(); tr.CloseIdleConnections() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("answered %d %v", resp.StatusCode, resp.Header)
	}
	return &sse{resp, bufio.NewReader(resp.Body)}
}

// any is the next message; false at the end of the stream.
func (s *sse) any(t testing.TB) (sseMsg, bool) {
	t.Helper()
	var m sseMsg
	timeout := time.AfterFunc(natstest.Within, func() { _ = s.resp.Body.Close() })
	defer timeout.Stop()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return m, false
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			return m, true
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "":
			m.comment = true
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			m.data += value
		case "retry":
			m.retry = value
		default:
			t.Fatalf("line %q", line)
		}
	}
}

// next is the next message with an event that is no heartbeat; false at the end of the stream.
func (s *sse) next(t testing.TB) (sseMsg, bool) {
	t.Helper()
	for {
		m, more := s.any(t)
		if !more || m.event != "" && m.event != "heartbeat" {
			return m, more
		}
	}
}

// batch is the next message: a batch of these ordinals.
func (s *sse) batch(t testing.TB, id string, seqs ...int64) {
	t.Helper()
	m, _ := s.next(t)
	var b msg
	if m.event != "events" || m.id != id || json.Unmarshal([]byte(m.data), &b) != nil || b.Pair || !slices.Equal(b.seqs(t), seqs) {
		t.Fatalf("got %+v, want %d with id %s", m, seqs, id)
	}
}
