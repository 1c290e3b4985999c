package main

import (
	"context"
	"fmt"

	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/embedredis"
)

func redisCommand() command {
	return command{
		name: "redis", summary: "run the embedded Redis by itself, to try the services apart where no redis-server is at hand",
		long:    "It listens on the loopback, keeps everything in memory and saves nothing. Its URL is printed.",
		signals: true,
		setup: func(set *config.Set) runFunc {
			var port int
			set.Add("Redis", &config.IntVar{Name: "redis-port", To: &port, Default: 6379, Min: 0, Max: 65535, FlagOnly: true,
				Help: "port on 127.0.0.1; 0 is any free one"})
			return func(ctx context.Context, p *process, _ []string) error {
				srv, err := embedredis.Start(port)
				if err != nil {
					return err
				}
				defer srv.Close()
				if _, err := fmt.Fprintln(p.stdout, srv.URL()); err != nil {
					return err
				}
				<-ctx.Done()
				return nil
			}
		},
	}
}
