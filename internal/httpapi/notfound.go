package httpapi

import "net/http"

// NotFound answers whatever the API has no route for, by path or by method: 404 not_found. It is mounted at /v1/, so that what is
// asked for there never falls to a page's handler.
func NotFound() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e := &Error{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such path, or not for this method"}
		e.Write(w)
	})
}
