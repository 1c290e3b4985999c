package e2e_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy is a line between a client and a server that can be cut. It ends with its test. Its methods are safe for concurrent use.
type proxy struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	conns map[*net.TCPConn]bool
	cuts  int // connections that a cut has ended
}

// startProxy passes connections on to an address.
func startProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to, conns: map[*net.TCPConn]bool{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.pass(c.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.cut()
		serving.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

// pass copies both ways until one side ends.
func (p *proxy) pass(client *net.TCPConn) {
	defer client.Close()
	c, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer c.Close()
	p.mu.Lock()
	p.conns[client] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.conns, client)
		p.mu.Unlock()
	}()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, c)
		client.Close()
	})
	_, _ = io.Copy(c, client)
	c.Close()
	back.Wait()
}

// cut resets every connection that there is, and returns how many.
func (p *proxy) cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.conns)
	for c := range p.conns {
		_ = c.SetLinger(0)
		c.Close()
	}
	p.cuts += n
	return n
}
