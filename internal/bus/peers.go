package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/zap"
)

// beat is the record of one worker in the bucket.
type beat struct {
	ID    string `json:"id"`
	Inc   string `json:"inc"`  // of the process that bears the id
	Born  int64  `json:"born"` // when that process started, Unix nanoseconds
	Gone  bool   `json:"gone,omitempty"`
	Holds []int  `json:"holds"`
}

// peer is another worker as it was last heard of.
type peer struct {
	beat beat
	seen time.Time // here, by this process's clock
}

// maxWorkers bounds one group.
const maxWorkers = 1000

// heartbeat stores this worker's record, and reads the others': what was
// missed of their notices is seen within a beat.
func (w *Owner) heartbeat(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.o.Beat)
	defer cancel()
	err := w.store(ctx, false)
	if err == nil {
		err = w.read(ctx)
	}
	if err != nil {
		w.log.Debug("heartbeat", zap.NamedError("err", err))
		return
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.beaten) > w.o.TTL {
		w.steady = now
	}
	w.beaten = now
	w.beats++
}

func (w *Owner) store(ctx context.Context, gone bool) error {
	w.mu.Lock()
	r := w.me
	r.Gone, r.Holds = gone, make([]int, 0, len(w.running))
	for s := range w.running {
		r.Holds = append(r.Holds, s)
	}
	w.mu.Unlock()
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.b.publish(ctx, []*nats.Msg{{Subject: w.b.names.OwnerSubject(w.key), Header: nats.Header{}, Data: body}})
	return err
}

// leave tells the others that this worker is gone, unless a younger process
// now bears its id.
func (w *Owner) leave(ctx context.Context) {
	if w.hasRival() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, w.b.opts.Timeout)
	defer cancel()
	if err := w.store(ctx, true); err != nil {
		w.log.Debug("last heartbeat", zap.NamedError("err", err))
	}
}

// onBeat takes a record as another worker publishes it.
func (w *Owner) onBeat(m *nats.Msg) {
	if w.take(m.Data, 0) {
		w.wake()
	}
}

// take remembers a record; it tells whether it changes who works on what. A
// worker that is not known and whose record is older than TTL is dead.
func (w *Owner) take(body []byte, age time.Duration) bool {
	var r beat
	if json.Unmarshal(body, &r) != nil || r.ID == "" {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.ID == w.o.ID {
		younger := r.Inc != w.me.Inc && (r.Born > w.me.Born || r.Born == w.me.Born && r.Inc > w.me.Inc)
		w.rival = w.rival || younger && !r.Gone
		return younger
	}
	p := w.peers[r.ID]
	switch {
	case r.Gone:
		delete(w.peers, r.ID)
		return p != nil
	case p == nil && age > w.o.TTL:
		return false
	case p == nil:
		w.peers[r.ID] = &peer{beat: r, seen: time.Now()}
		return true
	}
	changed := p.beat.Inc != r.Inc || len(p.beat.Holds) != len(r.Holds)
	p.beat, p.seen = r, time.Now()
	return changed
}

func (w *Owner) hasRival() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rival
}

// read takes the stored records that were not read yet. Their age is by the
// broker's clock, whose now is the time of the newest, this worker's own.
func (w *Owner) read(ctx context.Context) error {
	var now time.Time
	var recs []stored
	req := getRequest{NextFor: w.b.names.OwnerSubject(w.b.names.OwnerKeys(w.o.Group)), Seq: 1, Batch: maxWorkers}
	err := w.b.scanBatch(ctx, w.b.names.OwnersStream(), req, func(m stored) error {
		if m.time.After(now) {
			now = m.time
		}
		recs = append(recs, m)
		return nil
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	for _, m := range recs {
		w.mu.Lock()
		unread := m.seq > w.revs[m.subject]
		w.revs[m.subject] = max(w.revs[m.subject], m.seq)
		w.mu.Unlock()
		if unread {
			w.take(m.data, now.Sub(m.time))
		}
	}
	w.mu.Lock()
	w.started = true
	w.mu.Unlock()
	return nil
}

// live forgets the peers that are dead, and is the others. While one's own
// heartbeats fail, and for a TTL after that, nobody is declared dead: it was
// the broker that was away. w.mu is held.
func (w *Owner) live(now time.Time) map[string]*peer {
	if now.Sub(w.beaten) > w.o.TTL || now.Sub(w.steady) <= w.o.TTL {
		return w.peers
	}
	for id, p := range w.peers {
		if silent := now.Sub(p.seen); silent > w.o.TTL {
			w.log.Warn(fmt.Sprintf("worker %q silent for %v, taking its shards", id, silent.Round(100*time.Millisecond)),
				zap.Ints("shards", p.beat.Holds))
			delete(w.peers, id)
		}
	}
	return w.peers
}
