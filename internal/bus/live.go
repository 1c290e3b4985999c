package bus

import (
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/agwire/agwire/internal/subject"
)

// Loss says why live messages may be missing.
type Loss int

// The ways to lose live messages.
const (
	LossGap       Loss = iota // a message names a predecessor that did not come
	LossDropped               // this process was too slow and dropped some
	LossReconnect             // the connection was away
)

// String is the loss as metrics spell it.
func (l Loss) String() string {
	switch l {
	case LossGap:
		return "gap"
	case LossDropped:
		return "dropped"
	case LossReconnect:
		return "reconnect"
	}
	return fmt.Sprintf("loss(%d)", int(l))
}

// LiveHandler takes what a live subscription delivers. All its calls come
// from goroutines of the subscription's; Event is called by one at a time, in
// the order of arrival, and should not block: what waits is bounded, then
// dropped.
type LiveHandler struct {
	// Event takes a stored message. PrevSeq names the thread's message before
	// it. Required.
	Event func(EventMessage)

	// Loss tells that messages may be missing: of thread before the message
	// that Event is called with next (LossGap, subscriptions to one thread
	// only), or of any thread subscribed to, with no message to show it
	// (LossDropped, LossReconnect; thread is ""): ask for heads. It may be
	// called while Event runs. Optional.
	Loss func(loss Loss, thread string)
}

// Bounds of what waits in one live subscription.
const (
	livePending      = 64 << 10
	livePendingBytes = 64 << 20
)

// Live is a live subscription. Its methods are safe for concurrent use.
type Live struct {
	b        *Bus
	sub      *nats.Subscription
	listener *listener
	handler  LiveHandler
	single   bool

	mu   sync.Mutex
	asm  map[int]*assembler // by shard
	last uint64             // of a single thread: sequence of its last message; 0 = none yet
}

// SubscribeLive delivers the messages of a thread from now on, as they are
// stored. When it returns, the server knows of the subscription: read Head
// then, and ReadThread up to it, and nothing is missing (attach, then read).
// Messages may arrive that were read too: go by ordinals.
func (b *Bus) SubscribeLive(thread string, h LiveHandler) (*Live, error) {
	if err := subject.CheckID(thread); err != nil {
		return nil, fmt.Errorf("%w: thread: %w", ErrPoison, err)
	}
	return b.subscribeLive(b.names.Live(thread), true, h)
}

// SubscribeLiveShard is SubscribeLive for every thread of a shard.
func (b *Bus) SubscribeLiveShard(shard int, h LiveHandler) (*Live, error) {
	return b.subscribeLive(b.names.LiveFilter(shard), false, h)
}

func (b *Bus) subscribeLive(subj string, single bool, h LiveHandler) (*Live, error) {
	l := &Live{b: b, handler: h, single: single, asm: map[int]*assembler{}}
	sub, err := b.nc.Subscribe(subj, l.onMessage)
	if err != nil {
		return nil, fmt.Errorf("subscribe live: %w", closedOr(err))
	}
	l.sub = sub
	l.listener = &listener{
		sub:         sub,
		reconnected: func() { l.loss(LossReconnect, "") },
		dropped:     func() { l.loss(LossDropped, "") },
	}
	b.listen(l.listener)
	err = sub.SetPendingLimits(livePending, livePendingBytes)
	if err == nil {
		err = closedOr(b.nc.FlushTimeout(b.opts.Timeout))
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("subscribe live: %w", err)
	}
	return l, nil
}

func (l *Live) loss(loss Loss, thread string) {
	if l.handler.Loss != nil {
		l.handler.Loss(loss, thread)
	}
}

func (l *Live) onMessage(m *nats.Msg) {
	s, err := fromDirect(m)
	if err != nil {
		l.b.log.Warn("live message without the server's headers")
		return
	}
	s.subject = m.Subject
	p, err := l.b.names.Parse(m.Subject)
	if err != nil {
		return
	}
	l.mu.Lock()
	a := l.asm[p.Shard]
	if a == nil {
		a = &assembler{}
		l.asm[p.Shard] = a
	}
	whole, ok := a.add(s)
	gap := false
	if ok {
		gap = l.single && l.last != 0 && whole.prev > l.last
		l.last = max(l.last, whole.seq)
	}
	l.mu.Unlock()
	if !ok {
		return
	}
	if gap {
		l.loss(LossGap, p.Thread)
	}
	l.handler.Event(l.b.decodeEvent(whole))
}

// Dropped is how many messages this process dropped because Event was too slow.
func (l *Live) Dropped() int {
	n, err := l.sub.Dropped()
	if err != nil {
		return 0
	}
	return n
}

// Close ends the subscription. An Event that runs may still be running when
// it returns.
func (l *Live) Close() {
	l.b.unlisten(l.listener)
	_ = l.sub.Unsubscribe()
}
