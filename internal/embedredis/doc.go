// Package embedredis is a Redis inside the process, for `agwire up` where no Redis
// URL is given.
//
// It only starts and stops a server, on loopback and without a password. It keeps
// everything in memory and saves nothing: what it held is rebuilt from the log after
// a restart. It refuses to be more than that: no cluster, no replica, no limit of
// memory; many threads want a real Redis.
//
// Time to live follows the clock in steps of two seconds: a key may be gone a step
// early or late. Between the steps a command costs the same however many keys there
// are.
//
//	srv, err := embedredis.Start(0)
//	if err != nil { … }
//	defer srv.Close()
//	store, err := snapshot.New(snapshot.Options{URL: srv.URL()})
package embedredis
