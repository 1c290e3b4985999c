package bus_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/agwire/agwire/internal/bus"
)

// A request stores the frames of an invoke. It may be a retry: what is stored
// already is skipped.
func ExampleBus_OpenInvoke() {
	_ = func(ctx context.Context, b *bus.Bus, thread, invoke string, request io.Reader) (stored int64, err error) {
		a, st, err := b.OpenInvoke(ctx, thread, invoke, bus.InvokeStart{Source: "claude"})
		if errors.Is(err, bus.ErrEnded) {
			return st.Next, err // 409
		}
		if err != nil {
			return 0, err
		}
		defer a.Close()
		lines := bufio.NewScanner(request)
		for index := int64(0); lines.Scan(); index++ {
			if err := a.Append(ctx, index, bytes.Clone(lines.Bytes())); err != nil {
				return a.Stored(), err
			}
		}
		if err := errors.Join(lines.Err(), a.End(ctx, bus.End{Reason: bus.EndDone})); err != nil {
			return a.Stored(), err
		}
		return a.Stored(), a.Flush(ctx)
	}
}

// A worker takes its part of the shards, and turns frames into events in each.
func ExampleOwner() {
	_ = func(ctx context.Context, b *bus.Bus, host string) error {
		owner, err := b.NewOwner(bus.OwnerOptions{Group: "normalize", ID: host})
		if err != nil {
			return err
		}
		return owner.Run(ctx, func(ctx context.Context, shard int) error {
			return b.WriteShard(ctx, shard, bus.WriterOptions{Owner: host}, 5*time.Second, func(ctx context.Context, w *bus.FencedWriter) error {
				state, _ := w.LastCheckpoint()
				_ = state // go on from here, and from the headers behind it:
				headers := w.Headers()
				defer headers.Close()
				for {
					m, err := headers.Next(ctx)
					if errors.Is(err, bus.ErrEndOfLog) {
						break
					}
					if err != nil {
						return err
					}
					_ = m.EventHeader
				}
				var after uint64 // the position that state and headers tell
				frames := b.ReadFrames(shard, after)
				defer frames.Close()
				for {
					f, err := frames.Next(ctx)
					if err != nil {
						return err
					}
					h := bus.EventHeader{Thread: f.Thread, Count: 1, Invoke: f.Invoke, Frame: f.Index, Next: 1, FrameSeq: f.Seq, Opened: f.First}
					if err := w.Publish(ctx, h, []byte(`{"seq":0}`), func(bus.Stored) {}); err != nil {
						return err
					}
				}
			})
		})
	}
}

// A client attaches first, then reads, then goes on with what came meanwhile.
func ExampleBus_SubscribeLive() {
	_ = func(ctx context.Context, b *bus.Bus, thread string, cursor bus.Cursor, deliver func(bus.EventMessage)) error {
		came := make(chan bus.EventMessage, 1024)
		lost := make(chan bus.Loss, 16)
		live, err := b.SubscribeLive(thread, bus.LiveHandler{
			Event: func(m bus.EventMessage) { came <- m },
			Loss:  func(l bus.Loss, _ string) { lost <- l },
		})
		if err != nil {
			return err
		}
		defer live.Close()
		from, err := b.Seek(ctx, thread, bus.Cursor{Epoch: cursor.Epoch, Ordinal: cursor.Ordinal + 1})
		if err != nil {
			return err // ErrEpoch, ErrTrimmed: reset to a snapshot
		}
		for m, err := range b.ReadThread(ctx, thread, from) {
			if err != nil {
				return err
			}
			deliver(m)
			cursor = m.Cursor()
		}
		for {
			select {
			case m := <-came: // skip what was read, refill what is missing
				if m.Epoch == cursor.Epoch && m.First == cursor.Ordinal+1 {
					deliver(m)
					cursor = m.Cursor()
				}
			case <-lost: // ask for the head
				if _, err := b.Head(ctx, thread); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}
