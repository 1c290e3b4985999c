//go:build !linux

package e2e_test

import (
	"os/exec"
	"strconv"
	"strings"
)

// startBound starts a command; where the kernel cannot bind it to this process, the cleanup of its test alone ends it.
func startBound(cmd *exec.Cmd) error { return cmd.Start() }

// stopped says that a process has been stopped by a signal.
func stopped(pid int) bool {
	out, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(out)), "T")
}
