package natstest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/bus"
)

// serverPackage is the broker's own command, of the version pinned in go.mod.
const serverPackage = "github.com/nats-io/nats-server/v2"

// Process is a broker in a process of its own, which a test can kill as no
// in-process server can be. Its methods may be called by one goroutine at a
// time.
type Process struct {
	bin, dir string
	port     int
	cmd      *exec.Cmd
}

// NewProcess builds the pinned server and starts it; it is killed at the end
// of the test.
func NewProcess(t testing.TB) *Process {
	t.Helper()
	p := &Process{bin: filepath.Join(t.TempDir(), "nats-server"), dir: t.TempDir(), port: freePort(t)}
	if out, err := exec.Command("go", "build", "-o", p.bin, serverPackage).CombinedOutput(); err != nil {
		t.Fatalf("build the broker: %v\n%s", err, out)
	}
	t.Cleanup(func() { p.Kill(t) })
	p.Start(t)
	return p
}

// URL is where clients connect; it stays the same over a restart.
func (p *Process) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", p.port) }

// Start starts a killed broker again, on the same store, and waits until it
// takes connections.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	p.cmd = exec.Command(p.bin, "-js", "-sd", p.dir, "-a", "127.0.0.1", "-p", fmt.Sprint(p.port))
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "the broker takes connections", func() bool {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", p.port), time.Second)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	})
}

// Kill ends the broker by SIGKILL.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	if p.cmd == nil {
		return
	}
	if err := p.cmd.Process.Signal(os.Kill); err != nil {
		t.Errorf("kill the broker: %v", err)
	}
	_ = p.cmd.Wait() // "signal: killed"
	p.cmd = nil
}

// Bus connects to the broker and sets the streams up; it is closed with the
// test. Shards is 4 unless given.
func (p *Process) Bus(t testing.TB, o bus.Options) *bus.Bus {
	t.Helper()
	o.URL = p.URL()
	return connect(t, o)
}
