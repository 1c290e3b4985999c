package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/pkg/agjson"
)

func tailCommand() command {
	return command{
		name: "tail", args: "THREAD", minArgs: 1, maxArgs: 1, summary: "print a thread's events as they are committed",
		long:    "Events are NDJSON as on the log, seq being the thread's ordinal. At the end the last cursor goes to standard error.",
		signals: true,
		setup: func(set *config.Set) runFunc {
			var nats broker
			var from string
			var follow bool
			set.Add("Tail",
				&config.StringVar{Name: "from", To: &from, Default: "now", FlagOnly: true, Kind: "place", Help: "now, start, or a cursor"},
				&config.BoolVar{Name: "follow", To: &follow, Default: true, FlagOnly: true, Help: "go on with what is committed from now on"})
			set.Add("NATS", nats.reader()...)
			set.Rules(nats.readerRules()...)
			return func(ctx context.Context, p *process, args []string) error {
				conn, err := nats.read(ctx, p.stderr, "agwire tail")
				if err != nil {
					return err
				}
				defer conn.Close()
				out := bufio.NewWriter(p.stdout)
				f := &follower{bus: conn, thread: args[0], last: -1, print: func(line []byte, _ time.Time) error {
					_, err := out.Write(append(line, '\n'))
					return err
				}, flush: out.Flush}
				err = f.run(ctx, from, follow)
				if !f.epoch.IsZero() {
					fmt.Fprintf(p.stderr, "cursor %s\n", bus.Cursor{Epoch: f.epoch, Ordinal: f.last})
				}
				return errors.Join(err, out.Flush())
			}
		},
	}
}

// follower reads a thread's log in order, each ordinal once: first what is there, then what is committed.
type follower struct {
	bus    *bus.Bus
	thread string
	epoch  bus.Epoch
	last   int64 // ordinal last printed
	print  func(line []byte, at time.Time) error
	flush  func() error

	wake chan struct{}
}

// run prints from a place on until ctx ends, or, without follow, to the head.
func (f *follower) run(ctx context.Context, from string, follow bool) error {
	f.wake = make(chan struct{}, 1)
	if follow {
		live, err := f.bus.SubscribeLive(f.thread, bus.LiveHandler{Event: func(bus.EventMessage) { f.kick() }, Loss: func(bus.Loss, string) { f.kick() }})
		if err != nil {
			return err
		}
		defer live.Close()
	}
	next, err := f.start(ctx, from)
	if err != nil {
		return err
	}
	for {
		if next, err = f.catchUp(ctx, next); err != nil {
			break
		}
		if err = f.flush(); err != nil || !follow {
			break
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return nil
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (f *follower) kick() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// start finds the stream sequence to read from.
func (f *follower) start(ctx context.Context, from string) (uint64, error) {
	switch from {
	case "start":
		return 1, nil
	case "now":
		head, err := f.bus.Head(ctx, f.thread)
		if errors.Is(err, bus.ErrNotFound) {
			return 1, nil
		}
		if err != nil {
			return 0, err
		}
		f.epoch, f.last = head.Epoch, head.Last()
		return head.StreamSeq + 1, nil
	}
	c, err := bus.ParseCursor(from)
	if err != nil {
		return 0, usageError("--from: want now, start, or a cursor")
	}
	next := bus.Cursor{Epoch: c.Epoch, Ordinal: c.Ordinal + 1}
	seq, err := f.bus.Seek(ctx, f.thread, next)
	if err != nil {
		return 0, err
	}
	f.epoch, f.last = c.Epoch, c.Ordinal
	return seq, nil
}

// catchUp prints what the log holds from a stream sequence on, and returns the one to go on with.
func (f *follower) catchUp(ctx context.Context, next uint64) (uint64, error) {
	for m, err := range f.bus.ReadThread(ctx, f.thread, next) {
		if err == nil {
			err = m.Err
		}
		if err != nil {
			return next, err
		}
		if m.Epoch != f.epoch {
			f.epoch, f.last = m.Epoch, -1
		}
		ordinal := m.First
		err = agjson.EachLine(m.Body, func(line []byte) error {
			defer func() { ordinal++ }()
			if ordinal <= f.last {
				return nil
			}
			f.last = ordinal
			return f.print(line, m.Time)
		})
		if err != nil {
			return next, err
		}
		next = m.StreamSeq + 1
	}
	return next, nil
}
