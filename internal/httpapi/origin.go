package httpapi

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Local says whether a request is no page's, or comes from a page of this very server or of the loopback. A browser sends some
// requests for any page without asking first; those must not write.
func Local(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && (strings.EqualFold(u.Host, r.Host) || loopback(u.Hostname()))
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
