package reduce

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/internal/redistest"
)

// slowWire stands between a client and Redis: what it passes on is late, or waits for as long as it is frozen, and is delivered
// even if the client is gone by then.
type slowWire struct {
	l    net.Listener
	addr string
	wg   sync.WaitGroup

	mu     sync.Mutex
	delay  time.Duration
	frozen chan struct{} // closed = passing
	open   map[net.Conn]bool
	held   int // pieces that wait
}

func newSlowWire(t testing.TB, srv *redistest.Server) *slowWire {
	t.Helper()
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &slowWire{l: l, addr: u.Host, frozen: make(chan struct{}), open: map[net.Conn]bool{}}
	close(w.frozen)
	w.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.wg.Go(func() { w.serve(c) })
		}
	})
	t.Cleanup(func() {
		w.thaw()
		_ = l.Close()
		w.mu.Lock()
		for c := range w.open {
			_ = c.Close()
		}
		w.mu.Unlock()
		w.wg.Wait()
	})
	return w
}

func (w *slowWire) url() string { return "redis://" + w.l.Addr().String() }

func (w *slowWire) serve(client net.Conn) {
	server, err := net.Dial("tcp", w.addr)
	if err != nil {
		_ = client.Close()
		return
	}
	w.mu.Lock()
	w.open[client], w.open[server] = true, true
	w.mu.Unlock()
	w.wg.Go(func() { _, _ = io.Copy(client, server); _ = client.Close() })
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if n > 0 {
			w.pass()
			if _, err := server.Write(buf[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	_ = server.Close()
}

// pass waits as long as a piece has to.
func (w *slowWire) pass() {
	w.mu.Lock()
	delay, frozen := w.delay, w.frozen
	w.held++
	w.mu.Unlock()
	if delay > 0 {
		<-time.NewTimer(delay).C
	}
	<-frozen
	w.mu.Lock()
	w.held--
	w.mu.Unlock()
}

func (w *slowWire) slow(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay = d
}

func (w *slowWire) freeze() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frozen = make(chan struct{})
}

func (w *slowWire) thaw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.frozen:
	default:
		close(w.frozen)
	}
}

func (w *slowWire) holds() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held
}

// A slow Redis makes for fewer writes, each of more.
func TestSlowRedis(t *testing.T) {
	redis := redistest.New(t)
	w := newWorld(t, redis)
	wire := newSlowWire(t, redis)
	wire.slow(30 * time.Millisecond)
	x := w.start(testConfig("a"), w.openStore(wire.url()))
	s := simple(t)
	for i, ev := range s {
		stored := w.push("t", ev)
		if i%4 == 0 {
			w.await(stored)
		}
	}
	w.upToDate("in the end")
	if n := x.metric("writes_total", ""); n > float64(len(s))/2 {
		t.Errorf("%v writes of %d messages", n, len(s))
	}
	if err := x.stop(); err != nil {
		t.Error(err)
	}
}

// While Redis does not answer, reading pauses at the limit, whatever the log holds; afterwards everything is written.
func TestMemoryIsBoundedWhileRedisIsAway(t *testing.T) {
	redis := redistest.New(t)
	w := newWorld(t, redis)
	wire := newSlowWire(t, redis)
	cfg := testConfig("a")
	cfg.MaxUnwritten = 64 << 10
	x := w.start(cfg, w.openStore(wire.url()))
	natstest.Eventually(t, "the service is ready", x.Ready)
	s := simple(t)
	w.await(w.push("cold", s[:9]...))
	w.await(w.push("warm", s[:9]...))
	w.upToDate("before")
	wire.freeze()
	total := 0
	var last <-chan struct{}
	for total < 20*int(cfg.MaxUnwritten) {
		for _, id := range []string{"warm", "cold"} {
			ev := s[4]
			ev.Body, ev.TurnID = memoryOf(strings.Repeat("x", 4000)), ""
			last = w.push(id, ev)
			total += 4000
		}
	}
	w.await(last)
	natstest.Eventually(t, "the service is not ready", func() bool { return !x.Ready() })
	natstest.Eventually(t, "reading has paused", func() bool { return x.metric("unwritten_bytes", "") > float64(cfg.MaxUnwritten) })
	if n := x.metric("unwritten_bytes", ""); n > float64(cfg.MaxUnwritten)+2*shards*8000 {
		t.Errorf("%v bytes are unwritten, the limit is %d", n, cfg.MaxUnwritten)
	}
	wire.thaw()
	w.upToDate("after")
	natstest.Eventually(t, "the service is ready", x.Ready)
	natstest.Eventually(t, "nothing is unwritten", func() bool { return x.metric("unwritten_bytes", "") == 0 })
}

// A worker that lost its shard while a write of it was under way: the write comes late, and is refused.
func TestAZombiesWriteIsRefused(t *testing.T) {
	redis := redistest.New(t)
	w := newWorld(t, redis)
	wire := newSlowWire(t, redis)
	cfg := testConfig("zombie")
	cfg.Drain = 50 * time.Millisecond
	x := w.start(cfg, w.openStore(wire.url()))
	s := simple(t)
	w.await(w.push("t", s[:20]...))
	w.upToDate("before")
	wire.freeze()
	w.await(w.push("t", s[20:25]...))
	natstest.Eventually(t, "a write is under way", func() bool { return x.metric("events_total", "") == 25 && wire.holds() > 0 })
	x.cancel()
	w.start(testConfig("successor"), w.store)
	w.await(w.push("t", s[25:40]...))
	w.upToDate("the successor's")
	wire.thaw()
	if err := x.stop(); err != nil {
		t.Error(err)
	}
	natstest.Eventually(t, "what was held has arrived", func() bool { return wire.holds() == 0 })
	w.upToDate("the zombie has written")
	w.await(w.push("t", s[40:]...))
	w.upToDate("the end")
}
