package fanout

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agwire/agwire/internal/httpapi"
)

// checkOrigin says whether text is an origin that can be allowed.
func checkOrigin(text string) error {
	if text == "*" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return errors.New("an origin is scheme://host or scheme://host:port, or *")
	}
	return nil
}

// allowed says whether a page of the request's origin may read threads: one of this server, of the loopback, or of the
// configured ones. A request without an origin is of no page.
func (s *Service) allowed(r *http.Request) bool {
	if httpapi.Local(r) {
		return true
	}
	origin := r.Header.Get("Origin")
	return slices.ContainsFunc(s.cfg.Origins, func(o string) bool { return o == "*" || strings.EqualFold(o, origin) })
}
