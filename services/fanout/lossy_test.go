package fanout_test

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agwire/agwire/internal/natstest"
)

// lossy stands between fanout and its broker and drops chosen live messages, as a broker or a line may, whole: what else goes
// through is left as it is.
type lossy struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu      sync.Mutex
	conns   []net.Conn
	drop    int // so many of the next live messages
	dropped int
}

func newLossy(t testing.TB) *lossy {
	t.Helper()
	p := &lossy{listener: must(net.Listen("tcp", "127.0.0.1:0"))(t)}
	t.Cleanup(func() {
		_ = p.listener.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.wg.Wait()
	})
	return p
}

// to is where fanout finds the broker.
func (p *lossy) to(s *natstest.Server) string {
	p.target = strings.TrimPrefix(s.URL(), "nats://")
	p.wg.Go(p.accept)
	return "nats://" + p.listener.Addr().String()
}

// dropNext drops so many of the next live messages.
func (p *lossy) dropNext(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop = n
}

func (p *lossy) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

func (p *lossy) accept() {
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
		p.mu.Lock()
		p.conns = append(p.conns, in, out)
		p.mu.Unlock()
		p.wg.Go(func() {
			_, _ = io.Copy(out, in)
			_ = out.Close()
		})
		p.wg.Go(func() {
			p.filter(in, bufio.NewReader(out))
			_ = in.Close()
		})
	}
}

// filter passes on what the server says, message by message.
func (p *lossy) filter(to net.Conn, from *bufio.Reader) {
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return
		}
		fields := strings.Fields(line)
		data := []byte(line)
		if len(fields) > 3 && (fields[0] == "MSG" || fields[0] == "HMSG") {
			n, err := strconv.Atoi(fields[len(fields)-1])
			if err != nil {
				return
			}
			body := make([]byte, n+2)
			if _, err := io.ReadFull(from, body); err != nil {
				return
			}
			data = append(data, body...)
			if p.loses(fields[1]) {
				continue
			}
		}
		if _, err := to.Write(data); err != nil {
			return
		}
	}
}

// loses says whether a message of the subject is lost.
func (p *lossy) loses(subject string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !strings.HasPrefix(subject, "agw.live.") || p.drop == 0 {
		return false
	}
	p.drop--
	p.dropped++
	return true
}
