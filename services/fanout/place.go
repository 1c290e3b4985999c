package fanout

import (
	"errors"

	"github.com/agwire/agwire/internal/bus"
)

// Places to start at, as clients name them.
const (
	fromNow   = "now"
	fromStart = "start"
	fromLive  = "live"
)

// place is where a subscription starts: named, or behind a cursor.
type place struct {
	name string     // "" = at
	at   bus.Cursor // what the client has
}

var errPlace = errors.New("want now, start, live or a cursor")

// parsePlace reads a place; "" is now.
func parsePlace(text string) (place, error) {
	switch text {
	case "", fromNow:
		return place{name: fromNow}, nil
	case fromStart, fromLive:
		return place{name: text}, nil
	}
	c, err := bus.ParseCursor(text)
	if err != nil {
		return place{}, errPlace
	}
	return place{at: c}, nil
}
