// Package snapshot keeps the current fold of every thread in Redis, and is the only package that speaks to Redis.
//
// Redis is a cache of the log: losing all of it, or any part, costs a rebuild and nothing else. The package therefore
// never repairs, guesses or merges. It stores what the reducer gives it, field by field, and tells the truth about what is
// there: newest position, incomplete, deleted, or nothing. It knows no event, decodes no value, retries nothing, logs
// nothing and counts nothing; those are the caller's.
//
// # Keys
//
// Under the configured prefix (default "agw:"):
//
//	agw:t:{<thread>}    hash    one thread: m:<id>, t:<id>, a:<id> (a message, turn, artifact each), memory, state, live,
//	                            open, position; or, once deleted, the one field tombstone, with a time to live;
//	                            or, where it is too large to be kept, the one field void
//	agw:index           zset    thread by last activity, in microseconds
//	agw:progress:{<n>}  string  how far the reducer of shard n has come
//
// A value is a header (version, CRC-32C of name, order and data, order) and the caller's bytes. The position also holds the
// number of fields and their total size, so that a hash which lost a part of itself is recognised: by a reader, who gets
// [ErrIncomplete], and by a writer's update, which is then refused as [Rebase] instead of sealing the loss in.
//
// # Writes
//
// An update is one Lua script on one key, so it is atomic on a single server and in a Redis Cluster alike. It is a
// compare-and-set: a difference names the version it was made against ([Update.Base]) and is applied to nothing else; an
// older version is refused, an equal one changes nothing. Versions are ordered by the events stream's incarnation, then
// by the stream sequence of the thread's ordinal 0 (the epoch), then by the stream sequence folded last, so a rebuilt
// thread's new epoch wins over whatever a slow writer still has of the old one.
//
// The index is another key and, in a cluster, on another server. It is written in the same round trip, outside the
// script: raising an activity is idempotent and never lowers one, [Store.Apply] succeeds only when both writes did, and a
// repeated Apply, even a refused one, repeats it. So a writer that dies between the two leaves at worst an entry that is
// listed though not stored, or one that its successor's first Apply adds. [Store.List] checks each entry against its thread,
// hides deleted ones and says which are not stored.
package snapshot
