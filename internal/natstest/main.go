package natstest

import (
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests and fails when a goroutine outlives them. It forgives two of the server's own, which a server that
// is stopped while it makes a stream leaves behind (nats-server 2.15.3); ours are never forgiven.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server.(*fileStore).flushStreamStateLoop"),
		goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1"),
	)
}
