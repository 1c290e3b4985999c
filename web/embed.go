package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed page client/*.js client/folding/*.js
var files embed.FS

// index is the file that is served at the root.
const index = "page/index.html"

// policy is the Content-Security-Policy of everything the handler sends. Images and sounds of a thread are data: URLs, of
// types that the page allows. The frame of the page's one trusted-types policy inherits all of it.
const policy = "default-src 'self'; img-src 'self' data:; media-src data:; object-src 'none'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types agwire-sandbox"

type file struct {
	body        []byte
	contentType string
	etag        string
}

// Handler serves the page at the root of where it is mounted, and its modules below. It answers GET and HEAD; a path that it
// does not know is 404. Every response may be kept by a cache that asks again (ETag). Safe for concurrent use.
//
// It panics if the embedded files cannot be read or have a type that it does not know, which no build that passes its tests has.
func Handler() http.Handler {
	served, err := load(files)
	if err != nil {
		panic(fmt.Sprintf("web: %v", err))
	}
	return handler(served)
}

// handler is the files by their path below the root.
type handler map[string]file

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	f, ok := h[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", f.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}

func load(from fs.FS) (handler, error) {
	served := handler{}
	err := fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		contentType, err := contentTypeOf(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		f := file{body: body, contentType: contentType, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
		if name == index {
			name = ""
		}
		served[name] = f
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load the page: %w", err)
	}
	return served, nil
}

// contentTypeOf does not ask the system, whose answer differs from one to the next.
func contentTypeOf(name string) (string, error) {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8", nil
	case ".css":
		return "text/css; charset=utf-8", nil
	case ".js":
		return "text/javascript; charset=utf-8", nil
	case ".svg":
		return "image/svg+xml", nil
	}
	return "", fmt.Errorf("%s: no content type for it", name)
}
