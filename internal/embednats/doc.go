// Package embednats runs a NATS server with JetStream on disk inside the
// process: for `agwire up`, which needs no other broker, and for tests.
//
// It only starts and stops a server; it creates no stream and opens no client
// connection. Servers listen on loopback unless told otherwise, install no
// signal handler and write no log of their own but to the given logger.
//
//	srv, err := embednats.Start(ctx, embednats.Options{Dir: "./.agwire/nats", Log: log})
//	if err != nil { ... }
//	defer srv.Stop()
//	b, err := bus.Connect(ctx, bus.Options{URL: srv.URL(), InProcess: srv})
package embednats
