package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/agwire/agwire/pkg/client"
)

// BenchmarkLatency measures, on a system that does nothing else, how long it takes from the first byte of a frame on its way to
// ingest until a client of fanout has the event, over WebSocket (pkg/client) and over SSE, one frame at a time; and, by turns with
// these and on the same broker, a plain request of NATS and its reply.
//
// A frame passes ingest, is stored, is mapped by normalize, and is stored again as an event before fanout has it: three processes,
// two writes to a file store, against one hop there and back.
func BenchmarkLatency(b *testing.B) {
	s := startSystem(b)
	const thread = "latency"
	ctx, leave := context.WithCancel(b.Context())
	defer leave()
	var work group
	defer func() {
		leave()
		if err := work.join(); err != nil {
			b.Error(err)
		}
	}()
	body, frames := io.Pipe()
	work.run("upload", func(context.Context) error {
		_, err := request(context.WithoutCancel(ctx), http.MethodPost, s.url("ingest")+threadPath(thread)+"/invokes/1/frames?framework=vercel", body)
		return err
	})
	defer frames.Close()
	send := func(frame string) {
		if _, err := io.WriteString(frames, frame+"\n"); err != nil {
			b.Fatal(err)
		}
	}
	for _, frame := range []string{`{"type":"start"}`, `{"type":"start-step"}`, `{"type":"text-start","id":"0"}`} {
		send(frame)
	}
	socket, stream := s.overSocket(b, ctx, &work, thread), s.overSSE(b, ctx, &work, thread)
	nats := requester(b, s.addr("nats", "4222"))

	var plain, ws, sse []time.Duration
	n := 0
	measure := func(keep bool) {
		delta := fmt.Sprintf("delta %d.", n)
		n++
		frame := `{"type":"text-delta","id":"0","delta":"` + delta + `"}`
		began := time.Now()
		if err := nats.request([]byte(frame)); err != nil {
			b.Fatal(err)
		}
		asked := time.Since(began)
		pause(time.Millisecond)
		began = time.Now()
		send(frame)
		byEvent, bySocket := stream.await(b, delta, began), socket.await(b, delta, began)
		pause(time.Millisecond)
		if keep {
			plain, ws, sse = append(plain, asked), append(ws, bySocket), append(sse, byEvent)
		}
	}
	for range 50 {
		measure(false)
	}
	for b.Loop() {
		measure(true)
	}
	b.ReportMetric(0, "ns/op")
	for name, list := range map[string][]time.Duration{"nats-request": plain, "websocket": ws, "sse": sse} {
		slices.Sort(list)
		for _, p := range []int{50, 99} {
			at := list[min(len(list)-1, len(list)*p/100)]
			b.ReportMetric(float64(at)/float64(time.Microsecond), fmt.Sprintf("µs-p%d-%s", p, name))
		}
	}
}

// arrivals are the moments at which a client had events.
type arrivals chan arrival

type arrival struct {
	text []byte
	at   time.Time
}

// await is how long after began the event with a text came.
func (a arrivals) await(b *testing.B, text string, began time.Time) time.Duration {
	b.Helper()
	late := time.NewTimer(10 * time.Second)
	defer late.Stop()
	for {
		select {
		case got := <-a:
			if bytes.Contains(got.text, []byte(text)) {
				return got.at.Sub(began)
			}
		case <-late.C:
			b.Fatalf("no event of %q has come", text)
		}
	}
}

// overSocket follows a thread by pkg/client.
func (s *system) overSocket(b *testing.B, ctx context.Context, work *group, thread string) arrivals {
	b.Helper()
	c, err := client.Dial(ctx, client.Options{URL: s.url("fanout")})
	if err != nil {
		b.Fatal(err)
	}
	sub, err := c.Subscribe(thread, client.Start)
	if err != nil {
		b.Fatal(err)
	}
	a := make(arrivals, 1<<10)
	work.run("socket", func(context.Context) error {
		defer c.Close()
		for batch, err := range sub.Batches(ctx) {
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			at := time.Now()
			for _, ev := range batch.Events {
				a <- arrival{ev, at}
			}
		}
		return nil
	})
	return a
}

// overSSE follows a thread by Server-Sent Events.
func (s *system) overSSE(b *testing.B, ctx context.Context, work *group, thread string) arrivals {
	b.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url("fanout")+threadPath(thread)+"/events?from=start", nil)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	a := make(arrivals, 1<<10)
	work.run("sse", func(context.Context) error {
		defer resp.Body.Close()
		buf := make([]byte, 64<<10)
		var text []byte
		for {
			n, err := resp.Body.Read(buf)
			at := time.Now()
			text = append(text, buf[:n]...)
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			if end := bytes.LastIndex(text, []byte("\n\n")); end >= 0 {
				a <- arrival{bytes.Clone(text[:end]), at}
				text = text[end+2:]
			}
		}
	})
	return a
}
