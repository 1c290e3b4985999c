package fanout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/agwire/agwire/internal/httpapi"
	"github.com/agwire/agwire/internal/subject"
)

// padding begins an event stream: proxies and browsers pass on what is not too short.
const padding = 2 << 10

// retryMin and retryMax are how long a browser is told to wait before it comes back.
const (
	retryMin = time.Second
	retryMax = 4 * time.Second
)

// events is an event stream as it is written to.
type events struct {
	w     http.ResponseWriter
	ctl   *http.ResponseController
	stuck time.Duration
	slow  func() // called when a write makes no progress for stuck
	quit  context.CancelFunc
}

func (e *events) send(p []byte) error {
	for n := 0; n < len(p); {
		if err := e.ctl.SetWriteDeadline(time.Now().Add(e.stuck)); err != nil {
			return err
		}
		w, err := e.w.Write(p[n:min(n+pieceSize, len(p))])
		if n += w; err == nil {
			err = e.ctl.Flush()
		}
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				e.slow()
			}
			return err
		}
	}
	return nil
}

// end tells a browser when to come back. The response then ends, whole.
func (e *events) end(code int, _ string) {
	if code != closeNormal {
		_ = e.send(retry())
	}
}

func (e *events) cut() { e.quit() }

// retry spreads those who come back.
func retry() []byte {
	wait := retryMin + rand.N(retryMax-retryMin)
	return fmt.Appendf(nil, "retry: %d\n\n", wait.Milliseconds())
}

// serveEvents is an event stream from its request to its end.
func (s *Service) serveEvents(w http.ResponseWriter, r *http.Request) {
	thread, from, e := eventsRequest(r)
	if e != nil {
		s.m.refused.WithLabelValues(e.Code).Inc()
	} else if e = s.admit(r); e == nil {
		defer s.leave()
	}
	if e != nil {
		e.Write(w)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	if origin := r.Header.Get("Origin"); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Vary", "Origin")
	}
	w.WriteHeader(http.StatusOK)
	ctx, quit := context.WithCancel(r.Context())
	defer quit()
	c := newClient(ctx, s, eventStream)
	c.sink = &events{w: w, ctl: http.NewResponseController(w), stuck: s.cfg.Stuck, slow: c.isStuck, quit: quit}
	s.open(c)
	defer s.shut(c)
	c.tell(append([]byte(":"+strings.Repeat(" ", padding)+"\n\n"), retry()...))
	c.subscribe(ctx, thread, from)
	select {
	case <-c.ended:
	case <-ctx.Done():
		c.count(0)
	}
}

// eventsRequest reads what an event stream is asked for.
func eventsRequest(r *http.Request) (string, place, *httpapi.Error) {
	bad := func(code, message string) *httpapi.Error {
		return &httpapi.Error{Status: http.StatusBadRequest, Code: code, Message: message}
	}
	thread := r.PathValue("thread")
	if subject.CheckID(thread) != nil {
		return "", place{}, bad("bad_thread", "a thread's id is 1 to 256 bytes of UTF-8")
	}
	name, text := "from", r.URL.Query().Get("from")
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		name, text = "Last-Event-ID", id
	}
	from, err := parsePlace(text)
	if err != nil {
		return "", place{}, bad("bad_cursor", name+": "+err.Error())
	}
	return thread, from, nil
}
