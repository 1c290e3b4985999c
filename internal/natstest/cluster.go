package natstest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/agwire/agwire/internal/embednats"
)

// Cluster is a broker of three servers. Its methods may be called by one
// goroutine at a time.
type Cluster struct {
	opts [3]embednats.Options
	srv  [3]*embednats.Server
	up   [3]bool
}

// NewCluster starts three servers that end with the test.
func NewCluster(t testing.TB, opts ...Option) *Cluster {
	t.Helper()
	c := &Cluster{}
	var routes []string
	var ports [3]int
	for i := range ports {
		ports[i] = freePort(t)
		routes = append(routes, fmt.Sprintf("127.0.0.1:%d", ports[i]))
	}
	for i := range c.opts {
		o := embednats.Options{Dir: t.TempDir(), Cluster: embednats.Cluster{
			Name: "test", Server: fmt.Sprintf("n%d", i), Port: ports[i], Routes: routes,
		}}
		for _, f := range opts {
			f(&o)
		}
		c.opts[i] = o
	}
	t.Cleanup(func() {
		for i := range c.srv {
			c.Stop(i)
		}
	})
	for i := range c.srv {
		c.Start(t, i)
	}
	c.WaitReady(t)
	return c
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// URL names all three servers.
func (c *Cluster) URL() string {
	var urls []string
	for _, s := range c.srv {
		urls = append(urls, s.URL())
	}
	return strings.Join(urls, ",")
}

// URLOf is the address of server i, 0 to 2.
func (c *Cluster) URLOf(i int) string { return c.srv[i].URL() }

// Stop ends server i.
func (c *Cluster) Stop(i int) {
	if c.up[i] {
		c.srv[i].Stop()
		c.up[i] = false
	}
}

// Start brings server i back: same address, same store.
func (c *Cluster) Start(t testing.TB, i int) {
	t.Helper()
	srv, err := embednats.Start(context.Background(), c.opts[i])
	if err != nil {
		t.Fatal(err)
	}
	c.srv[i], c.up[i] = srv, true
	c.opts[i].Port = srv.Port()
}

// WaitReady waits until each server that runs takes JetStream requests.
func (c *Cluster) WaitReady(t testing.TB) {
	t.Helper()
	Eventually(t, "the cluster takes JetStream requests", func() bool {
		for i, s := range c.srv {
			if c.up[i] && !s.JetStreamReady() {
				return false
			}
		}
		return true
	})
}

// Leader is the server that leads a stream, -1 when none does.
func (c *Cluster) Leader(stream string) int {
	for i, s := range c.srv {
		if c.up[i] && s.IsStreamLeader(stream) {
			return i
		}
	}
	return -1
}

// StepDown makes the leader of a stream give up its lead.
func (c *Cluster) StepDown(t testing.TB, stream string) {
	t.Helper()
	i := c.Leader(stream)
	if i < 0 {
		return
	}
	if err := c.srv[i].StepDown(stream); err != nil {
		t.Logf("step down: %v", err)
	}
}
