// Package client follows AgJSON threads over a WebSocket of the protocol agwire.v1 (docs/protocol.md): many threads on one
// connection, each from where it is wanted, resumed by its cursor whenever the connection or the server was away.
//
//	c, err := client.Dial(ctx, client.Options{URL: "http://127.0.0.1:8080"})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	sub, err := c.Subscribe("my-thread", client.Now)
//	if err != nil {
//		return err
//	}
//	err = sub.Follow(ctx, func(f *client.Fold, b client.Batch) error {
//		show(f.Result())
//		return nil
//	})
//
// # What it sees to
//
// A subscription yields every ordinal once, ascending, or a batch with Reset set, which begins anew. Ordinals that are missing,
// a head that a heartbeat told and that does not come, a pair that does not follow its reset, a server that has gone silent:
// in each case it asks again from its cursor. A reader who is slower than the thread does not hold back the connection's other
// threads: beyond Options.Buffer the thread is let go of, and taken up again at its cursor when the reader has come so far.
//
// # What it refuses
//
// It has no logger, keeps nothing on disk, repairs no event, and does not come back where the server says not to
// (close codes 4400 to 4499).
package client
