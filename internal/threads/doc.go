// Package threads knows how the fold of a thread is laid out in Redis, and reads it: for the reducer that goes on from it, for
// fanout, whose clients join with it, and for those who ask for a thread over HTTP.
//
// A [Fold] is a reducer and its place in the log. [Fold.Take] gives it the next message of the log, [Fold.Update] says what of it
// is to be written, [Restore] and [FromLog] make one from what is stored and from the log.
//
// # Layout
//
// The fields of a snapshot.Snapshot hold, as JSON: a message, turn record or artifact each, ordered by its rank in the fold; the
// state document; in memory one line with the list of the records of scope thread, and for each other record a line with its
// memory.write; in live and open a line for each event. Lines of events have the seq 0. Messages and turns are as of the last
// boundary, the rest as of the position (DESIGN §4). What is empty is not stored.
//
// So the pair that a late reader starts from ([Threads.Join]) is put together from the stored bytes: nothing is decoded but the
// seqs, which depend on the position.
//
// # Reading
//
//	GET /v1/threads?limit=50&after=…&prefix=…   threads, newest activity first
//	GET /v1/threads/{thread}?min=…              the AgReduceResult with its cursor, which is its ETag too
//
// Where Redis has nothing, or not all, or does not answer, the thread is folded from the log: a few at once, the same thread once
// for all who ask. It writes nothing to either.
package threads
