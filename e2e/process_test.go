package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// command is how a process is started.
type command struct {
	name  string // of the log, and in messages
	argv  []string
	env   []string  // NAME=value, all there is besides PATH and HOME
	stdin io.Reader // nil = none
}

// process is a command that was started. It ends with its test. Its methods are for one goroutine at a time.
type process struct {
	t       testing.TB
	command command
	log     string        // file with what it printed, over all its lives
	stdout  *lockedBuffer // what this life printed to standard output
	cmd     *exec.Cmd
	done    chan struct{} // closed when it has ended
	asked   *flag         // its end is wanted
}

// flag is a boolean that two goroutines share.
type flag struct {
	mu sync.Mutex
	on bool
}

func (f *flag) set() { f.mu.Lock(); f.on = true; f.mu.Unlock() }

func (f *flag) get() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.on }

// lockedBuffer is a buffer that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start starts a process. A service, which runs until it is told to end, fails the test when it ends by itself.
func start(t testing.TB, c command) *process {
	t.Helper()
	p := &process{t: t, command: c, log: filepath.Join(t.TempDir(), strings.ReplaceAll(c.name, "/", "_")+".log")}
	t.Cleanup(p.cleanup)
	p.begin()
	return p
}

// begin is one life of the process.
func (p *process) begin() {
	p.t.Helper()
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(p.command.argv[0], p.command.argv[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, p.command.env...)
	cmd.Stdin = p.command.stdin
	cmd.WaitDelay = 5 * time.Second
	p.stdout = &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(out, p.stdout), out
	if err := startBound(cmd); err != nil {
		out.Close()
		p.t.Fatalf("start %s: %v", p.command.name, err)
	}
	done, asked := make(chan struct{}), &flag{}
	p.cmd, p.done, p.asked = cmd, done, asked
	go func() {
		defer close(done)
		defer out.Close()
		err := cmd.Wait()
		if !asked.get() {
			fmt.Fprintf(out, "--- ended unasked: %v\n", err)
		}
	}()
}

// ended says whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signal sends a signal to a process that lives.
func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Errorf("%s: %v: %v", p.command.name, sig, err)
	}
}

// freeze stops the process by SIGSTOP, and returns when none of it runs any more; thaw lets it go on.
func (p *process) freeze() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	eventually(p.t, 10*time.Second, p.command.name+" stands still", func() bool { return stopped(p.cmd.Process.Pid) })
}

func (p *process) thaw() {
	p.t.Helper()
	p.signal(syscall.SIGCONT)
}

// kill ends the process by SIGKILL.
func (p *process) kill() {
	p.t.Helper()
	if p.ended() {
		p.t.Fatalf("%s had ended before it was killed", p.command.name)
	}
	p.asked.set()
	p.signal(syscall.SIGKILL)
	<-p.done
}

// terminate sends SIGTERM and returns the exit code of the process, which has limit to end.
func (p *process) terminate(limit time.Duration) int {
	p.t.Helper()
	if p.ended() {
		p.t.Fatalf("%s had ended before it was told to", p.command.name)
	}
	p.asked.set()
	p.signal(syscall.SIGTERM)
	return p.wait(limit)
}

// wait returns the exit code of a process that ends by itself within limit.
func (p *process) wait(limit time.Duration) int {
	p.t.Helper()
	p.asked.set()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-p.done:
	case <-late.C:
		p.t.Fatalf("%s does not end within %v", p.command.name, limit)
	}
	return p.cmd.ProcessState.ExitCode()
}

// restart starts the process again, as it was started first.
func (p *process) restart() {
	p.t.Helper()
	if !p.ended() {
		p.t.Fatalf("%s has not ended", p.command.name)
	}
	p.begin()
}

// printed is all that the process has printed in all its lives.
func (p *process) printed() string {
	data, err := os.ReadFile(p.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(data)
}

// broken are lines that no process may print.
var broken = regexp.MustCompile(`DATA RACE|^panic: |^fatal error: |"level":"(dpanic|panic|fatal)"`)

func (p *process) cleanup() {
	if p.cmd == nil {
		return
	}
	if p.ended() {
		if !p.asked.get() {
			p.t.Errorf("%s ended by itself", p.command.name)
		}
	} else {
		p.asked.set()
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	lines := strings.Split(strings.TrimSuffix(p.printed(), "\n"), "\n")
	for _, line := range lines {
		if broken.MatchString(line) {
			p.t.Errorf("%s printed: %s", p.command.name, line)
		}
	}
	if p.t.Failed() {
		const tail = 60
		p.t.Logf("the last of what %s printed:\n%s", p.command.name, strings.Join(lines[max(0, len(lines)-tail):], "\n"))
	}
}

// output runs an offline tool of agwire to its end and returns what it printed to standard output; it must exit 0.
func output(t testing.TB, stdin []byte, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, built.offline, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	cmd.Stdin = bytes.NewReader(stdin)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("agwire %s: %v\n%s", args[0], err, said.Bytes())
	}
	return out.Bytes()
}
