package bus_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
)

const benchBody = 430 // bytes of an event, average

// BenchmarkEventWrite compares the fenced pipelined write with the library's
// plain pipelined publish to the same stream, headers and bodies alike.
func BenchmarkEventWrite(b *testing.B) {
	srv := natstest.New(b)
	bu := srv.Bus(b, bus.Options{Shards: 1})
	ctx := context.Background()
	payload := make([]byte, benchBody)

	b.Run("fenced", func(b *testing.B) {
		w := must(bu.Claim(ctx, 0, bus.WriterOptions{Owner: "bench"}))(b)
		run(b, w)
		e := bus.Epoch{Incarnation: w.Incarnation(), Seq: 1}
		b.SetBytes(benchBody)
		b.ResetTimer()
		for i := range b.N {
			ok(b, w.Publish(ctx, bus.EventHeader{Thread: "t", Epoch: e, First: int64(i) + 1, Count: 1, Invoke: "i", Frame: int64(i), Next: int64(i)}, payload, nil))
		}
		ok(b, w.Flush(ctx))
	})
	b.Run("plain", func(b *testing.B) {
		nc := must(nats.Connect(srv.URL()))(b)
		defer nc.Close()
		js := must(jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(256)))(b)
		b.SetBytes(benchBody)
		b.ResetTimer()
		for i := range b.N {
			_, err := js.PublishMsgAsync(&nats.Msg{Subject: "agw.e.0.t", Data: payload, Header: nats.Header{
				bus.HeaderEpoch: {"abc.1"}, bus.HeaderFirst: {fmt.Sprint(i + 1)}, bus.HeaderCount: {"1"}, bus.HeaderInvoke: {"i"},
				bus.HeaderFrame: {fmt.Sprint(i)}, bus.HeaderNext: {fmt.Sprint(i)}, bus.HeaderOpened: {"0"}, bus.HeaderFrameSeq: {"0"}, bus.HeaderTerm: {"1"},
			}})
			ok(b, err)
		}
		<-js.PublishAsyncComplete()
	})
	b.Run("fenced-one-by-one", func(b *testing.B) {
		w := must(bu.Claim(ctx, 0, bus.WriterOptions{Owner: "bench"}))(b)
		run(b, w)
		e := bus.Epoch{Incarnation: w.Incarnation(), Seq: 1}
		ch := make(chan bus.Stored, 1)
		lat := make([]time.Duration, 0, b.N)
		b.ResetTimer()
		for i := range b.N {
			began := time.Now()
			ok(b, w.Publish(ctx, bus.EventHeader{Thread: "t", Epoch: e, First: int64(i) + 1, Count: 1, Frame: -1}, payload, func(s bus.Stored) { ch <- s }))
			<-ch
			lat = append(lat, time.Since(began))
		}
		slices.Sort(lat)
		b.ReportMetric(float64(lat[len(lat)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(lat[len(lat)*99/100].Microseconds()), "p99-µs")
	})
}

func BenchmarkFrameAppend(b *testing.B) {
	srv := natstest.New(b)
	bu := srv.Bus(b, bus.Options{Shards: 1})
	ctx := context.Background()
	a, _, err := bu.OpenInvoke(ctx, "t", "i", bus.InvokeStart{})
	ok(b, err)
	defer a.Close()
	payload := make([]byte, benchBody)
	b.SetBytes(benchBody)
	b.ResetTimer()
	for i := range b.N {
		ok(b, a.Append(ctx, int64(i), payload))
	}
	ok(b, a.Flush(ctx))
}

func BenchmarkFrameRead(b *testing.B) {
	srv := natstest.New(b)
	bu := srv.Bus(b, bus.Options{Shards: 1})
	ctx := context.Background()
	a, _, err := bu.OpenInvoke(ctx, "t", "i", bus.InvokeStart{})
	ok(b, err)
	defer a.Close()
	for i := range b.N {
		ok(b, a.Append(ctx, int64(i), make([]byte, benchBody)))
	}
	ok(b, a.Flush(ctx))
	r := bu.ReadFrames(0, 0)
	defer r.Close()
	b.SetBytes(benchBody)
	b.ResetTimer()
	for range b.N {
		must(r.Next(ctx))(b)
	}
}

func BenchmarkTakeover(b *testing.B) {
	srv := natstest.New(b)
	bu := srv.Bus(b, bus.Options{Shards: 1})
	for range b.N {
		must(bu.Claim(context.Background(), 0, bus.WriterOptions{Owner: "bench"}))(b).Close()
	}
}
