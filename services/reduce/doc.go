// Package reduce folds the event log of each thread into its snapshot in Redis (DESIGN §4).
//
// A worker owns shards. For each it reads the events stream in its order, from where the shard's progress says, gives every
// message to the fold of its thread, and writes what changed: soon after it changed, at once when a turn ends, one write at a
// time a thread and many threads at once. What a fold folds must follow what it has folded, in the same epoch; where it does not,
// the thread is folded again from the log.
//
// Redis is a cache and is never believed. Folds are found in it, or are folded again; a write is a compare-and-set and is done
// over in full where its base is gone; progress never passes what is not written, and when less of it is recorded than was, the
// log is read again from there; threads that nobody touches are looked after in the background. While Redis does not answer,
// reading pauses, memory stays bounded, and the service is not ready.
//
// A thread that is larger than Redis may hold is given up until its next epoch, and what is stored of it is voided, so that nobody
// takes it for the present one: readers fold the log.
//
// It writes no event, interprets none beyond the fold, and serves no stream. Ownership may be wrong for a moment: what keeps a
// former owner from doing harm is the version of each write, which orders them by the log (DESIGN §4).
package reduce
