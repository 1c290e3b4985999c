package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Error is an answer that says no.
type Error struct {
	Status  int           // HTTP status
	Code    string        // for programs: lower case, words joined by _
	Message string        // for people; no content
	Retry   time.Duration // Retry-After, rounded up to seconds; 0 = none
	More    any           // marshalled beside "error"; nil = nothing
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

type errorBody struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	State any `json:"state,omitempty"`
}

// Write answers with e.
func (e *Error) Write(w http.ResponseWriter) {
	var b errorBody
	b.Error.Code, b.Error.Message, b.State = e.Code, e.Message, e.More
	if e.Retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((e.Retry+time.Second-1)/time.Second)))
	}
	JSON(w, e.Status, b)
}

// JSON answers with a status and v as JSON.
func JSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer cannot be written"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n'))
}
