package e2e_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// browser is a Chromium: the one that AGWIRE_TEST_CHROMIUM names, or the one on the PATH; "" if there is none.
func browser() string {
	if path := os.Getenv("AGWIRE_TEST_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// look opens a page in a browser of its own and returns what stands there once want does, or in the end.
func look(t *testing.T, page, want string) string {
	t.Helper()
	var dom string
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
			"--user-data-dir="+t.TempDir(), "--virtual-time-budget=8000", "--dump-dom", page)
		out, err := cmd.Output()
		cancel()
		if err != nil {
			t.Fatalf("the browser: %v", err)
		}
		if dom = string(out); strings.Contains(dom, want) {
			break
		}
	}
	return dom
}

// A real browser shows the threads, and one thread's text, tools and outcome.
func TestPageInABrowser(t *testing.T) {
	if browser() == "" {
		fmt.Fprintln(os.Stderr, "NOT RUN: the page in a browser. Name a Chromium with AGWIRE_TEST_CHROMIUM.")
		return
	}
	s := startUp(t, t.TempDir())
	all := corpus(t)
	for thread, rec := range map[string]recording{
		"tells": named(t, all, "claude", "text.partial"),
		"calls": named(t, all, "vercel", "vercel/tool_static"),
		"fails": named(t, all, "vercel", "vercel/error_midstream"),
	} {
		if err := pushing(t.Context(), s.url("ingest"), invoke{thread: thread, id: "1", rec: rec}, 100*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	for thread, words := range map[string][]string{
		"tells": {"left the Zürich warehouse", "tells", "calls", "fails"},
		"calls": {"lookup", "done"},
		"fails": {"error"},
	} {
		dom := look(t, s.url("fanout")+"/#/t/"+url.PathEscape(thread), words[0])
		for _, w := range words {
			if !strings.Contains(dom, w) {
				t.Errorf("thread %s: the page does not say %q", thread, w)
			}
		}
	}
}
