package demo

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/framing"
	"github.com/agwire/agwire/internal/push"
	"github.com/agwire/agwire/internal/wait"
)

//go:embed recordings
var recordings embed.FS

// conversation is one thread of the demo: invokes, one after another.
type conversation struct {
	thread    string
	framework string
	invokes   []string // files below recordings, without their ending
}

func conversations() []conversation {
	return []conversation{
		{"claude-helpdesk", "claude", []string{"claude/tool_mcp.partial", "claude/thinking_tools.partial", "claude/tool_error.partial"}},
		{"claude-review", "claude", []string{"claude/todo_tasks.partial", "claude/subagent.partial"}},
		{"claude-billing", "claude", []string{"claude/server_tool_web_search.partial", "claude/text_long.partial"}},
		{"claude-interrupted", "claude", []string{"claude/interrupted.partial"}},
		{"vercel-shop", "vercel", []string{"vercel/tool_static", "vercel/multi_step", "vercel/tools_parallel", "vercel/text"}},
		{"vercel-research", "vercel", []string{"vercel/sources_files", "vercel-fullstream/reasoning_signature_in_delta", "vercel/error_midstream"}},
		{"vercel-approval", "vercel", []string{"vercel-fullstream/tool_approval.1_requested"}},
	}
}

// Options of a replay.
type Options struct {
	URL  string        // of ingest
	Run  string        // put before the threads' names, so that a second demo has threads of its own
	Pace time.Duration // between two frames, about; 0 = as fast as can be
	Gap  time.Duration // between two invokes of a thread
}

// Frames is how many frames a replay sends.
func Frames() (int, error) {
	n := 0
	for _, c := range conversations() {
		for _, name := range c.invokes {
			list, err := load(name)
			if err != nil {
				return 0, err
			}
			n += len(list)
		}
	}
	return n, nil
}

// Run replays every conversation, all at once, and returns when the last is over, or ctx ends.
func Run(ctx context.Context, o Options) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, c := range conversations() {
		g.Go(func() error {
			if err := wait.For(ctx, time.Duration(i)*o.Gap/4); err != nil {
				return err
			}
			for n, name := range c.invokes {
				if err := replay(ctx, o, c, n, name); err != nil {
					return fmt.Errorf("demo: %s: %w", name, err)
				}
				if err := wait.For(ctx, o.Gap); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// replay sends one recording as one invoke.
func replay(ctx context.Context, o Options, c conversation, n int, name string) error {
	frames, err := load(name)
	if err != nil {
		return err
	}
	u, err := push.New(ctx, push.Options{
		URL: o.URL, Thread: o.Run + c.thread, Invoke: fmt.Sprintf("%d", n+1), Framework: c.framework, GiveUp: 30 * time.Second,
	}, 0)
	if err != nil {
		return err
	}
	for _, f := range frames {
		if err = u.Send(ctx, f); err == nil && o.Pace > 0 {
			err = wait.For(ctx, o.Pace/2+rand.N(o.Pace))
		}
		if err != nil {
			u.Abandon()
			return err
		}
	}
	_, err = u.End(ctx, 0)
	return err
}

func load(name string) ([][]byte, error) {
	data, err := recordings.ReadFile("recordings/" + name + ".ndjson")
	if err != nil {
		return nil, err
	}
	var list [][]byte
	r := framing.NewReader(bytes.NewReader(data), framing.Options{Format: framing.NDJSON})
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, bytes.Clone(f.Data))
	}
}
