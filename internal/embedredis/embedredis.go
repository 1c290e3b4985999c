package embedredis

import (
	"fmt"
	"net"
	"strconv"

	"github.com/alicebob/miniredis/v2"
)

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	redis *miniredis.Miniredis
	addr  string
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
	redis.ClockTTL(true)
	return &Server{redis: redis, addr: redis.Addr()}, nil
}

// URL is how a client reaches the server.
func (s *Server) URL() string { return "redis://" + s.addr }

// Close cuts all clients off and forgets everything. Further calls do nothing.
func (s *Server) Close() { s.redis.Close() }
