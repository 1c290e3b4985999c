package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// Version is that of the streams' layout, recorded in their metadata.
const Version = 1

// Metadata of each stream.
const (
	metaVersion = "agwire-version"
	metaShards  = "agwire-shards"
	metaPrefix  = "agwire-prefix"
)

// setupWorkers is how many streams are made or checked at once.
const setupWorkers = 8

// Setup makes what is missing of the streams and the owners' bucket, brings
// limits and replicas to the options', and refuses with an ErrMismatch what
// was made for another number of shards, prefix or version. It may run in
// several processes at once. It waits, within ctx, for the broker to have a
// leader.
func (b *Bus) Setup(ctx context.Context) error {
	if n := b.payload; n < minPayload {
		return fmt.Errorf("set up: %w: the server's max_payload, %d bytes, is below %d", ErrFatal, n, minPayload)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(setupWorkers)
	for shard := range b.Shards() {
		for _, cfg := range []jetstream.StreamConfig{b.framesConfig(shard), b.eventsConfig(shard)} {
			g.Go(func() error { return b.setupStream(ctx, cfg) })
		}
	}
	g.Go(func() error { return b.setupBucket(ctx) })
	if err := g.Wait(); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	return nil
}

func (b *Bus) streamConfig(name string, subjects ...string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:               name,
		Subjects:           subjects,
		Retention:          jetstream.LimitsPolicy,
		Storage:            jetstream.FileStorage,
		Replicas:           b.opts.Replicas,
		AllowDirect:        true,
		AllowAtomicPublish: true,
		Metadata: map[string]string{
			metaVersion: strconv.Itoa(Version),
			metaShards:  strconv.Itoa(b.Shards()),
			metaPrefix:  b.names.Prefix(),
		},
	}
}

func limit(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}

func (b *Bus) framesConfig(shard int) jetstream.StreamConfig {
	c := b.streamConfig(b.names.FramesStream(shard), b.names.FramesFilter(shard), b.names.InputsFilter(shard))
	c.Description = "native frames and inputs of shard " + strconv.Itoa(shard)
	// What is not mapped yet is never dropped to make room: the stream refuses.
	c.Discard = jetstream.DiscardNew
	c.MaxAge = b.opts.FramesMaxAge
	c.MaxBytes = limit(b.opts.FramesMaxBytes)
	return c
}

func (b *Bus) eventsConfig(shard int) jetstream.StreamConfig {
	c := b.streamConfig(b.names.EventsStream(shard), b.names.EventsFilter(shard), b.names.ControlFilter(shard))
	c.Description = "events of shard " + strconv.Itoa(shard)
	c.Discard = jetstream.DiscardOld
	c.MaxAge = b.opts.EventsMaxAge
	c.MaxBytes = limit(b.opts.EventsMaxBytes)
	c.RePublish = &jetstream.RePublish{Source: b.names.EventsFilter(shard), Destination: b.names.LiveFilter(shard)}
	return c
}

// setupTransient is what a cluster says while it has no leader or an asset is
// being made by another process.
func setupTransient(err error) bool {
	var e *jetstream.APIError
	if errors.As(err, &e) {
		return e.Code >= 500 && e.ErrorCode != 10074 // 10074: replicas without a cluster
	}
	return transient(err) || errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) || errors.Is(err, nats.ErrNoStreamResponse)
}

func (b *Bus) setupStream(ctx context.Context, want jetstream.StreamConfig) error {
	err := retry(ctx, setupTransient, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		s, err := b.js.Stream(ctx, want.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			s, err = b.js.CreateStream(ctx, want)
		}
		if err != nil {
			return err
		}
		have := s.CachedInfo().Config
		if err := checkStream(have, want); err != nil {
			return err
		}
		if have.Replicas == want.Replicas && have.MaxAge == want.MaxAge && have.MaxBytes == want.MaxBytes {
			return nil
		}
		have.Replicas, have.MaxAge, have.MaxBytes = want.Replicas, want.MaxAge, want.MaxBytes
		_, err = b.js.UpdateStream(ctx, have)
		return err
	})
	if err != nil {
		return fmt.Errorf("stream %s: %w", want.Name, err)
	}
	return nil
}

// checkStream compares what cannot be changed, and names all that differs.
func checkStream(have, want jetstream.StreamConfig) error {
	var errs []error
	differ := func(what string, have, want any) {
		errs = append(errs, fmt.Errorf("%s is %v, not %v", what, have, want))
	}
	for _, k := range []string{metaVersion, metaShards, metaPrefix} {
		h, w := have.Metadata[k], want.Metadata[k]
		if h == w {
			continue
		}
		differ(k, strconv.Quote(h), strconv.Quote(w))
		if k == metaShards && h != "" {
			errs = append(errs, fmt.Errorf("give --shards %s or AGWIRE_SHARDS=%s", h, h))
		}
	}
	if h, w := fmt.Sprint(have.Subjects), fmt.Sprint(want.Subjects); h != w {
		differ("subjects", h, w)
	}
	if have.Storage != want.Storage {
		differ("storage", have.Storage, want.Storage)
	}
	if have.Retention != want.Retention {
		differ("retention", have.Retention, want.Retention)
	}
	if have.Discard != want.Discard {
		differ("discard", have.Discard, want.Discard)
	}
	if !have.AllowAtomicPublish || !have.AllowDirect {
		differ("atomic publish and direct get", false, true)
	}
	h, w := have.RePublish, want.RePublish
	if (h == nil) != (w == nil) || h != nil && (h.Source != w.Source || h.Destination != w.Destination || h.HeadersOnly) {
		differ("republish", h, w)
	}
	if len(errs) == 0 {
		return nil
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return fmt.Errorf("%w: %s", ErrMismatch, strings.Join(texts, "; "))
}

// ownersAge is how long a dead worker's record stays in the bucket at most.
const ownersAge = 10 * time.Minute

func (b *Bus) setupBucket(ctx context.Context) error {
	want := jetstream.KeyValueConfig{
		Bucket: b.names.OwnersBucket(), Description: "heartbeats of the shards' workers",
		TTL: ownersAge, History: 1, Replicas: b.opts.Replicas, Storage: jetstream.FileStorage,
	}
	err := retry(ctx, setupTransient, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, err := b.js.CreateOrUpdateKeyValue(ctx, want)
		return err
	})
	if err != nil {
		return fmt.Errorf("bucket %s: %w", want.Bucket, err)
	}
	return nil
}
