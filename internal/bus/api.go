package bus

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agwire/agwire/internal/wait"
)

// APIError is an answer of the broker that says no.
type APIError struct {
	Code    int    `json:"code"`
	ErrCode int    `json:"err_code"`
	Text    string `json:"description"`
}

// Error is the broker's own words and numbers.
func (e *APIError) Error() string {
	return fmt.Sprintf("broker: %s (%d, %d)", e.Text, e.Code, e.ErrCode)
}

// Error codes of the server that this package branches on.
const (
	codeMsgNotFound   = 10037
	codeStreamMissing = 10059
	codeTooLarge      = 10054
	codeStoreFailed   = 10077
	codeWrongLast     = 10071
	codeWrongLastAny  = 10164
	codeIncomplete    = 10176
)

func isCode(err error, codes ...int) bool {
	var e *APIError
	if !errors.As(err, &e) {
		return false
	}
	for _, c := range codes {
		if e.ErrCode == c {
			return true
		}
	}
	return false
}

// transient tells whether the broker may answer otherwise in a moment: no
// leader, no connection, no answer.
func transient(err error) bool {
	var e *APIError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, ErrClosed), errors.Is(err, nats.ErrConnectionClosed):
		return false
	case errors.As(err, &e):
		return e.Code >= 500 || e.ErrCode == codeIncomplete
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrReconnectBufExceeded),
		errors.Is(err, nats.ErrConnectionReconnecting), errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrStaleConnection):
		return true
	}
	return false
}

// closedOr is ErrClosed for an error of a connection that was closed for good.
func closedOr(err error) error {
	if errors.Is(err, nats.ErrConnectionClosed) {
		return ErrClosed
	}
	return err
}

// Delays of a retry: doubled from the first to the last.
const (
	firstDelay = 20 * time.Millisecond
	lastDelay  = time.Second
)

// retry calls fn until it succeeds, fails with what again refuses, or ctx
// ends; then the error holds both ctx's and fn's last.
func retry(ctx context.Context, again func(error) bool, fn func(context.Context) error) error {
	for delay := firstDelay; ; delay = min(2*delay, lastDelay) {
		err := fn(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return cutShort(err, ctx.Err())
		}
		if !again(err) {
			return err
		}
		if perr := wait.For(ctx, delay); perr != nil {
			return cutShort(err, perr)
		}
	}
}

// cutShort is the last error of something that was tried until end, on one line.
func cutShort(err, end error) error {
	if errors.Is(err, end) {
		return err
	}
	return fmt.Errorf("%w (%w)", err, end)
}

// ask makes one request of the JetStream API within Options.Timeout.
func (b *Bus) ask(ctx context.Context, api string, req, resp any) error {
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.opts.Timeout)
	defer cancel()
	m, err := b.nc.RequestWithContext(ctx, "$JS.API."+api, body)
	if err != nil {
		return closedOr(err)
	}
	// A stored message comes in base64, large perhaps: it is read once.
	if bytes.Contains(m.Data, []byte(`"error"`)) {
		var fail struct {
			Error *APIError `json:"error"`
		}
		if err := json.Unmarshal(m.Data, &fail); err != nil {
			return fmt.Errorf("broker's answer: %w", err)
		}
		if fail.Error != nil {
			return fail.Error
		}
	}
	if err := json.Unmarshal(m.Data, resp); err != nil {
		return fmt.Errorf("broker's answer: %w", err)
	}
	return nil
}

// streamInfo is what this package needs of a stream's state; the leader answers.
type streamInfo struct {
	Created time.Time `json:"created"`
	State   struct {
		Messages    uint64            `json:"messages"`
		FirstSeq    uint64            `json:"first_seq"`
		LastSeq     uint64            `json:"last_seq"`
		NumSubjects uint64            `json:"num_subjects"`
		Subjects    map[string]uint64 `json:"subjects"`
	} `json:"state"`
	Total  int `json:"total"`
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
}

// incarnation tells this life of the stream from any other, and from every other
// shard's stream: several are made in one millisecond, but not in one nanosecond.
func (i streamInfo) incarnation() int64 { return i.Created.UnixNano() }

func (b *Bus) info(ctx context.Context, stream string) (streamInfo, error) {
	var i streamInfo
	err := b.ask(ctx, "STREAM.INFO."+stream, struct{}{}, &i)
	return i, err
}

// getRequest asks for one stored message.
type getRequest struct {
	Seq      uint64 `json:"seq,omitempty"`
	LastFor  string `json:"last_by_subj,omitempty"`
	NextFor  string `json:"next_by_subj,omitempty"`
	Batch    int    `json:"batch,omitempty"`
	MaxBytes int    `json:"max_bytes,omitempty"`
}

// fromLeader reads one message from the stream's leader, so that the last
// write is seen. ErrNotFound if there is none.
func (b *Bus) fromLeader(ctx context.Context, stream string, req getRequest) (stored, error) {
	var resp struct {
		Message struct {
			Subject string    `json:"subject"`
			Seq     uint64    `json:"seq"`
			Hdrs    string    `json:"hdrs"`
			Data    []byte    `json:"data"`
			Time    time.Time `json:"time"`
		} `json:"message"`
	}
	err := b.ask(ctx, "STREAM.MSG.GET."+stream, req, &resp)
	if isCode(err, codeMsgNotFound) {
		return stored{}, ErrNotFound
	}
	if err != nil {
		return stored{}, err
	}
	m := resp.Message
	s := stored{subject: m.Subject, first: m.Seq, seq: m.Seq, time: m.Time, data: m.Data}
	if m.Hdrs != "" {
		raw, err := base64.StdEncoding.DecodeString(m.Hdrs)
		if err != nil {
			return stored{}, fmt.Errorf("broker's answer: %w", err)
		}
		if s.header, err = nats.DecodeHeadersMsg(raw); err != nil {
			return stored{}, fmt.Errorf("broker's answer: %w", err)
		}
	}
	return s, nil
}

// leader is fromLeader, again while no leader answers.
func (b *Bus) leader(ctx context.Context, stream string, req getRequest) (s stored, err error) {
	err = retry(ctx, transient, func(ctx context.Context) error {
		s, err = b.fromLeader(ctx, stream, req)
		return err
	})
	return s, err
}

// fromReplica reads one message from any replica: fast, but perhaps not yet
// what the leader has. ErrNotFound if that replica has none.
func (b *Bus) fromReplica(ctx context.Context, stream string, req getRequest) (stored, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return stored{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.opts.Timeout)
	defer cancel()
	m, err := b.nc.RequestWithContext(ctx, "$JS.API.DIRECT.GET."+stream, body)
	if err != nil {
		return stored{}, closedOr(err)
	}
	if err := directStatus(m); err != nil {
		return stored{}, err
	}
	return fromDirect(m)
}

// directStatus is the error of an answer that is no message.
func directStatus(m *nats.Msg) error {
	st := get(m.Header, natsStatus)
	switch {
	case st == "":
		return nil
	case st == "404":
		return ErrNotFound
	}
	code, _ := strconv.Atoi(st)
	return &APIError{Code: code, Text: get(m.Header, "Description")}
}

// fromDirect reads a message as the server sends it in answer to a direct get
// or republishes it.
func fromDirect(m *nats.Msg) (stored, error) {
	f := fields{h: m.Header}
	s := stored{
		subject: get(m.Header, natsSubject), seq: f.uint(natsSequence), prev: f.uint(natsLastSequence),
		pending: f.uint(natsNumPending), header: m.Header, data: m.Data,
	}
	s.first = s.seq
	if f.err != nil || s.seq == 0 || s.subject == "" {
		return stored{}, errors.New("broker's answer: not a stored message")
	}
	if ts := get(m.Header, natsTimeStamp); ts != "" {
		t, err := time.Parse(time.RFC3339Nano, ts)
		if err != nil {
			return stored{}, errors.New("broker's answer: time")
		}
		s.time = t
	}
	return s, nil
}

// pubAck is the broker's answer to a publish.
type pubAck struct {
	seq uint64
	err error
}

// parseAck reads the answer to a publish. The common form is read without a
// JSON decoder, since every stored message passes here.
func parseAck(m *nats.Msg) pubAck {
	if len(m.Data) == 0 {
		if get(m.Header, natsStatus) == "503" {
			return pubAck{err: nats.ErrNoResponders}
		}
		return pubAck{err: errors.New("broker's answer: empty")}
	}
	s := string(m.Data)
	if !strings.Contains(s, `"error"`) {
		if _, rest, ok := strings.Cut(s, `"seq":`); ok {
			end := 0
			for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
				end++
			}
			if n, err := strconv.ParseUint(rest[:end], 10, 64); err == nil && n > 0 {
				return pubAck{seq: n}
			}
		}
	}
	var a struct {
		Error *APIError `json:"error"`
		Seq   uint64    `json:"seq"`
	}
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return pubAck{err: fmt.Errorf("broker's answer: %w", err)}
	}
	if a.Error != nil {
		return pubAck{err: a.Error}
	}
	if a.Seq == 0 {
		return pubAck{err: errors.New("broker's answer: no sequence")}
	}
	return pubAck{seq: a.Seq}
}
