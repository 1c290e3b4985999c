package reduce

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/internal/redistest"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/threads"
	"github.com/agwire/agwire/pkg/agjson"
)

// fill writes a log of many threads at once, some events a message, and returns how many events and bytes it has.
func fill(w *world, copies, perMessage int) (events, bytes int) {
	streams := map[string][]agjson.Event{}
	for name, s := range golden(w.t) {
		for i := range copies {
			streams[fmt.Sprint(i, " ", name)] = s
		}
	}
	var last [shards]<-chan struct{}
	for at := 0; len(streams) > 0; at += perMessage {
		for id, s := range streams {
			if at >= len(s) {
				delete(streams, id)
				continue
			}
			part := s[at:min(at+perMessage, len(s))]
			last[w.bus.Shard(id)] = w.push(id, part...)
			events += len(part)
			for i := range part {
				bytes += len(agjson.AppendEvent(nil, &part[i]))
			}
		}
	}
	for _, stored := range last {
		w.await(stored)
	}
	return events, bytes
}

// BenchmarkLog measures how fast a log is read, folded, and folded and written, the whole of it each time.
func BenchmarkLog(b *testing.B) {
	for _, per := range []int{1, 10} {
		w := newWorld(b, redistest.New(b))
		events, size := fill(w, 4, per)
		report := func(b *testing.B) {
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			b.SetBytes(int64(size))
		}
		b.Run(fmt.Sprintf("read/%d", per), func(b *testing.B) {
			for range b.N {
				readAll(b, w, nil)
			}
			report(b)
		})
		b.Run(fmt.Sprintf("fold/%d", per), func(b *testing.B) {
			for range b.N {
				readAll(b, w, map[string]*threads.Fold{})
			}
			report(b)
		})
		b.Run(fmt.Sprintf("write/%d", per), func(b *testing.B) {
			writes := 0.0
			for range b.N {
				b.StopTimer()
				w.redis.Flush()
				b.StartTimer()
				writes += reduceAll(b, w)
			}
			report(b)
			b.ReportMetric(writes/float64(b.N), "writes/op")
		})
	}
}

// readAll reads both shards to the end, and folds what it reads where folds are wanted.
func readAll(b *testing.B, w *world, folds map[string]*threads.Fold) {
	for shard := range shards {
		r := w.bus.ReadEvents(shard, 0)
		for end := w.newest(shard); r.Position() < end; {
			m, err := r.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if folds == nil {
				continue
			}
			f := folds[m.Thread]
			if f == nil {
				f = threads.NewFold(m.Thread)
				folds[m.Thread] = f
			}
			if _, err := f.Take(&m); err != nil {
				b.Fatal(err)
			}
		}
		r.Close()
	}
}

// reduceAll runs a worker until all is written, and returns how many writes that took.
func reduceAll(b *testing.B, w *world) float64 {
	reg := prometheus.NewRegistry()
	cfg := Defaults()
	cfg.Worker, cfg.Progress = "bench", 10*time.Millisecond
	s, err := New(cfg, Deps{Bus: w.bus, Store: w.store, Log: zap.NewNop(), Metrics: reg})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var g errgroup.Group
	g.Go(func() error { return s.Run(ctx) })
	for shard := range shards {
		natstest.Eventually(b, "progress reaches the end", func() bool {
			mark, err := w.store.Progress(b.Context(), shard)
			return err == nil && mark.Sequence >= w.newest(shard)
		})
	}
	cancel()
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	x := &worker{t: b, metrics: reg}
	return x.metric("writes_total", snapshot.Applied.String())
}
