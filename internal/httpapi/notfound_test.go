package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agwire/agwire/internal/httpapi"
)

func TestNotFound(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/v1/", httpapi.NotFound())
	mux.Handle("GET /v1/known", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(method, "/v1/nothing/here", nil))
		var b struct {
			Error struct{ Code, Message string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &b); err != nil || w.Code != http.StatusNotFound || b.Error.Code != "not_found" || b.Error.Message == "" {
			t.Errorf("%s: %d %s: %v", method, w.Code, w.Body, err)
		}
		if got := w.Header().Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: type %s", method, got)
		}
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/known", nil))
	if w.Code != http.StatusOK {
		t.Errorf("a known path is answered %d", w.Code)
	}
}
