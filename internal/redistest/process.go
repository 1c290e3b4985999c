package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// real is a redis-server process on loopback.
type real struct {
	bin     string
	dir     string
	port    int
	cluster bool
	cmd     *exec.Cmd // nil while it is dead
}

func start(t testing.TB, cluster bool) *Server {
	t.Helper()
	bin, err := exec.LookPath(os.Getenv(EnvServer))
	if err != nil {
		t.Fatalf("redistest: %s names no redis-server binary: %v", EnvServer, err)
	}
	r := &real{bin: bin, dir: t.TempDir(), cluster: cluster}
	t.Cleanup(func() { r.kill(t) })
	// Between finding a port free and using it somebody else may take it.
	for attempt := 0; ; attempt++ {
		if r.port, err = freePort(); err == nil {
			err = r.run()
		}
		if err == nil {
			break
		}
		if attempt == 4 {
			t.Fatalf("redistest: start redis-server: %v", err)
		}
	}
	s := &Server{Name: "server", URL: "redis://" + r.addr(), Prefix: newPrefix(), t: t, owned: r}
	if cluster {
		s.Name, s.URL = "cluster", "redis+cluster://"+r.addr()
	}
	return s
}

func (r *real) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port)) }

// run starts the process and waits until it serves.
func (r *real) run() error {
	args := []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(r.port), "--dir", r.dir, "--save", "", "--appendonly", "no"}
	if r.cluster {
		bus, err := freePort()
		if err != nil {
			return err
		}
		args = append(args, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus),
			"--cluster-announce-ip", "127.0.0.1", "--cluster-config-file", "nodes-"+strconv.Itoa(r.port)+".conf")
	}
	r.cmd = exec.Command(r.bin, args...)
	if err := r.cmd.Start(); err != nil {
		r.cmd = nil
		return fmt.Errorf("start: %w", err)
	}
	if err := r.await(); err != nil {
		r.stop()
		return err
	}
	return nil
}

func (r *real) await() error {
	c, err := client("redis://" + r.addr())
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if r.serves(ctx, c) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w", ctx.Err())
		}
	}
}

// serves reports whether it is this process that answers, and, as a cluster, for every slot.
func (r *real) serves(ctx context.Context, c redis.UniversalClient) bool {
	info := c.InfoMap(ctx, "server").Item("Server", "process_id")
	if info != strconv.Itoa(r.cmd.Process.Pid) {
		return false
	}
	if !r.cluster {
		return true
	}
	state, err := c.ClusterInfo(ctx).Result()
	if err != nil {
		return false
	}
	if len(state) >= 16 && state[:16] == "cluster_state:ok" {
		return true
	}
	// Refused once the node has the slots, also after a restart, when it remembers them.
	_ = c.ClusterAddSlotsRange(ctx, 0, 16383).Err()
	return false
}

func (r *real) stop() {
	if r.cmd == nil {
		return
	}
	_ = r.cmd.Process.Kill() // an error means that it has ended already
	_ = r.cmd.Wait()         // always an error: it was killed
	r.cmd = nil
}

func (r *real) kill(testing.TB) { r.stop() }

func (r *real) restart(t testing.TB) {
	t.Helper()
	r.stop()
	if err := r.run(); err != nil {
		t.Fatalf("redistest: restart redis-server: %v", err)
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
