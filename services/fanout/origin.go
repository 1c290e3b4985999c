package fanout

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
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
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return s.anyOrigin()
	}
	if strings.EqualFold(u.Host, r.Host) || loopback(u.Hostname()) {
		return true
	}
	for _, o := range s.cfg.Origins {
		if o == "*" || strings.EqualFold(o, origin) {
			return true
		}
	}
	return false
}

func (s *Service) anyOrigin() bool {
	for _, o := range s.cfg.Origins {
		if o == "*" {
			return true
		}
	}
	return false
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
