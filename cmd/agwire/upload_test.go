package main

import (
	"bytes"
	"strings"
	"testing"
)

// An ingest that is not there is told of on one line, with what to do.
func TestNoIngest(t *testing.T) {
	url := strings.Replace(nobody(t), "nats://u:hunter2@", "http://", 1)
	for _, args := range [][]string{{"push"}, {"exec", "--", "true"}} {
		var stderr bytes.Buffer
		flags := []string{args[0], "--ingest-url", url, "--thread", "t", "--framework", "vercel", "--give-up", "1s"}
		if code := service(t.Context(), &stderr, append(flags, args[1:]...)...); code != 1 {
			t.Errorf("%s: exit code %d", args[0], code)
		}
		got := stderr.String()
		if !strings.HasPrefix(got, "agwire "+args[0]+": dial tcp ") || strings.Count(got, "\n") != 1 ||
			!strings.HasSuffix(got, "; is agwire up running? --ingest-url names another address\n") {
			t.Errorf("%s says %s", args[0], got)
		}
	}
}
