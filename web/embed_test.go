package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func get(t *testing.T, method, target string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w
}

func TestTypes(t *testing.T) {
	for target, want := range map[string]string{
		"/":                        "text/html; charset=utf-8",
		"/page/app.js":             "text/javascript; charset=utf-8",
		"/page/style.css":          "text/css; charset=utf-8",
		"/page/icon.svg":           "image/svg+xml",
		"/client/index.js":         "text/javascript; charset=utf-8",
		"/client/folding/state.js": "text/javascript; charset=utf-8",
	} {
		w := get(t, http.MethodGet, target, nil)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want {
			t.Errorf("GET %s: %d %q, want 200 %q", target, w.Code, w.Header().Get("Content-Type"), want)
		}
		if w.Body.Len() == 0 {
			t.Errorf("GET %s: no body", target)
		}
	}
}

// SPEC §13.3, §13.6: nothing but this package's own files runs.
func TestPolicy(t *testing.T) {
	for _, target := range []string{"/", "/page/app.js", "/nothing"} {
		header := get(t, http.MethodGet, target, nil).Header()
		directives := map[string]string{}
		for d := range strings.SplitSeq(header.Get("Content-Security-Policy"), ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(d), " ")
			directives[name] = value
		}
		for name, want := range map[string]string{
			"default-src": "'self'", "object-src": "'none'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
			"img-src": "'self' data:", "require-trusted-types-for": "'script'",
		} {
			if directives[name] != want {
				t.Errorf("GET %s: %s %q, want %q", target, name, directives[name], want)
			}
		}
		for _, name := range []string{"script-src", "style-src", "connect-src", "frame-src"} {
			if value, ok := directives[name]; ok {
				t.Errorf("GET %s: %s %q loosens default-src", target, name, value)
			}
		}
		if strings.Contains(header.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("GET %s: the policy allows what is unsafe", target)
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("GET %s: types may be sniffed or the referrer told", target)
		}
	}
}

func TestUnknownPaths(t *testing.T) {
	for _, target := range []string{
		"/page", "/page/", "/client/", "/page/index.html", "/page/nothing.js", "/v1/threads", "/embed.go", "/../web/embed.go", "/page/../embed.go",
		"/client/package.json", "/client/test/fold.test.js", "/client/testserver/main.js",
	} {
		if w := get(t, http.MethodGet, target, nil); w.Code != http.StatusNotFound {
			t.Errorf("GET %s: %d, want 404", target, w.Code)
		}
	}
}

func TestMethods(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		w := get(t, method, "/", nil)
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s /: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
	w := get(t, http.MethodHead, "/page/app.js", nil)
	if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") == "" {
		t.Errorf("HEAD: %d with %d bytes, length %q", w.Code, w.Body.Len(), w.Header().Get("Content-Length"))
	}
}

func TestRevalidation(t *testing.T) {
	first := get(t, http.MethodGet, "/page/app.js", nil)
	etag := first.Header().Get("ETag")
	if etag == "" || first.Header().Get("Cache-Control") != "no-cache" {
		t.Fatalf("ETag %q, Cache-Control %q", etag, first.Header().Get("Cache-Control"))
	}
	if other := get(t, http.MethodGet, "/page/dom.js", nil).Header().Get("ETag"); other == etag {
		t.Error("two files have one ETag")
	}
	w := get(t, http.MethodGet, "/page/app.js", http.Header{"If-None-Match": {etag}})
	if w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("If-None-Match: %d with %d bytes, want 304", w.Code, w.Body.Len())
	}
	if w := get(t, http.MethodGet, "/page/app.js", http.Header{"If-None-Match": {`"old"`}}); w.Code != http.StatusOK {
		t.Errorf("another ETag: %d, want 200", w.Code)
	}
}

func TestMountedBelowAPath(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/agwire/", http.StripPrefix("/agwire", Handler()))
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/agwire/", nil))
	if w.Code != http.StatusOK {
		t.Errorf("GET /agwire/: %d", w.Code)
	}
	if regexp.MustCompile(`(?:src|href)="/`).MatchString(w.Body.String()) {
		t.Error("the page names a path from the root")
	}
}

func TestUnknownTypeIsRefused(t *testing.T) {
	if _, err := load(fstest.MapFS{"page/a.exe": {Data: []byte("x")}}); err == nil {
		t.Error("a file without a content type was taken")
	}
}

// scripts are the served modules by path.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".js" {
			body, err := fs.ReadFile(files, name)
			out[name] = string(body)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryImportIsServed(t *testing.T) {
	all := scripts(t)
	from := regexp.MustCompile(`(?m)^(?:import|export)\b[^;]*?from '([^']+)';`)
	for name, body := range all {
		for _, m := range from.FindAllStringSubmatch(body, -1) {
			if !strings.HasPrefix(m[1], ".") {
				t.Errorf("%s imports %s: not a file of this package", name, m[1])
			} else if target := path.Join(path.Dir(name), m[1]); all[target] == "" {
				t.Errorf("%s imports %s: not served", name, target)
			}
		}
	}
}

// What a thread holds never becomes markup or code (SPEC §13.3, §13.6); the policy would stop it, this keeps it from being tried.
func TestNoStringBecomesCode(t *testing.T) {
	banned := regexp.MustCompile(`\.(?:innerHTML|outerHTML)\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(|setTimeout\('|DOMParser|createContextualFragment|javascript:`)
	for name, body := range scripts(t) {
		if found := banned.FindString(body); found != "" {
			t.Errorf("%s has %s", name, found)
		}
		if n := strings.Count(body, "srcdoc"); n > 0 && name != "page/safe.js" {
			t.Errorf("%s writes a frame's document", name)
		}
	}
	page, err := files.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	inline := regexp.MustCompile(`<script(?:\s[^>]*)?>\s*[^<\s]|<style|\son[a-z]+=|\sstyle=`)
	if found := inline.Find(page); found != nil {
		t.Errorf("the page has %s inline", found)
	}
}

func TestPageNamesItsModules(t *testing.T) {
	page, err := files.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range regexp.MustCompile(`(?:rel="modulepreload" href|type="module" src)="([^"]+)"`).FindAllSubmatch(page, -1) {
		named = append(named, string(m[1]))
	}
	for name := range scripts(t) {
		if !slices.Contains(named, name) {
			t.Errorf("index.html does not name %s, so it is loaded late", name)
		}
	}
	for _, name := range named {
		if scripts(t)[name] == "" {
			t.Errorf("index.html names %s, which is not served", name)
		}
	}
}

// The client's check has the rows of the one table of fields, so that the two cannot drift apart.
func TestTableIsTheProtocols(t *testing.T) {
	source, err := os.ReadFile("../pkg/agjson/protocol.table")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, ok := strings.Cut(string(source), "enum Role")
	rows, _, found := strings.Cut(rows, "# ── input (§3) ──")
	if !ok || !found {
		t.Fatal("the table has another shape")
	}
	rows = "enum Role" + strings.TrimRight(rows, "\n")
	_, copied, ok := strings.Cut(scripts(t)["client/table.js"], "`\n")
	copied, _, found = strings.Cut(copied, "\n`;")
	if !ok || !found {
		t.Fatal("client/table.js has another shape")
	}
	if copied != rows {
		t.Error("client/table.js differs from protocol.table: copy its rows up to the input types")
	}
}
