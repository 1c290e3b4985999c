package config

import (
	"errors"
	"strings"
)

// ErrHelp is what [Set.Load] returns when the arguments ask for help; the caller
// prints [Set.Help]. It takes precedence over every problem.
var ErrHelp = errors.New("help requested")

// Problem is one reason why settings were refused.
type Problem struct {
	Name   string // setting, or the unknown flag, key or variable as it was spelt
	From   string // where the value came from, such as "--window" or "agwire.yaml line 3"; "" for none
	Reason string // what is wrong, without the name; holds no secret
}

// String is the problem on one line.
func (p Problem) String() string {
	line := p.Name + ": " + p.Reason
	if p.From != "" && p.From != p.Name {
		line += " (" + p.From + ")"
	}
	return line
}

// Error is every problem of a [Set.Load], in the order of the settings and then
// of the unknown names.
type Error struct{ Problems []Problem }

// Error is a line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
