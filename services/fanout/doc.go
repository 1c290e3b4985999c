// Package fanout carries threads to clients over WebSocket and Server-Sent Events, as docs/protocol.md says.
//
//	GET /v1/ws                                  many threads on one connection, sub-protocol agwire.v1
//	GET /v1/threads/{thread}/events?from=…      one thread, text/event-stream
//
// # What it promises
//
// Each ordinal of a thread reaches each of its clients once, ascending, whatever is lost between the broker and here. Where that
// cannot be, the client is told by a reset, with the reason, and starts anew from the pair (DESIGN §§4–5). A client's bytes
// that wait are bounded; one that reads slowly is resynced, one that does not read is closed, and neither costs others anything.
//
// # How
//
// A thread that has clients has a room: one live subscription, attached before anything is read, the newest messages, and the
// place up to which they are whole. What does not follow in ordinals is read from the log before anything later is taken; after
// a reconnect, and at every heartbeat, the log is asked for its head, since a lost last message has no successor to show it.
//
// A client has no queue of bytes, but a place in each of its threads. What lies between it and the room's newest message waits
// for it, and is counted; the bytes are the room's, encoded once for all who stand at the same place. A client that is behind
// what the room keeps reads the log in parts, one that must start anew is given the pair; both are fetched aside, a few at a
// time, so that one thread's replay does not keep back another's newest events. Subscriptions take turns, one message each.
//
// An idle client costs one goroutine; there are others only while there is something to write or to fetch.
//
// # What it refuses
//
// It decodes no event, writes nothing to the log or to Redis, and keeps nothing that a restart would lose.
package fanout
