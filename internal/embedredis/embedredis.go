package embedredis

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// step is how often time passes for what has a time to live. The server sorts all of its keys each time, which is why it does
// not do so with every command.
const step = 2 * time.Second

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	redis *miniredis.Miniredis
	addr  string
	quit  chan struct{}
	once  sync.Once
	wg    sync.WaitGroup
}

// Start listens on 127.0.0.1 at the port, or at a free one if port is 0, and takes
// clients when it returns.
func Start(port int) (*Server, error) {
	if port < 0 || port > 65535 {
		return nil, fmt.Errorf("embedded redis: port %d is not in 0 to 65535", port)
	}
	redis := miniredis.NewMiniRedis()
	if err := redis.StartAddr(net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err != nil {
		return nil, fmt.Errorf("embedded redis: %w", err)
	}
	s := &Server{redis: redis, addr: redis.Addr(), quit: make(chan struct{})}
	s.wg.Go(s.age)
	return s, nil
}

// age lets time pass until the server is closed.
func (s *Server) age() {
	tick := time.NewTicker(step)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-s.quit:
			return
		case <-tick.C:
			now := time.Now()
			s.redis.FastForward(now.Sub(last))
			last = now
		}
	}
}

// URL is how a client reaches the server.
func (s *Server) URL() string { return "redis://" + s.addr }

// Close cuts all clients off and forgets everything; nothing of the server runs when it returns. Further calls do nothing.
func (s *Server) Close() {
	s.once.Do(func() { close(s.quit) })
	s.wg.Wait()
	s.redis.Close()
}
