package fanout_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agwire/agwire/services/fanout"
)

// The read API is for the pages that may read event streams, and for no others.
func TestReadFromPages(t *testing.T) {
	r := newRig(t, options{change: func(c *fanout.Config) { c.Origins = []string{"https://app.example.com"} }})
	l := r.thread("t")
	l.append(t, first())
	ask := func(method, path, origin string, header ...string) *http.Response {
		t.Helper()
		req := must(http.NewRequestWithContext(t.Context(), method, r.http.URL+path, nil))(t)
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp := must(r.http.Client().Do(req))(t)
		ok(t, resp.Body.Close())
		return resp
	}
	for _, path := range []string{"/v1/threads", "/v1/threads/t", "/v1/threads/none"} {
		plain := ask(http.MethodGet, path, "")
		for origin, may := range map[string]bool{
			"": true, "https://app.example.com": true, "http://localhost:5173": true, "https://evil.example.com": false, "null": false,
		} {
			for _, method := range []string{http.MethodGet, http.MethodOptions} {
				resp := ask(method, path, origin)
				want, allow := plain.StatusCode, origin
				if method == http.MethodOptions {
					want = http.StatusNoContent
				}
				if !may {
					want, allow = http.StatusForbidden, ""
				}
				if got := resp.Header.Get("Access-Control-Allow-Origin"); resp.StatusCode != want || got != allow {
					t.Errorf("%s %s from %q: %d for %q, want %d", method, path, origin, resp.StatusCode, got, want)
				}
				if resp.Header.Get("Vary") != "Origin" {
					t.Errorf("%s %s from %q: Vary is %q", method, path, origin, resp.Header.Get("Vary"))
				}
			}
		}
	}
	page := ask(http.MethodGet, "/v1/threads/t", "https://app.example.com")
	if !strings.Contains(page.Header.Get("Access-Control-Expose-Headers"), "ETag") || page.Header.Get("ETag") == "" {
		t.Errorf("a page does not see the ETag: %v", page.Header)
	}
	pre := ask(http.MethodOptions, "/v1/threads/t", "https://app.example.com", "Access-Control-Request-Headers", "if-none-match",
		"Access-Control-Request-Method", "GET")
	if !strings.Contains(pre.Header.Get("Access-Control-Allow-Headers"), "If-None-Match") || !strings.Contains(pre.Header.Get("Access-Control-Allow-Methods"), "GET") {
		t.Errorf("If-None-Match is not allowed: %v", pre.Header)
	}
	again := ask(http.MethodGet, "/v1/threads/t", "https://app.example.com", "If-None-Match", page.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified || again.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("a page that has it already is answered %d, %v", again.StatusCode, again.Header)
	}
}
