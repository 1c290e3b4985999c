// Package push is the client of ingest's HTTP interface, for `agwire push`, `agwire exec` and whoever feeds frames in Go.
//
// An Upload sends the frames of one invoke in order, in as few requests as the pace allows: while one request is under way,
// frames gather for the next, so that a slow producer's frame leaves at once and a fast one's share a request. What failed is
// sent again from where the server says it is; nothing is sent twice into the log.
//
//	u, err := push.New(push.Options{URL: "http://127.0.0.1:8080", Thread: "t", Invoke: "i", Framework: "claude"})
//	…
//	err = u.Send(ctx, frame)
//	st, err := u.End(ctx, 0)
package push
