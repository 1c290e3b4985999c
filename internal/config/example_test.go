package config_test

import (
	"fmt"
	"time"

	"github.com/agwire/agwire/internal/config"
)

func Example() {
	var cfg struct {
		NATS   config.URL
		Window int
		Drain  time.Duration
	}
	set := config.NewSet()
	set.Add("NATS",
		&config.URLVar{Name: "nats-url", To: &cfg.NATS, Default: "nats://127.0.0.1:4222",
			Schemes: []string{"nats", "tls"}, Many: true, Help: "NATS servers"},
		&config.IntVar{Name: "nats-window", To: &cfg.Window, Default: 256, Min: 1, Max: 998,
			Unit: "messages", Help: "messages in flight beyond the last contiguous ack"},
		&config.DurationVar{Name: "drain", To: &cfg.Drain, Default: 10 * time.Second, Help: "budget at shutdown"},
	)

	args, err := set.Load(config.Source{
		Args:    []string{"--nats-window=64", "thread-1"},
		Environ: []string{"AGWIRE_NATS_URL=nats://user:secret@nats:4222"},
	})
	fmt.Println(args, err)
	fmt.Println(cfg.NATS, cfg.Window, cfg.Drain)

	_, err = set.Load(config.Source{
		Args:    []string{"--nats-window=0"},
		Environ: []string{"AGWIRE_DRAIN=soon", "AGWIRE_NATS_UR=nats://nats:4222"},
	})
	fmt.Println(err)
	// Output:
	// [thread-1] <nil>
	// nats://[redacted]@nats:4222 64 10s
	// nats-window: 0 messages is out of range: 1 to 998 messages (--nats-window)
	// drain: "soon" is no duration such as 300ms, 5s or 1h30m (AGWIRE_DRAIN)
	// AGWIRE_NATS_UR: is no setting; did you mean AGWIRE_NATS_URL?
}
