package client

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Places to start at; any other is a cursor, as a Batch told it.
const (
	Now   = "now"   // the whole conversation as it is, then what comes
	Start = "start" // every event of the log, then what comes
	Live  = "live"  // only what comes
)

// Subprotocol is the WebSocket sub-protocol that is spoken.
const Subprotocol = "agwire.v1"

// Options of a Client. Zero fields take the default that is named.
type Options struct {
	URL        string        // where Agwire is served: http, https, ws or wss; required
	Token      string        // sent as a bearer token; "" = none
	Header     http.Header   // sent with each connection, too
	HTTPClient *http.Client  // makes the connections; default http.DefaultClient
	MaxMessage int64         // largest message taken, bytes; default 256 MiB
	Buffer     int64         // bytes of batches that wait for one subscription's reader, about; default 8 MiB
	MinBackoff time.Duration // before the first attempt to come back; default 200ms
	MaxBackoff time.Duration // before any; default 30s
	Patience   time.Duration // for the answer to an attempt, and for hello; default 15s
	Grace      time.Duration // how long a subscription may stay behind a head that it was told; default 2s

	// OnState is told of each change of the connection, one at a time. It must not block. Optional.
	OnState func(State)
}

// State is where the connection stands.
type State struct {
	Live    bool          // connected, and welcomed by the server
	Attempt int           // attempts that failed in a row
	Wait    time.Duration // until the next attempt, when not Live
	Code    int           // how the last connection was closed; 0 = it was cut, or there was none
	Err     error         // why it is not Live
}

func (o Options) withDefaults() Options {
	size := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	dur := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	size(&o.MaxMessage, 256<<20)
	size(&o.Buffer, 8<<20)
	dur(&o.MinBackoff, 200*time.Millisecond)
	dur(&o.MaxBackoff, 30*time.Second)
	dur(&o.Patience, 15*time.Second)
	dur(&o.Grace, 2*time.Second)
	if o.HTTPClient == nil {
		o.HTTPClient = http.DefaultClient
	}
	return o
}

// validate reports every bad field at once.
func (o Options) validate() error {
	var errs []error
	check := func(ok bool, name, want string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: want %s", name, want))
		}
	}
	_, err := o.socketURL()
	check(err == nil, "URL", "http, https, ws or wss")
	check(o.MaxMessage > 0, "MaxMessage", "more than 0")
	check(o.Buffer > 0, "Buffer", "more than 0")
	check(o.MinBackoff > 0, "MinBackoff", "more than 0")
	check(o.MaxBackoff >= o.MinBackoff, "MaxBackoff", "at least MinBackoff")
	check(o.Patience > 0, "Patience", "more than 0")
	check(o.Grace > 0, "Grace", "more than 0")
	return errors.Join(errs...)
}

var errURL = errors.New("not a URL of http, https, ws or wss")

// socketURL is where the WebSocket is. Its errors do not repeat the URL, which may hold a secret.
func (o Options) socketURL() (string, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" {
		return "", errURL
	}
	switch u.Scheme {
	case "http":
		u.Scheme = "ws"
	case "https":
		u.Scheme = "wss"
	case "ws", "wss":
	default:
		return "", errURL
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/v1/ws"
	u.Fragment = ""
	return u.String(), nil
}

func (o Options) header() http.Header {
	h := o.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if o.Token != "" {
		h.Set("Authorization", "Bearer "+o.Token)
	}
	return h
}

// backoff is how long to wait after so many failures, from 1: doubled, and spread over its upper half.
func (o Options) backoff(failures int) time.Duration {
	d := min(o.MinBackoff<<min(failures-1, 20), o.MaxBackoff)
	if d <= 0 { // shifted out
		d = o.MaxBackoff
	}
	return d/2 + rand.N(d/2+1)
}
