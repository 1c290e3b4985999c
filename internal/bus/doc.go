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
//   - Bus.WriteShard, Bus.Claim, FencedWriter: the events stream, for its one
//     writer.
//   - Bus.Head, Bus.First, Bus.Seek, Bus.ReadThread, Bus.Threads: one
//     thread's events.
//   - Bus.SubscribeLive: one thread's events as they are stored.
//   - Bus.NewOwner: which worker works on which shard.
//   - DispositionOf: what becomes of a message after an error.
//
// The examples show how the parts are used together: writing frames, owning
// a shard, following a thread.
//
// Everything exported is safe for concurrent use unless its doc says that it
// is for one goroutine.
package bus
