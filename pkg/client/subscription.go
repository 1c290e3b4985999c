package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/agwire/agwire/pkg/agjson"
)

// Reasons of a Batch.Reset. A server of a later version may have others.
const (
	ResetJoin    = "join"    // the first answer to Now
	ResetGap     = "gap"     // ordinals were missing and could not be had
	ResetTrimmed = "trimmed" // the log begins behind the cursor
	ResetEpoch   = "epoch"   // the thread is another than the cursor's: purged, rebuilt or restored
	ResetSlow    = "slow"    // this client was too slow
	ResetAnew    = "anew"    // the thread was asked for anew from here, and there was no pair to begin with
)

const resetUnknown = "unknown"

// Batch is events of a thread that came together.
type Batch struct {
	Events []json.RawMessage // as they are on the log, but for the events of a pair; not to be changed
	Cursor string            // where the thread goes on after them; "" = from its beginning, when there is one
	Reset  string            // not "": what was known is void, and the events, a pair, are all there is; the reason
}

// patience is after how many heartbeats without an answer, or without the pair after a reset, a connection is given up.
const patience = 3

// Subscription is a thread that is followed. Its methods are safe for concurrent use, but one goroutine at a time should
// read it.
type Subscription struct {
	c      *Client
	thread string

	// Guarded by the client's lock.
	from      string // where it was to start
	cursor    string // of the last batch taken; "" = none
	last      int64  // its last ordinal, if known
	known     bool
	reason    string // of the reset whose pair is due; "" = none
	anew      bool   // what was taken is void, whatever comes next
	suspended bool   // let go of until the reader has come so far
	missing   int    // heartbeats in a row that do not name the thread
	waited    int    // heartbeats in a row while something is due
	head      Head
	told      bool // head is
	watch     *time.Timer
	stats     Stats
	err       error

	queue []Batch
	size  []int
	bytes int64
	more  chan struct{} // holds one when there is something to read, or err is set
}

// Stats counts what happened to a subscription.
type Stats struct {
	Events  int64 // taken, those of pairs too
	Resets  int   // announced
	Gaps    int   // ordinals were missing
	Behind  int   // a head was told that did not come
	Resyncs int   // asked for anew from here
	Pauses  int   // let go of, since the reader was slow
}

func newSubscription(c *Client, thread, from string) *Subscription {
	s := &Subscription{c: c, thread: thread, from: from, last: -1, known: from == Now || from == Start, more: make(chan struct{}, 1)}
	if from != Now && from != Start && from != Live {
		s.cursor = from
	}
	return s
}

// Thread is the thread's id.
func (s *Subscription) Thread() string { return s.thread }

// Next is the next batch; it waits for it. Its error is ctx's, ErrClosed, a RefusedError or a CloseError; what was taken before
// the end is read first.
func (s *Subscription) Next(ctx context.Context) (Batch, error) {
	for {
		if b, ok, err := s.pop(); ok || err != nil {
			return b, err
		}
		select {
		case <-s.more:
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		}
	}
}

// Batches are all batches until an error, which is yielded last.
func (s *Subscription) Batches(ctx context.Context) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for {
			b, err := s.Next(ctx)
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// resyncs is how often in a row Follow asks for the thread anew before it gives up.
const resyncs = 5

// Follow folds what comes and calls show after each batch, until show fails or the subscription ends; that error is returned.
// Where the fold cannot go on, the thread is asked for anew; if that does not help either, the error is an ErrFold.
func (s *Subscription) Follow(ctx context.Context, show func(*Fold, Batch) error) error {
	f := NewFold()
	failures := 0
	for b, err := range s.Batches(ctx) {
		if err != nil {
			return err
		}
		if err := f.Apply(b); err != nil {
			if failures++; failures > resyncs {
				return errors.Join(ErrFold, err)
			}
			s.Resync()
			continue
		}
		failures = 0
		if err := show(f, b); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// pop takes a batch from the queue; false if there is none yet.
func (s *Subscription) pop() (Batch, bool, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if len(s.queue) == 0 {
		return Batch{}, false, s.err
	}
	b := s.queue[0]
	s.bytes -= int64(s.size[0])
	s.queue[0] = Batch{}
	if s.queue, s.size = s.queue[1:], s.size[1:]; len(s.queue) == 0 {
		s.queue, s.size = nil, nil
		if s.suspended {
			s.suspended = false
			s.ask()
		}
	}
	return b, true, nil
}

// Cursor is that of the last batch that has come, read or not.
func (s *Subscription) Cursor() string {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.cursor
}

// Head is where the thread's log stands, as the last heartbeat told; false before the first.
func (s *Subscription) Head() (Head, bool) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.head, s.told
}

// Stats are the counts so far.
func (s *Subscription) Stats() Stats {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.stats
}

// Resync forgets the thread, what waits to be read too, and asks for it anew, from Now. The next batch has Reset set.
func (s *Subscription) Resync() {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.err != nil {
		return
	}
	s.queue, s.size, s.bytes = nil, nil, 0
	s.suspended = false
	s.renew()
}

// renew asks for the thread anew. The client is locked.
func (s *Subscription) renew() {
	s.stats.Resyncs++
	s.cursor, s.last, s.known, s.anew, s.from = "", -1, true, true, Now
	s.ask()
}

// Close ends the subscription. The client goes on.
func (s *Subscription) Close() {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.err == nil && s.c.conn != nil && !s.suspended {
		s.c.conn.send(request{Op: "unsubscribe", Thread: s.thread})
	}
	s.finish(ErrClosed)
}

// finish ends the subscription. The client is locked, here and below.
func (s *Subscription) finish(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	s.stopWatch()
	if s.c.subs[s.thread] == s {
		delete(s.c.subs, s.thread)
	}
	s.wake()
}

func (s *Subscription) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// ask asks for the thread from where it is known, if there is a connection.
func (s *Subscription) ask() {
	s.stopWatch()
	s.reason, s.missing, s.waited = "", 0, 0
	if s.suspended || s.c.conn == nil || s.err != nil {
		return
	}
	from := s.cursor
	if from == "" {
		from = s.from
	}
	s.c.conn.send(request{Op: "subscribe", Thread: s.thread, From: from})
}

// subscribed takes the answer. Where there was no thread, Live means all that it will have.
func (s *Subscription) subscribed(cursor string) {
	switch {
	case s.from != Live || s.cursor != "":
	case cursor == "":
		s.from, s.last, s.known = Start, -1, true
	default:
		s.cursor = cursor
	}
}

func (s *Subscription) reset(reason string) {
	if reason == "" {
		reason = resetUnknown
	}
	s.reason = reason
	s.stats.Resets++
}

// take takes a batch, the pair after a reset among them.
func (s *Subscription) take(events []json.RawMessage, cursor string, pair bool, size int) {
	if s.suspended {
		return
	}
	reason := ""
	switch {
	case pair:
		if reason = s.reason; reason == "" {
			reason = resetUnknown
		}
		s.begin(events, cursor)
	case s.reason != "":
		s.gap()
		return
	default:
		var ok bool
		if events, ok = s.fresh(events); !ok {
			s.gap()
			return
		}
		if cursor != "" {
			s.cursor = cursor
		}
	}
	if s.anew && reason == "" {
		reason = ResetAnew
	}
	s.reason, s.waited, s.anew = "", 0, false
	s.stats.Events += int64(len(events))
	if len(events) == 0 && reason == "" {
		return
	}
	s.queue = append(s.queue, Batch{Events: events, Cursor: s.cursor, Reset: reason})
	s.size = append(s.size, size)
	s.bytes += int64(size)
	s.wake()
	if s.bytes > s.c.o.Buffer && len(s.queue) > 1 {
		s.suspended = true
		s.stats.Pauses++
		s.stopWatch()
		if s.c.conn != nil {
			s.c.conn.send(request{Op: "unsubscribe", Thread: s.thread})
		}
	}
}

// begin takes a pair. One that is empty says that nothing of the thread is left.
func (s *Subscription) begin(events []json.RawMessage, cursor string) {
	s.cursor, s.last, s.known = cursor, -1, true
	if len(events) > 0 {
		s.last, s.known = ordinal(events[len(events)-1])
	}
	if cursor == "" {
		s.from = Start
	}
}

// fresh is what of a batch is not known yet; false if something before it is missing.
func (s *Subscription) fresh(events []json.RawMessage) ([]json.RawMessage, bool) {
	for len(events) > 0 {
		n, ok := ordinal(events[0])
		if !ok || s.known && n > s.last+1 {
			return nil, false
		}
		if !s.known || n == s.last+1 {
			end, ok := ordinal(events[len(events)-1])
			if !ok || end-n != int64(len(events)-1) {
				return nil, false
			}
			s.last, s.known = end, true
			return events, true
		}
		events = events[1:]
	}
	return nil, true
}

// ordinal is an event's seq.
func ordinal(event json.RawMessage) (int64, bool) {
	v, err := agjson.ParseValue(event)
	if err != nil {
		return 0, false
	}
	n, ok := v.Get("seq").Int()
	return int64(n), ok
}

// gap asks again, since something is missing.
func (s *Subscription) gap() {
	s.stats.Gaps++
	s.ask()
}

// heard takes what a heartbeat says of the thread, if it does; false gives the connection up.
func (s *Subscription) heard(h Head, named, answered bool) bool {
	if s.suspended {
		return true
	}
	if !answered || s.reason != "" {
		s.waited++
		return s.waited < patience
	}
	s.waited = 0
	if !named {
		if s.missing++; s.missing >= 2 {
			s.ask()
		}
		return true
	}
	s.missing = 0
	s.head, s.told = h, true
	switch {
	case h.Cursor == "" || h.Cursor == s.cursor:
		s.stopWatch()
	case s.watch == nil:
		s.startWatch()
	}
	return true
}

// startWatch asks again if the thread's cursor is then still where it is now.
func (s *Subscription) startWatch() {
	cursor := s.cursor
	var t *time.Timer
	t = time.AfterFunc(s.c.o.Grace, func() {
		s.c.mu.Lock()
		defer s.c.mu.Unlock()
		if s.watch != t {
			return
		}
		s.watch = nil
		if s.cursor == cursor && s.err == nil && s.reason == "" {
			s.stats.Behind++
			s.ask()
		}
	})
	s.watch = t
}

func (s *Subscription) stopWatch() {
	if s.watch != nil {
		s.watch.Stop()
		s.watch = nil
	}
}

// refused ends the subscription, or begins anew if it is the cursor that is refused.
func (s *Subscription) refused(e *RefusedError) {
	if e.Code == "bad_cursor" && s.cursor != "" && s.cursor != s.from {
		s.renew()
		return
	}
	s.finish(e)
}
