package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/wait"
)

func replayCommand() command {
	return command{
		name: "replay", args: "THREAD", minArgs: 1, maxArgs: 1, summary: "print a thread's recorded events at their own pace, or faster",
		long: "Between two messages of the log it waits as long as lay between them then, divided by --speed; a pause longer than\n" +
			"--max-pause is cut to it.",
		signals: true,
		setup: func(set *config.Set) runFunc {
			var nats broker
			var speed string
			var maxPause time.Duration
			set.Add("Replay",
				&config.StringVar{Name: "speed", To: &speed, Default: "1", FlagOnly: true, Kind: "factor", Check: checkSpeed,
					Help: "times as fast as recorded; 0 is as fast as can be"},
				&config.DurationVar{Name: "max-pause", To: &maxPause, Default: 5 * time.Second, Min: 0, Max: 24 * time.Hour, FlagOnly: true,
					Help: "longest pause, before it is divided by the speed"})
			set.Add("NATS", nats.reader()...)
			set.Rules(nats.readerRules()...)
			return func(ctx context.Context, p *process, args []string) error {
				factor, err := strconv.ParseFloat(speed, 64)
				if err != nil {
					return err
				}
				conn, err := nats.read(ctx, p.stderr, "agwire replay")
				if err != nil {
					return err
				}
				defer conn.Close()
				out := bufio.NewWriter(p.stdout)
				var last time.Time
				f := &follower{bus: conn, thread: args[0], last: -1, flush: out.Flush}
				f.print = func(line []byte, at time.Time) error {
					if factor > 0 && !last.IsZero() && at.After(last) {
						if err := out.Flush(); err != nil {
							return err
						}
						if err := wait.For(ctx, time.Duration(float64(min(at.Sub(last), maxPause))/factor)); err != nil {
							return err
						}
					}
					last = at
					_, err := out.Write(append(line, '\n'))
					return err
				}
				err = f.run(ctx, "start", false)
				if err == nil && f.epoch.IsZero() && ctx.Err() == nil {
					err = fmt.Errorf("there is no thread %q", args[0])
				}
				return errors.Join(err, out.Flush())
			}
		},
	}
}

func checkSpeed(text string) error {
	if f, err := strconv.ParseFloat(text, 64); err != nil || !(f >= 0 && f <= 1e6) {
		return errors.New("is no factor from 0 to 1000000")
	}
	return nil
}
