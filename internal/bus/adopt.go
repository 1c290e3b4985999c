package bus

import (
	"context"
	"fmt"
	"strconv"

	"github.com/agwire/agwire/internal/subject"
)

// Adopt is Connect for tools that read: the number of shards is what the streams say, Options.Shards is ignored, and nothing
// is made or changed. ErrNotFound if there are no streams under the prefix, ErrMismatch if they are of another version.
func Adopt(ctx context.Context, o Options) (*Bus, error) {
	o.Shards = 1
	b, err := Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := b.adopt(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("adopt the streams: %w", err)
	}
	return b, nil
}

func (b *Bus) adopt(ctx context.Context) error {
	var resp struct {
		Config struct {
			Metadata map[string]string `json:"metadata"`
		} `json:"config"`
	}
	err := retry(ctx, transient, func(ctx context.Context) error {
		err := b.ask(ctx, "STREAM.INFO."+b.names.EventsStream(0), struct{}{}, &resp)
		if isCode(err, codeStreamMissing) {
			return ErrNotFound
		}
		return err
	})
	if err != nil {
		return err
	}
	meta := resp.Config.Metadata
	shards, err := strconv.Atoi(meta[metaShards])
	if err != nil || meta[metaVersion] != strconv.Itoa(Version) {
		return fmt.Errorf("%w: version %q, shards %q", ErrMismatch, meta[metaVersion], meta[metaShards])
	}
	b.opts.Shards = shards
	b.names, err = subject.New(b.names.Prefix(), shards)
	return err
}
