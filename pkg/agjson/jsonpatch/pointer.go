package jsonpatch

import (
	"strconv"
	"strings"
)

// tokens splits a JSON Pointer (RFC 6901); ok is false when it is not one.
func tokens(p string) (list []string, ok bool) {
	if p == "" {
		return nil, true
	}
	if p[0] != '/' {
		return nil, false
	}
	list = strings.Split(p[1:], "/")
	for i, t := range list {
		at := strings.IndexByte(t, '~')
		if at < 0 {
			continue
		}
		for j := at; j < len(t); j++ {
			if t[j] == '~' && (j+1 == len(t) || t[j+1] != '0' && t[j+1] != '1') {
				return nil, false
			}
		}
		list[i] = unescape.Replace(t)
	}
	return list, true
}

// arrayIndex reads an index below limit: digits, no leading zero.
func arrayIndex(t string, limit int) (int, bool) {
	if t == "" || len(t) > 1 && t[0] == '0' || t[0] < '0' || t[0] > '9' {
		return 0, false
	}
	i, err := strconv.Atoi(t)
	return i, err == nil && i < limit
}

// child is the value that a token names, or nil.
func (n *node) child(t string) *node {
	n.open()
	switch {
	case n.raw != nil:
		return nil
	case n.obj != nil:
		if i := n.obj.find(t); i >= 0 {
			return n.obj.members[i].val
		}
		return nil
	}
	if i, ok := arrayIndex(t, len(n.items)); ok {
		return n.items[i]
	}
	return nil
}
