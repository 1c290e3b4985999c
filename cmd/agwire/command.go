package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/config"
)

// command is one subcommand.
type command struct {
	name    string
	args    string // its arguments in the usage line, such as "THREAD"; "" is none
	minArgs int    // how many arguments it needs
	maxArgs int    // how many it takes; -1 is any number
	summary string // one line of agwire help, without full stop
	long    string // what agwire help NAME says besides; may be ""
	signals bool   // the context ends at SIGINT and SIGTERM; otherwise they kill as usual
	// setup defines the settings and returns what runs once they are loaded. It has
	// no other effect: it is called for help, too.
	setup func(set *config.Set) runFunc
}

// runFunc runs a subcommand with loaded settings and what is not a flag. An
// [exitStatus] decides the exit code; see [exitCode].
type runFunc func(ctx context.Context, p *process, args []string) error

// process is what the operating system gives a command.
type process struct {
	environ        []string // NAME=value
	stdin          io.Reader
	stdout, stderr io.Writer
	exit           func(code int)    // called at the second signal
	name           string            // of the command; set by run
	settings       map[string]string // as loaded, redacted, for the log; set by run
	fatal          func(error)       // logs why the process ends, where the log is read by machines; set by newShell, may be nil
}

// exitStatus is an error that has been reported already and decides the exit code.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError says that the arguments are wrong.
type usageError string

func (e usageError) Error() string { return string(e) }

// foreignVariables are AGWIRE_ variables that steer the test suites.
func foreignVariables() []string { return []string{"AGWIRE_TEST_*", "AGWIRE_VECTORS", "AGWIRE_GOLDEN"} }

// run finds the subcommand, loads its settings, runs it, reports its error and
// returns the exit code.
func run(ctx context.Context, p *process, args []string) int {
	return runTable(ctx, p, commands(), args)
}

func runTable(ctx context.Context, p *process, table []command, args []string) int {
	if len(args) == 0 {
		_ = writeOverview(p.stderr, table)
		return 2
	}
	name, args := args[0], args[1:]
	switch name {
	case "help", "--help", "-h":
		return report(p, "help", help(p.stdout, table, args))
	case "--version":
		name = "version"
	}
	cmd, ok := find(table, name)
	if !ok {
		return report(p, "", unknownCommand(table, name))
	}
	err := runCommand(ctx, p, table, cmd, args)
	if errors.Is(err, config.ErrHelp) {
		err = writeHelp(p.stdout, cmd)
	}
	return report(p, name, err)
}

func runCommand(ctx context.Context, p *process, table []command, cmd command, args []string) error {
	set := config.NewSet()
	body := cmd.setup(set)
	rest, err := set.Load(config.Source{Args: args, Environ: p.environ, Known: otherNames(table, cmd.name), Foreign: foreignVariables()})
	if err != nil {
		return err
	}
	switch {
	case len(rest) < cmd.minArgs:
		return usageError("an argument is missing: " + usage(cmd))
	case cmd.maxArgs >= 0 && len(rest) > cmd.maxArgs:
		return usageError("there are too many arguments: " + usage(cmd))
	}
	p.name, p.settings = cmd.name, set.Logged()
	if cmd.signals {
		signalled, stop := app.SignalContext(ctx, p.exit)
		defer stop()
		ctx = signalled
	}
	return body(ctx, p, rest)
}

// otherNames are the settings of all commands but one, so that one environment and
// one file serve all of them.
func otherNames(table []command, name string) []string {
	var names []string
	for _, cmd := range table {
		if cmd.name != name {
			set := config.NewSet()
			cmd.setup(set)
			names = append(names, set.Names()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// report prints err and returns the exit code.
func report(p *process, name string, err error) int {
	var status exitStatus
	if err == nil || errors.As(err, &status) {
		return exitCode(err)
	}
	prefix := strings.TrimSpace("agwire " + name)
	var bad *config.Error
	switch {
	case errors.As(err, &bad):
		fmt.Fprintf(p.stderr, "%s: bad settings:\n  %s\nSee agwire help %s.\n", prefix,
			strings.ReplaceAll(bad.Error(), "\n", "\n  "), name)
	default:
		if p.fatal != nil {
			p.fatal(err)
		}
		fmt.Fprintf(p.stderr, "%s: %s\n", prefix, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return exitCode(err)
}

// exitCode is the exit code an error stands for.
func exitCode(err error) int {
	var status exitStatus
	var bad *config.Error
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &bad), errors.As(err, &usage):
		return 2
	case errors.Is(err, app.ErrDrain):
		return 3
	}
	return 1
}

func find(table []command, name string) (command, bool) {
	i := slices.IndexFunc(table, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return table[i], true
}

func unknownCommand(table []command, name string) error {
	names := make([]string, len(table))
	for i, cmd := range table {
		names[i] = cmd.name
	}
	return usageError(fmt.Sprintf("there is no command %q; there are help, %s", name, strings.Join(names, ", ")))
}
