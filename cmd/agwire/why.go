package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/sources"
)

func whyCommand() command {
	return command{
		name: "why", args: "THREAD ORDINAL", minArgs: 2, maxArgs: 2, summary: "show which frame an event of a thread came from",
		long: "Prints the event as it is on the log, the native frame that made the mapper say it, and the frames around that one with\n" +
			"what each yielded; a frame that yielded nothing repeated what others had said, or waits for more. The frames are mapped\n" +
			"again by this binary; where it maps otherwise than the one that wrote the log, that is said.",
		signals: true,
		setup: func(set *config.Set) runFunc {
			var nats broker
			var around int
			set.Add("Why", &config.IntVar{Name: "around", To: &around, Default: 3, Min: 0, Max: 1000, Unit: "frames", FlagOnly: true,
				Help: "frames shown before and after"})
			set.Add("NATS", nats.reader()...)
			return func(ctx context.Context, p *process, args []string) error {
				ordinal, err := strconv.ParseInt(args[1], 10, 64)
				if err != nil || ordinal < 0 {
					return usageError("ORDINAL: want the seq of an event on the log, from 0")
				}
				conn, err := nats.read(ctx, p.stderr, "agwire why")
				if err != nil {
					return err
				}
				defer conn.Close()
				return why(ctx, p.stdout, conn, args[0], ordinal, around)
			}
		},
	}
}

// why finds the event in its message, and the frame by mapping the invoke again.
func why(ctx context.Context, out io.Writer, b *bus.Bus, thread string, ordinal int64, around int) error {
	head, err := b.Head(ctx, thread)
	if err != nil {
		return fmt.Errorf("thread %q: %w", thread, err)
	}
	if ordinal > head.Last() {
		return fmt.Errorf("thread %q: its last ordinal is %d", thread, head.Last())
	}
	m, line, err := findEvent(ctx, b, thread, bus.Cursor{Epoch: head.Epoch, Ordinal: ordinal})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "event %d of %s, in log message %d of %s\n  %s\n", ordinal, thread, m.StreamSeq, m.Time.UTC().Format("2006-01-02T15:04:05.000Z"), line)
	if m.Invoke == "" || ordinal == 0 {
		fmt.Fprintln(out, "\nit comes from no frame: the log says it itself")
		return nil
	}
	own := m.Next - (m.Last() - ordinal) - 1
	fmt.Fprintf(out, "\ninvoke %s, turn %s, the invoke's own seq %d\n", m.Invoke, m.Turn, own)
	return explainFrame(ctx, out, b, m, own, around)
}

// findEvent reads the message that holds an ordinal, and the event's line.
func findEvent(ctx context.Context, b *bus.Bus, thread string, at bus.Cursor) (found bus.EventMessage, line []byte, err error) {
	from, err := b.Seek(ctx, thread, at)
	if err != nil {
		return found, nil, err
	}
	for m, err := range b.ReadThread(ctx, thread, from) {
		if err == nil {
			err = m.Err
		}
		if err != nil {
			return found, nil, err
		}
		if at.Ordinal < m.First || at.Ordinal > m.Last() {
			continue
		}
		n := m.First
		err = agjson.EachLine(m.Body, func(l []byte) error {
			if n == at.Ordinal {
				line = l
			}
			n++
			return nil
		})
		return m, line, err
	}
	return found, nil, errors.New("the log does not hold the event")
}

// mapped is a frame and how many events it yielded.
type mapped struct {
	frame  bus.Frame
	first  int64
	events int
}

// explainFrame maps the invoke again, up to the frame that yields own and some frames more.
func explainFrame(ctx context.Context, out io.Writer, b *bus.Bus, m bus.EventMessage, own int64, around int) error {
	var list []mapped
	var mapper normalizer.Normalizer
	next, hit := int64(0), -1
	for f, err := range b.ReadInvoke(ctx, m.Thread, m.Invoke, m.Opened, 1<<62) {
		if err != nil {
			return err
		}
		if f.Err != nil || f.Index != int64(len(list)) {
			continue
		}
		if mapper == nil {
			if mapper, err = sources.New(f.Start.Source, normalizer.Host{ThreadID: m.Thread, TurnID: m.Turn, Invoke: m.Invoke}); err != nil {
				return err
			}
			fmt.Fprintf(out, "framework %s, first frame at %d of the frames stream\n", f.Start.Source, f.First)
		}
		var events []agjson.Event
		if f.Kind == bus.KindEnd {
			events = mapper.Flush()
		} else {
			events = mapper.Push(f.Body)
		}
		list = append(list, mapped{f, next, len(events)})
		next += int64(len(events))
		if hit < 0 && own < next {
			hit = len(list) - 1
		}
		if hit >= 0 && len(list) > hit+around {
			break
		}
	}
	if hit < 0 {
		return fmt.Errorf("this binary maps the invoke's frames to %d events, none with seq %d: the log was written by another mapper, or frames are gone", next, own)
	}
	fmt.Fprintf(out, "\nframe %d said it:\n  %s\n", list[hit].frame.Index, body(list[hit].frame, 1<<20))
	if around == 0 {
		return nil
	}
	fmt.Fprintln(out, "\naround it:")
	for i := max(0, hit-around); i < len(list); i++ {
		mark := " "
		if i == hit {
			mark = ">"
		}
		fmt.Fprintf(out, "%s frame %-4d %-22s %s\n", mark, list[i].frame.Index, yields(list[i]), body(list[i].frame, 100))
	}
	return nil
}

func yields(m mapped) string {
	switch m.events {
	case 0:
		return "yields nothing"
	case 1:
		return fmt.Sprintf("yields seq %d", m.first)
	}
	return fmt.Sprintf("yields seq %d to %d", m.first, m.first+int64(m.events)-1)
}

// body is a frame's text, at most n bytes of it.
func body(f bus.Frame, n int) string {
	if f.Kind == bus.KindEnd {
		return fmt.Sprintf("(end of the invoke: %s, exit %d)", f.End.Reason, f.End.Exit)
	}
	if len(f.Body) <= n {
		return string(f.Body)
	}
	return string(f.Body[:n]) + "…"
}
