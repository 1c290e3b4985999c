package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/wait"
)

// claim is one message on a shard's claim subject.
type claim struct {
	id     string
	owner  string
	term   uint64
	window int
	tail   uint64 // the stream's last sequence before the batch of the claim
	seq    uint64 // its own; 0 = there is none
}

func decodeClaim(m stored) (claim, error) {
	f := fields{h: m.header}
	c := claim{
		id: get(m.header, HeaderClaim), owner: f.id(HeaderOwner), term: f.uint(HeaderTerm),
		window: int(f.int(HeaderWindow, 1, maxWindow)), tail: f.uint(HeaderTail), seq: m.seq,
	}
	if c.id == "" {
		f.fail(HeaderClaim, "missing")
	}
	return c, f.err
}

// checkpointData is what a checkpoint says, and up to which stream sequence.
type checkpointData struct {
	body   []byte
	covers uint64
	seq    uint64 // of its last chunk; 0 = there is none
}

// tailOf is the end of an events stream as its leader sees it: the last
// sequence and, read after it, the last claim.
type tailOf struct {
	incarnation int64
	last        uint64
	claim       claim
}

// readTail reads the last sequence first: a claim that it includes is seen.
func (b *Bus) readTail(ctx context.Context, shard int) (tailOf, error) {
	stream := b.names.EventsStream(shard)
	i, err := b.info(ctx, stream)
	if err != nil {
		return tailOf{}, err
	}
	t := tailOf{incarnation: i.incarnation(), last: i.State.LastSeq}
	m, err := b.fromLeader(ctx, stream, getRequest{LastFor: b.names.Claim(shard)})
	if errors.Is(err, ErrNotFound) {
		return t, nil
	}
	if err != nil {
		return tailOf{}, err
	}
	t.claim, err = decodeClaim(m)
	return t, err
}

// readCheckpoint reads the last checkpoint from the leader.
func (b *Bus) readCheckpoint(ctx context.Context, shard int) (checkpointData, error) {
	stream := b.names.EventsStream(shard)
	last, err := b.fromLeader(ctx, stream, getRequest{LastFor: b.names.Checkpoint(shard)})
	if errors.Is(err, ErrNotFound) {
		return checkpointData{}, nil
	}
	if err != nil {
		return checkpointData{}, err
	}
	_, n, err := chunkOf(last.header)
	if err != nil {
		return checkpointData{}, err
	}
	whole := last
	if n > 1 {
		var a assembler
		var ok bool
		for i := range n {
			m, err := b.fromLeader(ctx, stream, getRequest{Seq: last.seq - uint64(n-1-i)})
			if err != nil {
				return checkpointData{}, fmt.Errorf("checkpoint chunk %d of %d: %w", i+1, n, err)
			}
			whole, ok = a.add(m)
		}
		if !ok {
			return checkpointData{}, fmt.Errorf("%w: incomplete checkpoint", ErrPoison)
		}
	}
	f := fields{h: whole.header}
	c := checkpointData{body: whole.data, covers: whole.first - 1, seq: whole.seq}
	if f.has(HeaderCovers) {
		c.covers = f.uint(HeaderCovers)
	}
	return c, f.err
}

// errMoved: the tail moved while it was read; read again.
var errMoved = errors.New("the events stream moved on")

// claimOnce publishes one claim behind t as one atomic batch: fillers over all
// that a zombie's window can expect, the last checkpoint again so that it does
// not age out, and the claim. It returns the claim with its sequence.
//
// A zombie's writes expect at most a window beyond the tail; the batch is
// longer, so all of them miss.
func (b *Bus) claimOnce(ctx context.Context, shard int, t tailOf, c claim, cp checkpointData) (claim, error) {
	fillers := max(c.window, t.claim.window)
	msgs := make([]*nats.Msg, 0, fillers+2)
	for range fillers {
		msgs = append(msgs, &nats.Msg{Subject: b.names.Filler(shard), Header: make(nats.Header, 4)})
	}
	if cp.seq > 0 && fillers+1+b.parts(len(cp.body)) <= maxBatch {
		h := nats.Header{}
		setUint(h, HeaderCovers, cp.covers)
		msgs = append(msgs, b.split(b.names.Checkpoint(shard), h, cp.body)...)
	}
	h := nats.Header{HeaderClaim: []string{c.id}}
	setID(h, HeaderOwner, c.owner)
	setUint(h, HeaderTerm, c.term)
	setInt(h, HeaderWindow, int64(c.window))
	setUint(h, HeaderTail, t.last)
	msgs = append(msgs, &nats.Msg{Subject: b.names.Claim(shard), Header: h})
	setUint(msgs[0].Header, natsExpectedLastSeq, t.last)

	seq, err := b.publish(ctx, msgs)
	if err != nil {
		return c, err
	}
	if want := t.last + uint64(len(msgs)); seq != want {
		return c, fmt.Errorf("%w: claim stored at %d, not %d", errMoved, seq, want)
	}
	c.tail, c.seq = t.last, seq
	return c, nil
}

// claimAgain tells whether a failed claim may be tried again.
func claimAgain(err error) bool {
	return transient(err) || errors.Is(err, errMoved) || isCode(err, codeWrongLast, codeWrongLastAny) || overloaded(err)
}

// overloaded: the broker has too many batches open.
func overloaded(err error) bool {
	var e *APIError
	return errors.As(err, &e) && e.Code == 429
}

// WriterOptions say who claims a shard.
type WriterOptions struct {
	Owner  string // named in the claim, for people; not empty
	Window int    // 0 = Options.Window; 1 to 998
}

// Claim makes the caller the one writer of a shard's events stream, whoever
// wrote there before: from now on no write of theirs can land. It tries until
// it succeeds or ctx ends. Then Run the writer, and read where to go on with
// its Checkpoint and Headers.
//
// Taking a shard from an owner who is alive and busy takes that owner's first
// pause; what keeps two owners apart is an Owner, the claim only makes sure.
func (b *Bus) Claim(ctx context.Context, shard int, o WriterOptions) (*FencedWriter, error) {
	if o.Window == 0 {
		o.Window = b.opts.Window
	}
	switch {
	case shard < 0 || shard >= b.Shards():
		return nil, fmt.Errorf("claim: %w: shard %d is not in 0 to %d", ErrFatal, shard, b.Shards()-1)
	case o.Owner == "" || len(o.Owner) > 256:
		return nil, fmt.Errorf("claim: %w: owner of %d bytes", ErrFatal, len(o.Owner))
	case o.Window < 1 || o.Window > maxWindow:
		return nil, fmt.Errorf("claim: %w: window %d is not in 1 to %d", ErrFatal, o.Window, maxWindow)
	}
	var t tailOf
	var cp checkpointData
	var c claim
	err := retry(ctx, claimAgain, func(ctx context.Context) error {
		var err error
		if t, err = b.readTail(ctx, shard); err != nil {
			return err
		}
		if cp, err = b.readCheckpoint(ctx, shard); err != nil {
			return err
		}
		if t.claim.seq > t.last || cp.seq > t.last {
			return errMoved
		}
		c = claim{id: nuid.Next(), owner: o.Owner, term: t.claim.term + 1, window: o.Window}
		c, err = b.claimOnce(ctx, shard, t, c, cp)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim shard %d: %w", shard, err)
	}
	w, err := b.newWriter(shard, t.incarnation, c, cp)
	if err != nil {
		return nil, err
	}
	b.log.Info("claimed a shard", zap.Int("shard", shard), zap.Uint64("term", c.term), zap.Uint64("seq", c.seq))
	return w, nil
}

// maxBehind is how often a leader may answer with less than it acknowledged.
const maxBehind = 20

// reclaim is what a writer does after any error: settle, learn what landed,
// claim again, go on (DESIGN §3). ErrFenced if another claim stands.
func (w *FencedWriter) reclaim(ctx context.Context) error {
	if err := w.settle(ctx); err != nil {
		return err
	}
	mine := map[string]bool{}
	behind := 0
	return retry(ctx, claimAgain, func(ctx context.Context) error {
		t, err := w.b.readTail(ctx, w.shard)
		if err != nil {
			return err
		}
		held, acked, sent, cp := w.position()
		switch {
		case t.incarnation != w.incarnation:
			return fmt.Errorf("%w: the events stream was replaced", ErrFenced)
		case t.claim.seq > t.last:
			return errMoved
		case mine[t.claim.id]:
			// An attempt whose answer was lost has landed. What lies before
			// its batch is of the claim before.
			if err := w.landed(t.claim, t.claim.tail); err != nil {
				return err
			}
			held, acked, sent = t.claim, 0, 0
		case t.claim.seq > held.seq:
			return fmt.Errorf("%w: term %d", ErrFenced, t.claim.term)
		}
		if t.last > held.seq+sent {
			return fmt.Errorf("%w: the stream ends at %d, beyond %d", ErrFenced, t.last, held.seq+sent)
		}
		if t.last < held.seq+acked {
			// A leader just elected may not know all of its log yet.
			if behind++; behind > maxBehind {
				return fmt.Errorf("%w: the events stream ends at %d, before %d", ErrReset, t.last, held.seq+acked)
			}
			return errMoved
		}
		next := claim{id: nuid.Next(), owner: held.owner, term: held.term + 1, window: held.window}
		mine[next.id] = true
		if next, err = w.b.claimOnce(ctx, w.shard, t, next, cp); err != nil {
			return err
		}
		w.b.log.Info("claimed a shard again", zap.Int("shard", w.shard), zap.Uint64("term", next.term), zap.Uint64("seq", next.seq))
		return w.landed(next, next.tail)
	})
}

// settle waits until every message sent was answered, or nothing was for
// Options.Quiet: what is under way then is dealt with by claiming again.
func (w *FencedWriter) settle(ctx context.Context) error {
	for {
		w.mu.Lock()
		open := w.sentMsgs - w.answered
		quiet := time.Since(w.lastAnswer)
		w.mu.Unlock()
		if open == 0 || quiet >= w.b.opts.Quiet {
			return nil
		}
		if err := wait.For(ctx, min(w.b.opts.Quiet-quiet, 5*time.Millisecond)); err != nil {
			return err
		}
	}
}

func ackSubject(inbox string, gen, n uint64) string {
	b := make([]byte, 0, len(inbox)+32)
	b = append(b, inbox...)
	b = append(b, '.')
	b = strconv.AppendUint(b, gen, 10)
	b = append(b, '.')
	return string(strconv.AppendUint(b, n, 10))
}
