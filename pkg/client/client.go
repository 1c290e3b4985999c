package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// settled is how long a connection must have lasted for the next attempt to be the first again.
const settled = 10 * time.Second

// goodbye is how long Close waits for the server's answer.
const goodbye = time.Second

// Client is a connection that comes back, and the subscriptions on it. It is safe for concurrent use.
type Client struct {
	o      Options
	cancel context.CancelFunc
	wg     sync.WaitGroup
	done   chan struct{} // closed when the client has ended

	mu   sync.Mutex
	subs map[string]*Subscription
	conn *conn // the connection that is welcomed; nil = none
	err  error // why the client has ended
}

// Dial connects, and comes back from then on whenever the connection ends, until Close or until the server says not to. The
// first attempt is made here, within ctx: its error is a StatusError, a CloseError, or one of the network. Close the client.
func Dial(ctx context.Context, o Options) (*Client, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	c := &Client{o: o, done: make(chan struct{}), subs: map[string]*Subscription{}}
	first, _, err := dial(ctx, c)
	if err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	c.wg.Go(func() { c.run(run, first) })
	return c, nil
}

// Close ends the client and its subscriptions, and waits for what it started.
func (c *Client) Close() error {
	c.end(ErrClosed)
	c.mu.Lock()
	k := c.conn
	c.mu.Unlock()
	if k != nil {
		late := time.AfterFunc(goodbye, c.cancel) // which ends the connection
		_ = k.ws.Close(closeNormal, "")
		late.Stop()
	}
	c.cancel()
	c.wg.Wait()
	return nil
}

// Done is closed when the client has ended: by Close, or since the server says not to come back. Err says why.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err is why the client has ended; nil while it has not.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Subscribe follows a thread, which need not exist yet, from a place: Now, Start, Live or a cursor; "" is Now. A
// subscription of the same client to the same thread is replaced, and ends with ErrClosed.
func (c *Client) Subscribe(thread, from string) (*Subscription, error) {
	if from == "" {
		from = Now
	}
	s := newSubscription(c, thread, from)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	if old := c.subs[thread]; old != nil {
		old.finish(ErrClosed)
	}
	c.subs[thread] = s
	s.ask()
	return s, nil
}

// end ends the client, for the first reason given.
func (c *Client) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	for _, s := range c.subs {
		s.finish(err)
	}
	close(c.done)
}

// run serves one connection after another.
func (c *Client) run(ctx context.Context, k *conn) {
	failures := 0
	for {
		var wait time.Duration
		var err error
		if k == nil {
			k, wait, err = dial(ctx, c)
		}
		if err == nil {
			began := time.Now()
			err = c.serve(ctx, k)
			k = nil
			if time.Since(began) >= settled {
				failures = 0
			}
		}
		if ctx.Err() != nil || c.Err() != nil {
			c.end(ErrClosed)
			return
		}
		failures++
		wait = max(wait, c.o.backoff(failures))
		state := State{Attempt: failures, Wait: wait, Err: err}
		var ce *CloseError
		if errors.As(err, &ce) {
			state.Code = ce.Code
		}
		if final(err) {
			c.end(err)
			state.Wait = 0
			c.tell(state)
			return
		}
		c.tell(state)
		if pause(ctx, wait) != nil {
			c.end(ErrClosed)
			return
		}
	}
}

// final tells whether there is no use in coming back.
func final(err error) bool {
	var ce *CloseError
	var se *StatusError
	return errors.As(err, &ce) && ce.Final() || errors.As(err, &se) && (se.Status == 401 || se.Status == 403)
}

func (c *Client) tell(s State) {
	if c.o.OnState != nil {
		c.o.OnState(s)
	}
}

// serve serves one connection until it ends.
func (c *Client) serve(ctx context.Context, k *conn) error {
	c.mu.Lock()
	c.conn = k
	for _, s := range c.subs {
		s.ask()
	}
	c.mu.Unlock()
	c.tell(State{Live: true})
	err := k.serve(ctx)
	c.mu.Lock()
	c.conn = nil
	for _, s := range c.subs {
		s.stopWatch()
	}
	c.mu.Unlock()
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
