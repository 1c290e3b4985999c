package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/agwire/agwire/internal/config"
)

func probeCommand() command {
	return command{
		name: "probe", args: "URL", minArgs: 1, maxArgs: 1, summary: "ask a service whether it is ready, for container health checks",
		long: "Exits 0 when the URL answers 2xx in time, else 1.",
		setup: func(set *config.Set) runFunc {
			var timeout time.Duration
			set.Add("Probe", &config.DurationVar{Name: "timeout", To: &timeout, Default: 2 * time.Second, Min: time.Millisecond, Max: time.Minute,
				FlagOnly: true, Help: "how long the answer may take"})
			return func(ctx context.Context, _ *process, args []string) error {
				ctx, cancel := context.WithTimeout(ctx, timeout)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, args[0], nil)
				if err != nil {
					return usageError("URL: is no http URL")
				}
				resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				if resp.StatusCode/100 != 2 {
					return fmt.Errorf("answered %d", resp.StatusCode)
				}
				return nil
			}
		},
	}
}
