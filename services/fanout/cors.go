package fanout

import (
	"net/http"
	"strings"

	"github.com/agwire/agwire/internal/httpapi"
)

// shared lets the pages that may read threads here read from a route too, and refuses the others, as an event stream does. The
// answer to a page depends on its origin, which caches are told.
func (s *Service) shared(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.share(w, r) {
			return
		}
		w.Header().Set("Access-Control-Expose-Headers", "ETag, Retry-After")
		next.ServeHTTP(w, r)
	})
}

// preflight answers a browser that asks whether a page may send what is no simple request: one with If-None-Match.
func (s *Service) preflight(w http.ResponseWriter, r *http.Request) {
	if !s.share(w, r) {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, HEAD")
	h.Set("Access-Control-Allow-Headers", "If-None-Match, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// share says whether a request may be answered, after refusing it if not.
func (s *Service) share(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h.Add("Vary", "Origin")
	if !s.allowed(r) {
		e := &httpapi.Error{Status: http.StatusForbidden, Code: "origin", Message: "pages of this origin may not read here"}
		s.m.refused.WithLabelValues(e.Code).Inc()
		e.Write(w)
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
	}
	return true
}

// preflightOf is the pattern of a route's preflight; "" if the route is not read with GET.
func preflightOf(pattern string) string {
	path, is := strings.CutPrefix(pattern, "GET ")
	if !is {
		return ""
	}
	return "OPTIONS " + path
}
