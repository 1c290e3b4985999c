package natstest

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/agwire/agwire/internal/bus"
)

// Proxy stands between a client and a server. A test freezes it to make a
// zombie of the client: what it has sent arrives when the proxy thaws.
// Its methods are safe for concurrent use.
type Proxy struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	gate   chan struct{} // closed = open
}

// NewProxy starts a proxy to the server that ends with the test.
func NewProxy(t testing.TB, s *Server) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := s.URL()[len("nats://"):]
	p := &Proxy{listener: l, target: addr, conns: map[net.Conn]struct{}{}, gate: make(chan struct{})}
	close(p.gate)
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// URL is where clients connect.
func (p *Proxy) URL() string { return "nats://" + p.listener.Addr().String() }

// Bus connects through the proxy, without setting up; it is closed with the
// test. Shards is 4 unless given.
func (p *Proxy) Bus(t testing.TB, o bus.Options) *bus.Bus {
	t.Helper()
	o.URL = p.URL()
	if o.Shards == 0 {
		o.Shards = 4
	}
	ctx, cancel := context.WithTimeout(context.Background(), Within)
	defer cancel()
	b, err := bus.Connect(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// Freeze holds all that passes, in both directions, until Thaw.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
		p.gate = make(chan struct{})
	default:
	}
}

// Thaw lets pass what was held and all that follows.
func (p *Proxy) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

// Cut closes every connection; clients may connect again.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.Thaw()
	p.Cut()
	p.wg.Wait()
}

func (p *Proxy) accept() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = in.Close()
			continue
		}
		if !p.add(in, out) {
			return
		}
		p.wg.Go(func() { p.pipe(in, out) })
		p.wg.Go(func() { p.pipe(out, in) })
	}
}

func (p *Proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.closed {
			_ = c.Close()
		} else {
			p.conns[c] = struct{}{}
		}
	}
	return !p.closed
}

// pipe copies until either end closes, then closes both.
func (p *Proxy) pipe(from, to net.Conn) {
	defer func() {
		_ = from.Close()
		_ = to.Close()
		p.mu.Lock()
		delete(p.conns, from)
		p.mu.Unlock()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		gate := p.gate
		p.mu.Unlock()
		<-gate
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
