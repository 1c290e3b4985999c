package push

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Options of an Upload.
type Options struct {
	URL       string        // of ingest; scheme http or https
	Token     string        // bearer token; "" = none
	Thread    string        // 1 to 256 bytes
	Invoke    string        // 1 to 256 bytes, unique in the thread
	Framework string        // of the frames
	Turn      string        // id that the turn is to have; "" = derived
	MaxBatch  int           // bytes in one request, about; 0 = 256 KiB
	MaxQueue  int           // bytes that may wait before Send blocks; 0 = 4 MiB
	GiveUp    time.Duration // how long one request is tried again; 0 = 2 minutes
	Beat      time.Duration // silence after which the server is told that the upload lives; 0 = 15 s
	Client    *http.Client  // nil = one of its own
}

// State is what the server says of the invoke.
type State struct {
	Stored int64  `json:"stored"` // frames that are in the log
	Ended  bool   `json:"ended"`
	Reason string `json:"reason,omitempty"`
}

// RefusedError is an answer that trying again would not change.
type RefusedError struct {
	Status  int
	Code    string
	Message string
	State   State
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("ingest refused (%d %s): %s", e.Status, e.Code, e.Message)
}

// Upload sends the frames of one invoke. Send and End are for one goroutine.
type Upload struct {
	o      Options
	client *http.Client
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	queue   [][]byte
	bytes   int
	first   int64 // index of queue[0]
	closing bool
	exit    int
	changed chan struct{}
	state   State
	err     error // why the sender stopped
}

// New starts an upload; close it with End or Abandon. resume says from which frame to go on: the first frame given to Send
// has that index, 0 for a new invoke.
func New(ctx context.Context, o Options, resume int64) (*Upload, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" {
		return nil, errors.New("push: the URL has no host")
	}
	for name, v := range map[string]string{"thread": o.Thread, "invoke": o.Invoke, "framework": o.Framework} {
		if v == "" {
			return nil, fmt.Errorf("push: %s: empty", name)
		}
	}
	if o.MaxBatch == 0 {
		o.MaxBatch = 256 << 10
	}
	if o.MaxQueue == 0 {
		o.MaxQueue = 4 << 20
	}
	if o.GiveUp == 0 {
		o.GiveUp = 2 * time.Minute
	}
	if o.Beat == 0 {
		o.Beat = 15 * time.Second
	}
	u := &Upload{o: o, client: o.Client, changed: make(chan struct{}), first: resume}
	if u.client == nil {
		u.client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute}}
	}
	ctx, u.cancel = context.WithCancel(ctx)
	u.wg.Go(func() { u.run(ctx) })
	return u, nil
}

// path is the resource of an invoke's frames.
func (o *Options) path() string {
	return strings.TrimSuffix(o.URL, "/") + "/v1/threads/" + url.PathEscape(o.Thread) + "/invokes/" + url.PathEscape(o.Invoke) + "/frames"
}

// Get asks the server how far an invoke is.
func Get(ctx context.Context, o Options) (State, error) {
	client := o.Client
	if client == nil {
		client = http.DefaultClient
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.path(), nil)
	if err != nil {
		return State{}, fmt.Errorf("push: %w", err)
	}
	return do(client, req, o.Token)
}

// Send queues a frame, which must not change afterwards; it waits while too much is queued. The error is ctx's, or why the
// upload has failed.
func (u *Upload) Send(ctx context.Context, frame []byte) error {
	for {
		u.mu.Lock()
		if u.err != nil {
			defer u.mu.Unlock()
			return u.err
		}
		if u.bytes == 0 || u.bytes+len(frame) <= u.o.MaxQueue {
			u.queue = append(u.queue, frame)
			u.bytes += len(frame)
			u.wake()
			u.mu.Unlock()
			return nil
		}
		changed := u.changed
		u.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// End ends the invoke with an exit status, waits until all is stored, and closes the upload.
func (u *Upload) End(ctx context.Context, exit int) (State, error) {
	u.mu.Lock()
	u.closing, u.exit = true, exit
	u.wake()
	u.mu.Unlock()
	stop := context.AfterFunc(ctx, u.cancel)
	defer stop()
	u.wg.Wait()
	u.cancel()
	if u.err != nil && ctx.Err() != nil {
		return u.state, ctx.Err()
	}
	return u.state, u.err
}

// Abandon closes the upload without ending the invoke; what was queued may be lost.
func (u *Upload) Abandon() {
	u.cancel()
	u.wg.Wait()
}

// wake tells everyone who waits; mu is held.
func (u *Upload) wake() {
	close(u.changed)
	u.changed = make(chan struct{})
}

func (u *Upload) run(ctx context.Context) {
	beat := time.NewTimer(u.o.Beat)
	defer beat.Stop()
	for {
		u.mu.Lock()
		n, size := 0, 0
		for n < len(u.queue) && (n == 0 || size+len(u.queue[n]) <= u.o.MaxBatch) {
			size += len(u.queue[n])
			n++
		}
		batch, first, end := u.queue[:n], u.first, u.closing && n == len(u.queue)
		changed := u.changed
		u.mu.Unlock()
		if n == 0 && !end {
			select {
			case <-changed:
				continue
			case <-beat.C: // an empty request, so that a long silence is not taken for death
			case <-ctx.Done():
				u.fail(ctx.Err())
				return
			}
		}
		st, err := u.post(ctx, batch, first, end)
		if err != nil {
			u.fail(err)
			return
		}
		beat.Reset(u.o.Beat)
		u.mu.Lock()
		u.queue, u.first, u.bytes, u.state = u.queue[n:], first+int64(n), u.bytes-size, st
		u.wake()
		u.mu.Unlock()
		if end {
			return
		}
	}
}

func (u *Upload) fail(err error) {
	u.mu.Lock()
	u.err = err
	u.wake()
	u.mu.Unlock()
}

// post sends one batch until it is stored, or refused for good, or GiveUp has passed.
func (u *Upload) post(ctx context.Context, batch [][]byte, first int64, end bool) (State, error) {
	q := url.Values{"framework": {u.o.Framework}, "from": {strconv.FormatInt(first, 10)}, "end": {strconv.FormatBool(end)}}
	if u.o.Turn != "" {
		q.Set("turn", u.o.Turn)
	}
	if end {
		q.Set("exit", strconv.Itoa(u.exit))
	}
	body := append(bytes.Join(batch, []byte("\n")), '\n')
	wait := backoff.NewExponentialBackOff(backoff.WithInitialInterval(100*time.Millisecond), backoff.WithMaxInterval(5*time.Second),
		backoff.WithMaxElapsedTime(u.o.GiveUp))
	return backoff.RetryWithData(func() (State, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.o.path()+"?"+q.Encode(), bytes.NewReader(body))
		if err != nil {
			return State{}, backoff.Permanent(fmt.Errorf("push: %w", err))
		}
		req.Header.Set("Content-Type", "application/x-ndjson")
		st, err := do(u.client, req, u.o.Token)
		var refused *RefusedError
		switch {
		case err == nil:
			return st, nil
		case errors.As(err, &refused) && refused.Status != http.StatusTooManyRequests && refused.Status < 500:
			return st, backoff.Permanent(err)
		}
		return st, err
	}, backoff.WithContext(wait, ctx))
}

// do makes a request and reads the answer.
func do(client *http.Client, req *http.Request, token string) (State, error) {
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return State{}, fmt.Errorf("push: %w", withoutURL(err))
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return State{}, fmt.Errorf("push: read the answer: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		var st State
		if err := json.Unmarshal(data, &st); err != nil {
			return State{}, fmt.Errorf("push: the answer is not ingest's: %w", err)
		}
		return st, nil
	}
	var no struct {
		Error struct{ Code, Message string }
		State State
	}
	if json.Unmarshal(data, &no) != nil || no.Error.Code == "" {
		no.Error.Code, no.Error.Message = "http", "the answer is not ingest's"
	}
	return no.State, &RefusedError{Status: resp.StatusCode, Code: no.Error.Code, Message: no.Error.Message, State: no.State}
}

// withoutURL drops the URL from an error, since ids and a query do not belong in a log.
func withoutURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}
