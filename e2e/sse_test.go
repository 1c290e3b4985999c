package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// follow is a client over Server-Sent Events, as a browser's EventSource is one: it comes back with the last id it has seen. It
// returns when ctx ends, or on an answer that a browser would give up on.
func (o *observer) follow(ctx context.Context, base, from string) error {
	id := ""
	for ctx.Err() == nil {
		err := o.stream(ctx, base, from, &id)
		var final *refusedError
		if errors.As(err, &final) {
			return err
		}
		pause(50 * time.Millisecond)
	}
	return nil
}

type refusedError struct{ status string }

func (e *refusedError) Error() string { return "the stream is refused: " + e.status }

// stream is one connection of follow.
func (o *observer) stream(ctx context.Context, base, from string, id *string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+threadPath(o.thread)+"/events?from="+url.QueryEscape(from), nil)
	if err != nil {
		return err
	}
	if *id != "" {
		req.Header.Set("Last-Event-ID", *id)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		if resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests {
			return errors.New(resp.Status)
		}
		return &refusedError{resp.Status}
	}
	o.connected()
	r := bufio.NewReader(resp.Body)
	var event, data, seen string
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			event = value
		case "id":
			seen = value
		case "data":
			data += value
		}
		if line != "" {
			continue
		}
		if event != "" {
			if err := o.message(event, data, seen); err != nil {
				return err
			}
		}
		if seen != "" {
			*id = seen
		}
		event, data, seen = "", "", ""
	}
}

// message is one event of the stream.
func (o *observer) message(event, data, id string) error {
	switch event {
	case "reset":
		var m struct{ Reason string }
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			return err
		}
		o.reset(m.Reason)
	case "events":
		var m struct {
			Pair   bool
			Events []json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			return err
		}
		o.batch(m.Pair, m.Events, id)
	case "heartbeat":
	default:
		return fmt.Errorf("there is no event %q: %w", event, io.ErrUnexpectedEOF)
	}
	return nil
}
