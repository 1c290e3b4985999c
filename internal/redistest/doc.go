// Package redistest gives tests a Redis: miniredis inside the test process always, a real server when the environment names
// one. It knows nothing of what is stored, and no test is skipped for the lack of a server: each runs on what there is.
//
//   - AGWIRE_TEST_REDIS_URL is the URL of a running server. Tests share it: each has a key prefix of its own and removes what
//     is below it. A cluster is named with the scheme redis+cluster.
//   - AGWIRE_TEST_REDIS_SERVER is a redis-server binary, a path or a name on PATH. Tests start their own, and may kill it.
//
// A test of what must hold on any Redis:
//
//	func TestStore(t *testing.T) {
//		redistest.Each(t, func(t *testing.T, srv *redistest.Server) {
//			store := open(t, srv.URL, srv.Prefix)
//			…
//		})
//	}
//
// and of what must hold when Redis dies:
//
//	redistest.EachOwned(t, func(t *testing.T, srv *redistest.Server) {
//		srv.Kill()    // SIGKILL; whatever it held is gone
//		srv.Restart() // at the same address, empty
//	})
package redistest
