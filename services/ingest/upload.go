package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/framing"
	"github.com/agwire/agwire/internal/httpapi"
	"github.com/agwire/agwire/internal/subject"
	"github.com/agwire/agwire/pkg/agjson/normalizer/sources"
)

// State is the answer of both methods.
type State struct {
	Thread string `json:"thread"`
	Invoke string `json:"invoke"`
	Stored int64  `json:"stored"` // frames 0 to Stored-1 are in the log: go on with Stored
	Ended  bool   `json:"ended"`
	Reason string `json:"reason,omitempty"` // why it ended: done, truncated, idle, cancel
}

// refusal is an answer that says no; retry is 0 where coming back would not help.
func refusal(status int, code, message string, retry time.Duration) *httpapi.Error {
	return &httpapi.Error{Status: status, Code: code, Message: message, Retry: retry}
}

// upload is what a request asks for.
type upload struct {
	thread, invoke string
	start          bus.InvokeStart
	from           int64
	end            bool
	exit           int
	format         framing.Format
}

func state(u *upload, st bus.InvokeState) State {
	s := State{Thread: u.thread, Invoke: u.invoke, Stored: st.Next, Ended: st.Ended, Reason: string(st.End.Reason)}
	if st.Ended {
		s.Stored-- // the end has an index too
	}
	return s
}

// ids reads the path.
func ids(r *http.Request) (thread, invoke string, bad *httpapi.Error) {
	thread, invoke = r.PathValue("thread"), r.PathValue("invoke")
	for _, id := range [...]struct{ name, v string }{{"thread", thread}, {"invoke", invoke}} {
		if err := subject.CheckID(id.v); err != nil {
			return "", "", refusal(http.StatusBadRequest, "bad_"+id.name, err.Error(), 0)
		}
	}
	return thread, invoke, nil
}

var parameters = []string{"framework", "turn", "from", "end", "exit", "mapper", "format"}

// parse reads the whole request but its body; the refusal names every bad parameter.
func parse(r *http.Request) (*upload, *httpapi.Error) {
	thread, invoke, bad := ids(r)
	if bad != nil {
		return nil, bad
	}
	u := &upload{thread: thread, invoke: invoke, end: true}
	q, err := url.ParseQuery(r.URL.RawQuery)
	var wrong []string
	fail := func(name, want string) { wrong = append(wrong, name+": want "+want) }
	if err != nil {
		fail("query", "percent-encoded text")
	}
	for name := range q {
		if !slices.Contains(parameters, name) {
			fail(name, "no such parameter; there are "+strings.Join(parameters, ", "))
		}
	}
	u.start = bus.InvokeStart{Source: q.Get("framework"), Turn: q.Get("turn"), Mapper: q.Get("mapper"), Trace: r.Header.Get("traceparent")}
	if err := checkSource(u.start.Source); err != nil {
		fail("framework", err.Error())
	}
	if u.start.Turn != "" {
		if err := subject.CheckID(u.start.Turn); err != nil {
			fail("turn", "an id: "+err.Error())
		}
	}
	if len(u.start.Trace) > subject.MaxID || len(u.start.Mapper) > subject.MaxID {
		fail("traceparent, mapper", fmt.Sprintf("at most %d bytes", subject.MaxID))
	}
	if v := q.Get("from"); v != "" {
		if u.from, err = strconv.ParseInt(v, 10, 64); err != nil || u.from < 0 {
			fail("from", "the index of the body's first frame, from 0")
		}
	}
	switch q.Get("end") {
	case "", "true":
	case "false":
		u.end = false
	default:
		fail("end", "true or false")
	}
	if v := q.Get("exit"); v != "" {
		if u.exit, err = strconv.Atoi(v); err != nil || u.exit < -1 || u.exit > 255 {
			fail("exit", "an exit status, -1 to 255")
		}
	}
	u.format = format(q.Get("format"), r.Header.Get("Content-Type"), fail)
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return nil, refusal(http.StatusBadRequest, "bad_parameter", strings.Join(wrong, "; "), 0)
	}
	return u, nil
}

func format(name, contentType string, fail func(name, want string)) framing.Format {
	switch name {
	case "ndjson":
		return framing.NDJSON
	case "sse":
		return framing.SSE
	case "":
	default:
		fail("format", "ndjson or sse")
	}
	switch mime, _, _ := strings.Cut(contentType, ";"); strings.TrimSpace(strings.ToLower(mime)) {
	case "text/event-stream":
		return framing.SSE
	case "application/x-ndjson", "application/jsonl":
		return framing.NDJSON
	}
	return framing.Auto
}

// checkSource refuses a framework by name before anything is stored under it.
func checkSource(name string) error {
	if slices.Contains(sources.Built(), name) {
		return nil
	}
	built := strings.Join(sources.Built(), ", ")
	switch {
	case name == "":
		return errors.New("one of " + built)
	case slices.Contains(sources.Names(), name):
		return fmt.Errorf("one that is built: %s; %s is not yet", built, name)
	}
	return errors.New("one of " + built)
}

func (s *Service) get(w http.ResponseWriter, r *http.Request) {
	thread, invoke, bad := ids(r)
	if bad != nil {
		s.refuse(w, bad, nil)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Hold)
	defer cancel()
	st, err := s.deps.Bus.InvokeState(ctx, thread, invoke)
	if err != nil {
		s.refuse(w, s.refusalOf(err), nil)
		return
	}
	httpapi.JSON(w, http.StatusOK, state(&upload{thread: thread, invoke: invoke}, st))
}

func (s *Service) post(w http.ResponseWriter, r *http.Request) {
	u, bad := parse(r)
	if bad == nil && !httpapi.Local(r) {
		bad = refusal(http.StatusForbidden, "origin", "pages of other origins may not send frames", 0)
	}
	control := http.NewResponseController(w)
	if bad == nil {
		bad = s.enter(u.thread, control)
	}
	if bad != nil {
		s.refuse(w, bad, nil)
		return
	}
	defer s.leave(u.thread, control)
	octx, cancel := context.WithTimeout(r.Context(), s.cfg.Hold)
	defer cancel()
	a, st, err := s.deps.Bus.OpenInvoke(octx, u.thread, u.invoke, u.start)
	switch {
	case errors.Is(err, bus.ErrEnded):
		s.again(w, r, u, st)
		return
	case err != nil:
		s.refuse(w, s.refusalOf(err), nil)
		return
	}
	defer a.Close()
	if u.from > st.Next {
		have := state(u, st)
		s.refuse(w, refusal(http.StatusConflict, "gap", "the body begins behind the next frame wanted", 0), &have)
		return
	}
	stop := s.beat(u)
	bad = s.take(r, u, a)
	stop()
	s.answer(w, r, u, a, bad)
}

// beat says that the upload lives, at once and then every Beat, until the function it returns is called. Without that a long
// silence, a tool that takes an hour, would be taken for a producer that died.
func (s *Service) beat(u *upload) (stop func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(s.cfg.Beat)
		defer tick.Stop()
		for {
			if err := s.deps.Bus.Beat(u.thread, u.invoke); err != nil {
				s.deps.Log.Debug("a beat was lost", zap.String("svc", "ingest"), zap.Error(err))
			}
			select {
			case <-tick.C:
			case <-over:
				return
			}
		}
	})
	return func() { close(over); wg.Wait() }
}

// take reads the body and queues its frames. It returns why it stopped before the end; nil at a clean end.
func (s *Service) take(r *http.Request, u *upload, a *bus.FrameAppender) *httpapi.Error {
	body := framing.NewReader(r.Body, framing.Options{Format: u.format, MaxFrame: s.cfg.MaxFrame})
	frames, size := s.m.frames.WithLabelValues(u.start.Source), s.m.bytes.WithLabelValues(u.start.Source)
	for i := u.from; ; i++ {
		f, err := body.Next()
		switch {
		case err == io.EOF:
			return nil
		case s.isLeaving():
			return refusal(http.StatusServiceUnavailable, "draining", "this server is leaving", time.Second)
		case err != nil:
			return bodyRefusal(err)
		}
		if err := s.append(r.Context(), a, i, bytes.Clone(f.Data)); err != nil {
			return s.refusalOf(err)
		}
		frames.Inc()
		size.Add(float64(len(f.Data)))
	}
}

// bodyRefusal says what is wrong with a body.
func bodyRefusal(err error) *httpapi.Error {
	var fe *framing.Error
	switch {
	case errors.Is(err, framing.ErrTooLarge):
		return refusal(http.StatusRequestEntityTooLarge, "frame_too_large", err.Error(), 0)
	case errors.As(err, &fe):
		return refusal(http.StatusBadRequest, "bad_frame", fe.Error(), 0)
	}
	return refusal(http.StatusBadRequest, "body_cut", "the body ended before its end", 0)
}

// append waits for room in the window, and no longer than Hold.
func (s *Service) append(ctx context.Context, a *bus.FrameAppender, index int64, frame []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Hold)
	defer cancel()
	return a.Append(ctx, index, frame)
}

// answer ends the invoke where that is wanted, waits until what was queued is stored, and says what is.
func (s *Service) answer(w http.ResponseWriter, r *http.Request, u *upload, a *bus.FrameAppender, bad *httpapi.Error) {
	// The client may be gone, and what was queued is worth storing all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), s.cfg.Hold)
	defer cancel()
	began := time.Now()
	if bad == nil && u.end {
		if err := a.End(ctx, bus.End{Reason: bus.EndDone, Exit: u.exit}); err != nil {
			bad = s.refusalOf(err)
		}
	}
	sent := a.Next() // with the end, if there is one
	err := a.Flush(ctx)
	s.m.store.Observe(time.Since(began).Seconds())
	if err != nil && (bad == nil || bad.Code == "body_cut") {
		bad = s.refusalOf(err)
	}
	// What the log holds of the invoke decides: somebody else may have ended it meanwhile, and then what was stored behind that
	// end is late, however well it was stored.
	st, err := s.deps.Bus.InvokeState(ctx, u.thread, u.invoke)
	if err != nil {
		s.refuse(w, s.refusalOf(err), nil)
		return
	}
	have := state(u, st)
	if bad == nil && (st.Next < sent || st.Ended && !u.end) {
		bad = refusal(http.StatusConflict, "ended", "the invoke was ended by somebody else and takes no more frames", 0)
	}
	if bad != nil {
		s.refuse(w, bad, &have)
		return
	}
	s.m.uploads.WithLabelValues("ok").Inc()
	httpapi.JSON(w, http.StatusOK, have)
}

// again answers an upload to an invoke that has ended: nothing new is taken, and what is stored already is fine.
func (s *Service) again(w http.ResponseWriter, r *http.Request, u *upload, st bus.InvokeState) {
	have := state(u, st)
	body := framing.NewReader(r.Body, framing.Options{Format: u.format, MaxFrame: s.cfg.MaxFrame})
	n := u.from
	for n <= have.Stored {
		_, err := body.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			s.refuse(w, bodyRefusal(err), &have)
			return
		}
		n++
	}
	if n > have.Stored {
		s.refuse(w, refusal(http.StatusConflict, "ended", "the invoke has ended and takes no more frames", 0), &have)
		return
	}
	s.m.uploads.WithLabelValues("ok").Inc()
	httpapi.JSON(w, http.StatusOK, have)
}

func (s *Service) refuse(w http.ResponseWriter, bad *httpapi.Error, have *State) {
	s.m.uploads.WithLabelValues(bad.Code).Inc()
	if have != nil {
		bad.More = have
	}
	bad.Write(w)
}

// refusalOf turns an error of the bus into an answer.
func (s *Service) refusalOf(err error) *httpapi.Error {
	switch {
	case errors.Is(err, bus.ErrEnded):
		return refusal(http.StatusConflict, "ended", "the invoke has ended and takes no more frames", 0)
	case errors.Is(err, bus.ErrGap):
		return refusal(http.StatusConflict, "gap", "another upload of this invoke went on elsewhere", 0)
	case errors.Is(err, bus.ErrTooLarge):
		return refusal(http.StatusRequestEntityTooLarge, "frame_too_large", "a frame is larger than the log takes", 0)
	case errors.Is(err, bus.ErrFull):
		return refusal(http.StatusServiceUnavailable, "log_full", "the log is full", 10*time.Second)
	case errors.Is(err, context.Canceled):
		return refusal(http.StatusBadRequest, "body_cut", "the client went away", 0)
	case errors.Is(err, context.DeadlineExceeded):
		return refusal(http.StatusServiceUnavailable, "log_away", "the log does not answer", 2*time.Second)
	}
	s.deps.Log.Error("storing frames failed", zap.String("svc", "ingest"), zap.Error(err))
	return refusal(http.StatusServiceUnavailable, "log_failed", "the log failed", 2*time.Second)
}
