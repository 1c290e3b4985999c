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
// plain pipelined publish, headers, bodies and windows alike, in turns of some
// thousand messages each, so that both see the same machine.
func BenchmarkEventWrite(b *testing.B) {
	const turn = 5000
	srv := natstest.New(b)
	bu := srv.Bus(b, bus.Options{Shards: 2})
	ctx := context.Background()
	payload := make([]byte, benchBody)
	threads := [2]string{threadOf(bu, 0, 1), threadOf(bu, 1, 1)}

	w := must(bu.Claim(ctx, 0, bus.WriterOptions{Owner: "bench"}))(b)
	run(b, w)
	e := bus.Epoch{Incarnation: w.Incarnation(), Seq: 1}
	fenced := func(n int) {
		for i := range n {
			ok(b, w.Publish(ctx, bus.EventHeader{
				Thread: threads[0], Epoch: e, First: int64(i) + 1, Count: 1, Invoke: "i", Frame: int64(i), Next: int64(i),
			}, payload, nil))
		}
		ok(b, w.Flush(ctx))
	}
	nc := must(nats.Connect(srv.URL()))(b)
	defer nc.Close()
	js := must(jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(256)))(b)
	subj := bu.Names().Events(threads[1])
	plain := func(n int) {
		for i := range n {
			h := nats.Header{
				bus.HeaderEpoch: {e.String()}, bus.HeaderFirst: {fmt.Sprint(i + 1)}, bus.HeaderCount: {"1"}, bus.HeaderInvoke: {"i"},
				bus.HeaderFrame: {fmt.Sprint(i)}, bus.HeaderNext: {fmt.Sprint(i)}, bus.HeaderOpened: {"0"}, bus.HeaderFrameSeq: {"0"}, bus.HeaderTerm: {"1"},
			}
			_, err := js.PublishMsgAsync(&nats.Msg{Subject: subj, Data: payload, Header: h})
			ok(b, err)
		}
		<-js.PublishAsyncComplete()
	}
	var spent [2]time.Duration
	b.ResetTimer()
	for left := b.N; left > 0; left -= turn {
		n := min(left, turn)
		for k, write := range []func(int){fenced, plain} {
			began := time.Now()
			write(n)
			spent[k] += time.Since(began)
		}
	}
	b.ReportMetric(float64(spent[0].Nanoseconds())/float64(b.N), "fenced-ns/msg")
	b.ReportMetric(float64(spent[1].Nanoseconds())/float64(b.N), "plain-ns/msg")
	b.ReportMetric(spent[1].Seconds()/spent[0].Seconds(), "speed-of-plain")
}

// BenchmarkEventLatency writes one message at a time and waits for each, as
// an idle thread's first token does.
func BenchmarkEventLatency(b *testing.B) {
	srv := natstest.New(b)
	bu := srv.Bus(b, bus.Options{Shards: 1})
	ctx := context.Background()
	w := must(bu.Claim(ctx, 0, bus.WriterOptions{Owner: "bench"}))(b)
	run(b, w)
	e := bus.Epoch{Incarnation: w.Incarnation(), Seq: 1}
	payload := make([]byte, benchBody)
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
