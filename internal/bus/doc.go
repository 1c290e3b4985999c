// Package bus is the only package that speaks JetStream. It moves bytes and
// headers: it knows frames, inputs, event messages, checkpoints and claims,
// and nothing of what is in them.
//
// # What it promises
//
// Every acknowledged frame is in the log, in the order of its invoke; every
// event message is stored exactly once, in order, by the one owner of its
// shard; a zombie writer cannot write; a reader loses, doubles and reorders
// nothing over any restart of the broker (DESIGN §3). It waits while the
// broker is away, for as long as the context that it was given lets it, and
// fails at once where waiting mends nothing.
//
// # What it refuses
//
// It decodes no frame and no event, keeps no state of a thread, and decides
// nothing about content. No NATS type leaves it.
//
// # Parts
//
//   - Connect and Bus.Setup: the connection, the streams of each shard.
//   - Bus.OpenInvoke, FrameAppender, Bus.InvokeState, Bus.EndInvoke,
//     Bus.AppendInput: the frames stream, for those who write it.
//   - Bus.ReadFrames, Bus.ReadEvents: a shard's streams, whole and in order.
//   - Bus.Claim, FencedWriter: the events stream, for its one writer.
//   - Bus.Head, Bus.First, Bus.Seek, Bus.ReadThread, Bus.Threads: one
//     thread's events.
//   - Bus.SubscribeLive: one thread's events as they are stored.
//   - Bus.NewOwner: which worker works on which shard.
//   - DispositionOf: what becomes of a message after an error.
//
// # Writing and reading frames
//
//	a, st, err := b.OpenInvoke(ctx, thread, invoke, bus.InvokeStart{Source: "claude"})
//	if errors.Is(err, bus.ErrEnded) { ... } // 409
//	defer a.Close()
//	for i, line := range lines { // line i is frame i; what is stored already is skipped
//		if err := a.Append(ctx, int64(i), line); err != nil { ... }
//	}
//	if err := a.End(ctx, bus.End{Reason: bus.EndDone}); err != nil { ... }
//	if err := a.Flush(ctx); err != nil { ... } // all stored, in order
//
// # Owning a shard
//
//	owner, err := b.NewOwner(bus.OwnerOptions{Group: "normalize", ID: host})
//	err = owner.Run(ctx, func(ctx context.Context, shard int) error {
//		w, err := b.Claim(ctx, shard, bus.WriterOptions{Owner: host})
//		if err != nil {
//			return err
//		}
//		g, ctx := errgroup.WithContext(ctx)
//		g.Go(func() error { return w.Run(ctx) })
//		g.Go(func() error {
//			state, covers := w.LastCheckpoint() // then what lies behind it:
//			heads := w.Headers()
//			defer heads.Close()
//			for {
//				m, err := heads.Next(ctx)
//				if errors.Is(err, bus.ErrEndOfLog) {
//					break
//				}
//				...
//			}
//			frames := b.ReadFrames(shard, position)
//			defer frames.Close()
//			for {
//				f, err := frames.Next(ctx)
//				...
//				err = w.Publish(ctx, bus.EventHeader{...}, ndjson, func(s bus.Stored) { ... })
//			}
//		})
//		return g.Wait()
//	})
//
// # Following a thread
//
//	live, err := b.SubscribeLive(thread, bus.LiveHandler{Event: buffer, Loss: askForHead})
//	...
//	for m, err := range b.ReadThread(ctx, thread, from) { ... } // then the buffer, by ordinal
//
// Everything exported is safe for concurrent use unless its doc says that it
// is for one goroutine.
package bus
