// Package normalize turns native frames into AgJSON events on each thread's log.
//
// A worker owns shards. For each it reads the frames stream in its order, gives every frame to the normalizer of its invoke,
// and writes what comes out to the events stream under the fence (DESIGN §3): exactly once, in order, whatever dies. Nothing
// of a normalizer is stored; a successor replays the frames of the invokes that are open.
//
// Between a normalizer and the log stand three rules, all of them functions of the thread alone: seq becomes the thread-wide
// ordinal (SPEC §8.0, host obligation 2), ids that another invoke has taken are qualified, and an event that would park a
// strict fold is written as ext.agwire.refused instead.
//
// It never interprets a frame's content, folds no text and serves no client.
package normalize
