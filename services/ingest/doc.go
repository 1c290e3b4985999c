// Package ingest takes native frames over HTTP and stores them, verbatim, in the log.
//
// It answers what is stored and nothing else: every frame that it has acknowledged is in the log, in the order of its invoke
// (DESIGN §3). An upload that was cut goes on where GET says it was; what is sent twice is stored once.
//
//	POST /v1/threads/{thread}/invokes/{invoke}/frames?framework=claude&turn=T1
//	GET  /v1/threads/{thread}/invokes/{invoke}/frames
//
// It looks into a frame only to see that it is JSON. It maps nothing and keeps no state: any number of processes serve the
// same invokes.
package ingest
