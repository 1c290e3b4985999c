package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/demo"
	"github.com/agwire/agwire/internal/wait"
)

// Pace of the demo: between two frames, and between two invokes of a thread.
const (
	demoPace = 60 * time.Millisecond
	demoGap  = 1500 * time.Millisecond
)

// playDemo waits for the system, replays the recordings, and tells once a second what is happening.
func playDemo(ctx context.Context, out io.Writer, metrics prometheus.Gatherer, url string, now time.Time) error {
	if err := untilReady(ctx, url); err != nil {
		return err
	}
	frames, err := demo.Frames()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  Replaying %d recorded frames of the Claude Agent SDK and the Vercel AI SDK: open %s\n\n", frames, url)
	g, ctx := errgroup.WithContext(ctx)
	over := make(chan struct{})
	g.Go(func() error {
		defer close(over)
		return demo.Run(ctx, demo.Options{URL: url, Run: now.Format("150405") + "/", Pace: demoPace, Gap: demoGap})
	})
	g.Go(func() error {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-over:
				line, err := demoLine(metrics)
				if err == nil {
					fmt.Fprintf(out, "  %s\n\n  The recordings are over; the system goes on. Stop it with Ctrl-C.\n", line)
				}
				return err
			case <-tick.C:
				line, err := demoLine(metrics)
				if err != nil {
					return err
				}
				fmt.Fprintf(out, "  %s\n", line)
			}
		}
	})
	return g.Wait()
}

// untilReady asks /readyz until it says yes.
func untilReady(ctx context.Context, url string) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		if err := wait.For(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// demoLine is the state of the system in one line, out of its own metrics.
func demoLine(metrics prometheus.Gatherer) (string, error) {
	families, err := metrics.Gather()
	if err != nil {
		return "", err
	}
	sums := map[string]float64{}
	var delay *dto.Histogram
	for _, f := range families {
		for _, m := range f.GetMetric() {
			sums[f.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			if f.GetName() == "agwire_normalize_delay_seconds" {
				delay = m.GetHistogram()
			}
		}
	}
	return fmt.Sprintf("threads %d · open invokes %d · frames %d · events %d · frame to event p50 %s p99 %s · clients %d",
		int(sums["agwire_normalize_threads"]), int(sums["agwire_normalize_open_invokes"]), int(sums["agwire_normalize_frames_total"]),
		int(sums["agwire_normalize_events_total"]), quantile(delay, 0.5), quantile(delay, 0.99), int(sums["agwire_fanout_connections"])), nil
}

// quantile is the upper bound of the bucket in which a share of a histogram's values lies.
func quantile(h *dto.Histogram, share float64) string {
	want := share * float64(h.GetSampleCount())
	for _, b := range h.GetBucket() {
		if float64(b.GetCumulativeCount()) >= want && want > 0 {
			return "< " + time.Duration(b.GetUpperBound()*float64(time.Second)).String()
		}
	}
	return "–"
}
