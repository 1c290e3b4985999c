// Package subject spells every NATS name of Agwire: subjects, streams and
// buckets. Nothing else in the code base builds or takes apart such a name.
//
// Names of one deployment differ only in their prefix (default "agw"):
//
//	agw.f.<shard>.<thread>.<invoke>   native frames of one invoke
//	agw.i.<shard>.<thread>            inputs of one thread, same stream as its frames
//	agw.e.<shard>.<thread>            events of one thread
//	agw.live.<shard>.<thread>         stored events, republished to live subscribers
//	agw.c.<shard>.claim               claims of the shard, in the events stream
//	agw.c.<shard>.filler              the room a claim jumps over
//	agw.c.<shard>.checkpoint          the owner's checkpoints
//	AGW_FRAMES_<shard>                stream of agw.f.<shard>.> and agw.i.<shard>.>
//	AGW_EVENTS_<shard>                stream of agw.e.<shard>.> and agw.c.<shard>.>
//	AGW_OWNERS                        key-value bucket of the shards' workers
//
// An invoke has a subject of its own so that its last frame is one read by
// subject from the stream's leader. A stream should stay under a million
// subjects: invokes within the frames' age limit, divided by the shards.
//
// Threads and invokes are any UTF-8 of 1 to 256 bytes. Each is one subject
// token: what NATS cannot have in a token is written %XX, so the token is
// reversible and two ids never share one. The shard of a thread is the FNV-1a
// hash (32 bits) of its token modulo the number of shards, which is what the
// server's own partition() computes.
//
//	names, err := subject.New("agw", 64)
//	...
//	names.Events("team 7/run.1") // agw.e.5.team%207/run%2E1
//
// The package holds no connection and does no I/O. All of it is safe for
// concurrent use.
package subject
