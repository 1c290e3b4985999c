package main

import (
	"fmt"
	"io"
)

// runOffline runs a tool on standard input and output. What is wrong with the input goes to standard error by line while the
// rest is done, and makes the exit code 1.
func runOffline(p *process, name string, run func(bad func(line int, why error), in io.Reader, out io.Writer) error) error {
	bad := false
	err := run(func(line int, why error) {
		bad = true
		fmt.Fprintf(p.stderr, "agwire %s: line %d: %v\n", name, line, why)
	}, p.stdin, p.stdout)
	if err == nil && bad {
		return exitStatus(1)
	}
	return err
}
