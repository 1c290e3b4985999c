package client

import (
	"errors"
	"fmt"
)

// Sentinels. Each exists because some caller branches on it.
var (
	// ErrClosed: the client or the subscription was closed here, or the subscription was replaced.
	ErrClosed = errors.New("client: closed")
	// ErrFold: the events of a thread could not be folded, though the thread was asked for anew.
	ErrFold = errors.New("client: the thread does not fold")
)

// CloseError is a connection that the server has ended.
type CloseError struct {
	Code   int    // WebSocket close code
	Reason string // the server's words
}

// Error is the code and the server's words.
func (e *CloseError) Error() string {
	return fmt.Sprintf("client: the server closed the connection: %d %s", e.Code, e.Reason)
}

// Final tells whether the server says not to come back.
func (e *CloseError) Final() bool { return e.Code >= 4400 && e.Code <= 4499 }

// StatusError is a connection that was refused with an HTTP status.
type StatusError struct {
	Status int
}

// Error is the status.
func (e *StatusError) Error() string { return fmt.Sprintf("client: the server answered %d", e.Status) }

// Final tells whether another attempt would be answered the same.
func (e *StatusError) Final() bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != 408 && e.Status != 425 && e.Status != 429
}

// RefusedError is a thread that the server refuses.
type RefusedError struct {
	Thread  string
	Code    string // for programs, such as "bad_thread"
	Message string // for people
}

// Error is the code and the server's words.
func (e *RefusedError) Error() string { return "client: " + e.Code + ": " + e.Message }
