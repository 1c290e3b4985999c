package threads

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/httpapi"
	"github.com/agwire/agwire/internal/snapshot"
	"github.com/agwire/agwire/internal/subject"
	"github.com/agwire/agwire/pkg/agjson"
)

// defaultPage is how many threads a page lists unless it is said.
const defaultPage = 50

// Routes are the patterns of the read API.
func (t *Threads) Routes() map[string]http.Handler {
	return map[string]http.Handler{
		"GET /v1/threads":          t.handler(t.list),
		"GET /v1/threads/{thread}": t.handler(t.get),
	}
}

// handler answers with what serve returns, unless serve has answered itself.
func (t *Threads) handler(serve func(http.ResponseWriter, *http.Request) *httpapi.Error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), t.cfg.Wait)
		defer cancel()
		code := "ok"
		if e := serve(w, r.WithContext(ctx)); e != nil {
			code = e.Code
			e.Write(w)
		}
		t.m.requests.WithLabelValues(code).Inc()
	})
}

func badParameter(name, want string) *httpapi.Error {
	return &httpapi.Error{Status: http.StatusBadRequest, Code: "bad_parameter", Message: name + ": want " + want}
}

// failed is the answer to an error that the caller has no part in.
func (t *Threads) failed(thread string, err error) *httpapi.Error {
	switch {
	case errors.Is(err, bus.ErrNotFound):
		return &httpapi.Error{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such thread"}
	case errors.Is(err, bus.ErrTrimmed):
		return &httpapi.Error{Status: http.StatusGone, Code: "trimmed", Message: "the log no longer holds the thread from its beginning"}
	case errors.Is(err, bus.ErrPoison), errors.Is(err, bus.ErrPanic):
		t.deps.Log.Error("a thread cannot be read", zap.String("thread", thread), zap.Error(err))
		return &httpapi.Error{Status: http.StatusInternalServerError, Code: "unreadable", Message: "the log of the thread cannot be folded"}
	}
	if !errors.Is(err, context.Canceled) {
		t.deps.Log.Warn("a thread was not read", zap.String("thread", thread), zap.Error(err))
	}
	return &httpapi.Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: "the store does not answer", Retry: time.Second}
}

// get answers with a thread's fold.
func (t *Threads) get(w http.ResponseWriter, r *http.Request) *httpapi.Error {
	thread := r.PathValue("thread")
	if subject.CheckID(thread) != nil {
		return badParameter("thread", "1 to 256 bytes of UTF-8")
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badParameter("query", "parameters that are percent-encoded")
	}
	var least *bus.Cursor
	if text := query.Get("min"); text != "" {
		c, err := bus.ParseCursor(text)
		if err != nil {
			return badParameter("min", "a cursor")
		}
		least = &c
	}
	ctx := r.Context()
	known := r.Header.Get("If-None-Match")
	if known != "" {
		if at, ok := t.position(ctx, thread); ok && reaches(at, least) && matches(known, at.Cursor) {
			notModified(w, at.Cursor)
			return nil
		}
	}
	at, result, err := t.read(ctx, thread, least)
	switch {
	case err != nil:
		return t.failed(thread, err)
	case !reaches(at, least):
		return &httpapi.Error{Status: http.StatusConflict, Code: "behind", Message: "the thread has not come to the cursor that min names", Retry: time.Second}
	case known != "" && matches(known, at.Cursor):
		notModified(w, at.Cursor)
		return nil
	}
	writeThread(w, thread, at, result)
	return nil
}

// position is where the thread stands in Redis; false if that is not known.
func (t *Threads) position(ctx context.Context, thread string) (snapshot.Position, bool) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.StoreWait)
	defer cancel()
	all, err := t.deps.Store.Positions(ctx, []string{thread})
	at, ok := all[thread]
	return at, err == nil && ok
}

// read is the thread's fold as AgReduceResult: what is stored if it reaches least, else folded from the log.
func (t *Threads) read(ctx context.Context, thread string, least *bus.Cursor) (snapshot.Position, []byte, error) {
	s, err := t.load(ctx, thread)
	if errors.Is(err, snapshot.ErrDeleted) {
		return snapshot.Position{}, nil, bus.ErrNotFound
	}
	var base func() *Fold
	if err == nil {
		if reaches(s.Position, least) {
			result, err := storedResult(thread, &s)
			if err == nil {
				t.m.reads.WithLabelValues(sourceStore).Inc()
				return s.Position, result, nil
			}
			t.deps.Log.Warn("what is stored cannot be read", zap.String("thread", thread), zap.Error(err))
		} else {
			t.m.misses.WithLabelValues(missBehind).Inc()
			base = func() *Fold {
				f, err := Restore(thread, s)
				if err != nil {
					return nil
				}
				return f
			}
		}
	}
	f, err := t.fold(ctx, thread, base)
	return f.at, f.result, err
}

// reaches says whether a position is at or behind a cursor; one of a newer epoch is behind it.
func reaches(at snapshot.Position, least *bus.Cursor) bool {
	if least == nil {
		return true
	}
	c := EpochOf(at.Version).Compare(least.Epoch)
	return c > 0 || c == 0 && at.Ordinal >= least.Ordinal
}

// matches says whether an If-None-Match names the cursor.
func matches(header, cursor string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || tag == `"`+cursor+`"` {
			return true
		}
	}
	return false
}

func setTag(w http.ResponseWriter, cursor string) {
	w.Header().Set("ETag", `"`+cursor+`"`)
	w.Header().Set("Cache-Control", "no-cache")
}

func notModified(w http.ResponseWriter, cursor string) {
	setTag(w, cursor)
	w.WriteHeader(http.StatusNotModified)
}

func writeThread(w http.ResponseWriter, thread string, at snapshot.Position, result []byte) {
	setTag(w, at.Cursor)
	w.Header().Set("Content-Type", "application/json")
	head := agjson.AppendString([]byte(`{"thread":`), thread)
	head = agjson.AppendString(append(head, `,"cursor":`...), at.Cursor)
	head = strconv.AppendBool(append(head, `,"open":`...), at.OpenTurn)
	head = append(head, `,"result":`...)
	w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(result)+2))
	for _, part := range [][]byte{head, result, []byte("}\n")} {
		if _, err := w.Write(part); err != nil {
			return // the client is gone
		}
	}
}

// listed is a thread in a list.
type listed struct {
	Thread    string    `json:"thread"`
	Cursor    string    `json:"cursor"` // "" = not known now
	Open      bool      `json:"open"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// list answers with a page of threads.
func (t *Threads) list(w http.ResponseWriter, r *http.Request) *httpapi.Error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badParameter("query", "parameters that are percent-encoded")
	}
	limit := defaultPage
	if text := query.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > snapshot.MaxPage {
			return badParameter("limit", "a number of 1 to "+strconv.Itoa(snapshot.MaxPage))
		}
	}
	prefix := query.Get("prefix")
	if len(prefix) > subject.MaxID || !utf8.ValidString(prefix) {
		return badParameter("prefix", "at most 256 bytes of UTF-8")
	}
	page, err := t.deps.Store.List(r.Context(), query.Get("after"), limit, prefix)
	if errors.Is(err, snapshot.ErrCursor) {
		return badParameter("after", "the next of an earlier page")
	}
	if err != nil {
		return t.failed("", err)
	}
	out := struct {
		Threads []listed `json:"threads"`
		Next    string   `json:"next,omitempty"`
	}{Threads: make([]listed, len(page.Entries)), Next: page.Next}
	for i, e := range page.Entries {
		out.Threads[i] = listed{Thread: e.Thread, Cursor: e.Position.Cursor, Open: e.Position.OpenTurn, UpdatedAt: e.Active}
		if e.Stored {
			out.Threads[i].UpdatedAt = e.Position.UpdatedAt
		}
	}
	t.heads(r.Context(), page.Entries, out.Threads)
	httpapi.JSON(w, http.StatusOK, out)
	return nil
}

// headsAtOnce is how many heads one list asks the broker for at a time.
const headsAtOnce = 8

// heads asks the log where threads stand of which Redis has only the name. It is a help: what does not answer in time stays
// without a cursor.
func (t *Threads) heads(ctx context.Context, entries []snapshot.Entry, out []listed) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.StoreWait)
	defer cancel()
	var g errgroup.Group
	g.SetLimit(headsAtOnce)
	for i, e := range entries {
		if !e.Stored {
			g.Go(func() error {
				if head, err := t.deps.Bus.Head(ctx, e.Thread); err == nil {
					out[i].Cursor = head.Cursor().String()
				}
				return nil
			})
		}
	}
	_ = g.Wait() // none of them fails
}
