// Package e2e drives the system from outside, as a stranger would: it builds agwire and nats-server, starts the services as
// deploy/compose.yaml says (the same commands, the same environment, only the addresses mapped to the loopback), sends recorded
// frames, kills processes in the middle, and demands that what every client has folded is what agwire convert and agwire fold
// make of the same frames, offline.
//
// It holds tests and nothing else; it knows no package of the project but those below pkg, and speaks HTTP, WebSocket and
// the command line.
//
//	make e2e                                 everything
//	make bench-latency                       frame to client on an idle system, beside a plain NATS request
//	AGWIRE_E2E_RACE=1 make e2e               the same with a binary that has the race detector
//	AGWIRE_TEST_REDIS_SERVER=none make e2e   with agwire redis, as where no redis-server is installed
//
// A real redis-server is used where AGWIRE_TEST_REDIS_SERVER names one or the PATH has one, else agwire redis, which is the
// embedded Redis as a process of its own; the log of each test says which. What a process printed is shown when its test fails;
// every process ends with its test. A process that ends unasked, and one that reports a data race or a panic, fails the test.
package e2e
