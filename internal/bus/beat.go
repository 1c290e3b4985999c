package bus

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/agwire/agwire/internal/subject"
)

// Beat says that an upload of the invoke is open although nothing comes. It is not stored, and may be lost: it only keeps the
// owner of the shard from ending the invoke as idle.
func (b *Bus) Beat(thread, invoke string) error {
	if err := checkIDs(thread, invoke); err != nil {
		return err
	}
	if err := b.nc.Publish(b.names.Beat(thread, invoke), nil); err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	return nil
}

// SubscribeBeats calls f for each beat of a shard's invokes until the function it returns is called. f must not block.
func (b *Bus) SubscribeBeats(shard int, f func(thread, invoke string)) (stop func(), err error) {
	prefix := strings.TrimSuffix(b.names.BeatsFilter(shard), ">")
	sub, err := b.nc.Subscribe(b.names.BeatsFilter(shard), func(m *nats.Msg) {
		thread, invoke, _ := strings.Cut(strings.TrimPrefix(m.Subject, prefix), ".")
		t, err1 := subject.Unescape(thread)
		i, err2 := subject.Unescape(invoke)
		if err1 == nil && err2 == nil {
			f(t, i)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("subscribe to beats: %w", err)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}
