package fanout_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/natstest"
	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/services/fanout"
)

// sinkConn is a WebSocket that is taken from without being looked into, so that a benchmark measures the server.
type sinkConn struct {
	net.Conn
	in *bufio.Reader
}

func (r *rig) sinkConn(t testing.TB) *sinkConn {
	t.Helper()
	conn := must(net.Dial("tcp", strings.TrimPrefix(r.http.URL, "http://")))(t)
	must(fmt.Fprintf(conn, "GET /v1/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: agwire.v1\r\n\r\n"))(t)
	in := bufio.NewReaderSize(conn, 512)
	resp := must(http.ReadResponse(in, nil))(t)
	if resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("answered %d", resp.StatusCode)
	}
	return &sinkConn{conn, in}
}

// send sends a text message of less than 126 bytes.
func (c *sinkConn) send(t testing.TB, text string) {
	t.Helper()
	must(c.Write(append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...)))(t)
}

// drain takes what comes until the connection ends.
func (c *sinkConn) drain(wg *sync.WaitGroup) {
	wg.Go(func() { _, _ = io.Copy(io.Discard, c.in) })
}

// sinks are n connections that each follow a thread; it is told when all stand.
func (r *rig) sinks(t testing.TB, n int, thread func(i int) string) (stop func()) {
	t.Helper()
	var wg sync.WaitGroup
	var list []*sinkConn
	for i := range n {
		c := r.sinkConn(t)
		c.send(t, `{"op":"subscribe","thread":"`+thread(i)+`","from":"live"}`)
		c.drain(&wg)
		list = append(list, c)
	}
	want := float64(2 * n) // hello and answer, perhaps in one
	natstest.Eventually(t, "all follow", func() bool {
		return r.metric("subscriptions") == float64(n) && r.metric("messages_total") >= want/2 && r.metric("rooms") > 0 && r.settled(n)
	})
	return func() {
		for _, c := range list {
			_ = c.Close()
		}
		wg.Wait()
	}
}

// settled says whether n answers were sent: 0 bytes wait, and each connection was sent its two messages.
func (r *rig) settled(n int) bool { return r.metric("bytes_total") >= float64(n*(60+60)) }

func quantile(list []time.Duration, q float64) float64 {
	slices.Sort(list)
	return float64(list[int(q*float64(len(list)-1))].Nanoseconds()) / 1e3
}

// BenchmarkLatency measures, on an idle system, from an event on its way into the log to a client that has it; beside it, in
// turns, a round trip to the broker, and the storing of the same event.
func BenchmarkLatency(b *testing.B) {
	r := newRig(b, options{})
	l := r.thread("t")
	l.append(b, first())
	k := r.raw(b, nil)
	k.subscribe(b, "t", "live")
	k.want(b, "subscribed")
	ev := note(strings.Repeat("x", 350))
	var ping, store, through []time.Duration
	for b.Loop() {
		began := time.Now()
		ok(b, r.bus.Ping(context.Background()))
		ping = append(ping, time.Since(began))
		began = time.Now()
		stored := make(chan time.Duration, 1)
		body := l.lines([]agjson.Event{ev})
		l.send(b, body, 1, func(bus.Stored) { stored <- time.Since(began) })
		for m := k.any(b); m.Op != "events"; m = k.any(b) {
		}
		through = append(through, time.Since(began))
		store = append(store, <-stored)
	}
	for name, list := range map[string][]time.Duration{"ping": ping, "stored": store, "client": through} {
		b.ReportMetric(quantile(list, 0.5), name+"-p50-µs")
		b.ReportMetric(quantile(list, 0.99), name+"-p99-µs")
	}
}

// BenchmarkHotThread measures how many events a second are delivered of one thread, in messages of few events as they come
// from a model, to clients that take all.
func BenchmarkHotThread(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("clients=%d", n), func(b *testing.B) {
			r := newRig(b, options{change: func(c *fanout.Config) { c.Queue = 64 << 20; c.Keep = 64 << 20 }})
			l := r.thread("t")
			l.append(b, first())
			stop := r.sinks(b, n, func(int) string { return "t" })
			defer stop()
			const per = 4
			events := notes(per, strings.Repeat("x", 350))
			before, encoded, sent, resets := r.metric("events_total"), r.metric("encoded_bytes_total"), r.metric("bytes_total"), r.metric("resets_total")
			b.ResetTimer()
			began := time.Now()
			for range b.N {
				l.send(b, l.lines(events), per, nil)
			}
			want := before + float64(b.N*per*n)
			natstest.Eventually(b, "all is delivered", func() bool { return r.metric("events_total") >= want || r.metric("resets_total") > resets })
			took := time.Since(began).Seconds()
			b.StopTimer()
			b.ReportMetric((r.metric("events_total")-before)/took, "events/s")
			b.ReportMetric((r.metric("bytes_total")-sent)/took/1e6, "MB/s")
			b.ReportMetric((r.metric("bytes_total")-sent)/max(1, r.metric("encoded_bytes_total")-encoded), "sharing")
			b.ReportMetric(r.metric("resets_total")-resets, "resets")
		})
	}
}

// BenchmarkThreadEach is the same with a thread for each client.
func BenchmarkThreadEach(b *testing.B) {
	const n = 100
	r := newRig(b, options{})
	logs := make([]*thread, n)
	for i := range logs {
		logs[i] = r.thread(fmt.Sprintf("t%d", i))
		logs[i].append(b, first())
	}
	stop := r.sinks(b, n, func(i int) string { return logs[i].id })
	defer stop()
	events := notes(4, strings.Repeat("x", 350))
	before := r.metric("events_total")
	b.ResetTimer()
	began := time.Now()
	for i := range b.N {
		l := logs[i%n]
		l.send(b, l.lines(events), 4, nil)
	}
	want := before + float64(b.N*4)
	natstest.Eventually(b, "all is delivered", func() bool { return r.metric("events_total") >= want })
	b.ReportMetric((r.metric("events_total")-before)/time.Since(began).Seconds(), "events/s")
}

// BenchmarkIdleConnection measures the memory of connections that follow a thread each and are silent: the server's, and the
// little that the benchmark's own ends take.
func BenchmarkIdleConnection(b *testing.B) {
	const n = 1000
	for b.Loop() {
		r := newRig(b, options{})
		use := func() float64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return float64(m.HeapAlloc + m.StackInuse)
		}
		for _, each := range []bool{false, true} {
			before, routines := use(), runtime.NumGoroutine()
			var list []*sinkConn
			for i := range n {
				c := r.sinkConn(b)
				id := "t"
				if each {
					id = fmt.Sprintf("t%d", i)
				}
				c.send(b, `{"op":"subscribe","thread":"`+id+`","from":"live"}`)
				list = append(list, c)
			}
			natstest.Eventually(b, "all follow", func() bool { return r.metric("subscriptions") == n && r.settled(n) })
			name := "one-thread"
			if each {
				name = "thread-each"
			}
			b.ReportMetric((use()-before)/n, name+"-B/conn")
			b.ReportMetric(float64(runtime.NumGoroutine()-routines)/n, name+"-goroutines/conn")
			for _, c := range list {
				_ = c.Close()
			}
			natstest.Eventually(b, "all are gone", func() bool { return r.metric("connections") == 0 })
		}
		r.stop()
	}
}

// BenchmarkJoin measures joins of a thread of many events from what is stored of it, to a client that has the pair: with others
// who follow it, and as the first.
func BenchmarkJoin(b *testing.B) {
	s := longest(b)
	for _, alone := range []bool{false, true} {
		b.Run(fmt.Sprintf("alone=%v", alone), func(b *testing.B) {
			r := newRig(b, options{})
			l := r.thread("t")
			for i := 0; i < len(s.events); i += 4 {
				l.append(b, s.events[i:min(i+4, len(s.events))]...)
			}
			l.reduce(b)
			k := r.raw(b, nil)
			if !alone {
				o := r.raw(b, nil)
				o.subscribe(b, "t", "live")
				o.want(b, "subscribed")
			}
			size := 0
			for b.Loop() {
				k.subscribe(b, "t", "now")
				k.want(b, "subscribed")
				m := k.pair(b, "join")
				size = 0
				for _, e := range m.Events {
					size += len(e)
				}
				k.send(b, `{"op":"unsubscribe","thread":"t"}`)
				k.want(b, "unsubscribed")
			}
			b.ReportMetric(float64(size), "B/pair")
			b.ReportMetric(float64(len(s.events)), "events")
		})
	}
}
