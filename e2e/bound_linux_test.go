package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// starts are commands on their way to the thread that starts them.
type starts struct {
	cmd *exec.Cmd
	err chan error
}

// starter is a thread that lives as long as this process: the kernel ends a child with the thread that made it.
var starter = sync.OnceValue(func() chan<- starts {
	c := make(chan starts)
	go func() {
		runtime.LockOSThread()
		for s := range c {
			s.err <- s.cmd.Start()
		}
	}()
	return c
})

// startBound starts a command that is killed with this process, however this ends.
func startBound(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s := starts{cmd, make(chan error)}
	starter() <- s
	return <-s.err
}

// stopped says that every thread of a process has been stopped by a signal.
func stopped(pid int) bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(stats) == 0 {
		return false
	}
	for _, path := range stats {
		data, err := os.ReadFile(path)
		_, after, ok := bytes.Cut(data, []byte(") "))
		if err != nil || !ok || after[0] != 'T' {
			return false
		}
	}
	return true
}
