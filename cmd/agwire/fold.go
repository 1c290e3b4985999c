package main

import (
	"context"
	"io"

	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/offline"
)

const foldHelp = `Reads events from standard input, one a line, folds them as the specification says, and writes one line:
{"result":…,"needsResync":false,"rejected":[]}. needsResync says that the fold is parked and waits for a snapshot. rejected are the
numbers, from 1, of the lines that are no event; they are not folded, and are no fault of the command.

With --lines every line is a stream, a JSON array of events, its answer a line, and rejected counts the items of the array.

With --explain there is a further member,
"explain":{"parked":[{"line":…,"seq":…,"type":…,"why":…}],"rejected":[{"line":…,"path":…,"why":…}]}: every event that parked the
fold, and where each rejected one is wrong.

A line that is no JSON (with --lines, no array) is also named on standard error, and the exit code is then 1. With --lines its
answer is {"error":…}.`

func foldCommand() command {
	return command{
		name: "fold", summary: "fold AgJSON events into their result, offline", long: foldHelp,
		setup: func(set *config.Set) runFunc {
			var f offline.Fold
			set.Add("Fold", linesVar(&f.Lines),
				&config.BoolVar{Name: "explain", To: &f.Explain, FlagOnly: true, Help: "say what parked the fold, and what was wrong with what was rejected"})
			return func(_ context.Context, p *process, _ []string) error {
				return runOffline(p, "fold", func(bad func(int, error), in io.Reader, out io.Writer) error {
					f.Bad = bad
					return f.Run(in, out)
				})
			}
		},
	}
}
