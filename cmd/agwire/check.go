package main

import (
	"context"
	"io"

	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/offline"
	"github.com/agwire/agwire/pkg/agjson"
)

const checkHelp = `Reads values from standard input, one a line, and writes a verdict a line: {"valid":true}, or
{"valid":false,"path":"/content/0/text","why":"missing"} with the JSON Pointer of the first fault. A line that is no JSON has a verdict,
too; the exit code does not depend on verdicts.

A producer may send nothing that the specification does not have; a consumer lets unknown members pass.`

func checkCommand() command {
	return command{
		name: "check", summary: "check values against a schema of AgJSON, offline", long: checkHelp,
		setup: func(set *config.Set) runFunc {
			var c offline.Check
			var posture string
			var lines bool
			set.Add("Check",
				&config.EnumVar{Name: "schema", To: &c.Schema, Required: true, FlagOnly: true, Values: agjson.SchemaNames(), Help: "what the values are"},
				&config.EnumVar{Name: "posture", To: &posture, FlagOnly: true, Default: "producer", Values: []string{"producer", "consumer"}, Help: "how strict the check is"},
				&config.BoolVar{Name: "lines", To: &lines, FlagOnly: true, Help: "every line is a case of its own, as it is without"})
			return func(_ context.Context, p *process, _ []string) error {
				if posture == "consumer" {
					c.Posture = agjson.Consumer
				}
				return runOffline(p, "check", func(_ func(int, error), in io.Reader, out io.Writer) error { return c.Run(in, out) })
			}
		},
	}
}
