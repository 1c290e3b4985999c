package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/agwire/agwire/internal/config"
)

// help answers agwire help and agwire help COMMAND.
func help(w io.Writer, table []command, args []string) error {
	switch len(args) {
	case 0:
		return writeOverview(w, table)
	case 1:
		cmd, ok := find(table, args[0])
		if !ok {
			return unknownCommand(table, args[0])
		}
		return writeHelp(w, cmd)
	}
	return usageError("there are too many arguments: agwire help [COMMAND]")
}

// writeOverview lists the commands.
func writeOverview(w io.Writer, table []command) error {
	var b strings.Builder
	b.WriteString("Usage: agwire COMMAND [flags] [arguments]\n\n")
	for _, cmd := range table {
		fmt.Fprintf(&b, "  %-10s %s\n", cmd.name, cmd.summary)
	}
	fmt.Fprintf(&b, "  %-10s %s\n", "help", "this list, or all about one command")
	b.WriteString("\nSettings are flags, environment variables (AGWIRE_…) and keys of a YAML file alike:\n" +
		"agwire help COMMAND.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeHelp tells all about one command.
func writeHelp(w io.Writer, cmd command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s.\n\nUsage: %s\n\n", strings.ToUpper(cmd.summary[:1]), cmd.summary[1:], usage(cmd))
	if cmd.long != "" {
		b.WriteString(strings.TrimSpace(cmd.long) + "\n\n")
	}
	set := config.NewSet()
	cmd.setup(set)
	if err := set.Help(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func usage(cmd command) string {
	return strings.TrimSpace("agwire " + cmd.name + " [flags] " + cmd.args)
}
