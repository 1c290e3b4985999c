package main

import (
	"context"
	"io"
	"strings"

	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/offline"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/sources"
)

const convertHelp = `Reads the frames of one invoke from standard input, one JSON text a line (or the data lines of an SSE stream), and writes its
events, one a line, as they come; at the end of the input what is open is flushed. A line
{"type":"__host_error__","code":…,"message":…} says that the SDK threw. Without --thread, --turn and --invoke the ids derive from
the frames, the same every time.

With --lines every line is an invoke, a JSON array of frames, and its answer a line, an array of events.

A line that is no JSON (with --lines, no array) is named on standard error and passed over; the exit code is then 1. With --lines
its answer is {"error":…}, so that answers keep step with lines.`

func convertCommand() command {
	return command{
		name: "convert", summary: "turn native frames into AgJSON events, offline", long: convertHelp,
		setup: func(set *config.Set) runFunc {
			var from string
			var host normalizer.Host
			var lines bool
			set.Add("Convert",
				&config.StringVar{Name: "from", To: &from, Required: true, FlagOnly: true, Kind: "name",
					Help: "framework of the frames; built are " + strings.Join(sources.Built(), ", ")},
				&config.StringVar{Name: "thread", To: &host.ThreadID, FlagOnly: true, Kind: "id", Help: "thread of the invoke"},
				&config.StringVar{Name: "turn", To: &host.TurnID, FlagOnly: true, Kind: "id", Help: "id that the turn is to have"},
				&config.StringVar{Name: "invoke", To: &host.Invoke, FlagOnly: true, Kind: "id", Help: "id of the invoke, unique in its thread"},
				linesVar(&lines))
			return func(_ context.Context, p *process, _ []string) error {
				if _, err := sources.New(from, host); err != nil {
					return usageError(err.Error())
				}
				return runOffline(p, "convert", func(bad func(int, error), in io.Reader, out io.Writer) error {
					c := offline.Convert{Lines: lines, Bad: bad, New: func() normalizer.Normalizer {
						n, _ := sources.New(from, host) // made once already
						return n
					}}
					return c.Run(in, out)
				})
			}
		},
	}
}

func linesVar(to *bool) config.Setting {
	return &config.BoolVar{Name: "lines", To: to, FlagOnly: true, Help: "every line is a case of its own, and every output line its answer"}
}
