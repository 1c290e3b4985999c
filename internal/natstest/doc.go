// Package natstest gives a test a real broker inside its own process: one
// server, or a cluster of three, with JetStream on disk, that the test can
// stop, restart and move the leaders of.
//
// It is imported by tests only. It mocks nothing: what passes here passed a
// NATS server. Everything ends with the test.
//
//	srv := natstest.New(t)
//	b := srv.Bus(t, bus.Options{Shards: 4}) // set up, closed with the test
//	srv.Restart(t)                          // same address, same store
//	natstest.Eventually(t, "the service is ready", svc.Ready)
package natstest
