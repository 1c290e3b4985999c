package agtest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

// Census finds every leaf of recorded frames in the events they became, or in a list of drops.
//
// A leaf is a scalar that is not null and not an empty string. A string is found where an event holds it, whole or inside a
// longer one, the deltas of a block taken together. A number or a boolean says something only with its name, so it is found
// where a member of the same name has the same value; names are compared without case and underscores.
//
// The list of drops has a line for each path that is in no event: `<frame type>/<path> why`, with [] for an index and * for the
// keys that Free names. A path that is listed and always found is an error, and so is one that no frame has.
type Census struct {
	Drops string                    // path of the list
	Kind  func(frame Object) string // names a frame's type; it begins the path
	Free  func(path string) bool    // says that the members at a path have free names, told as *

	Leaves int // of all streams so far
	Absent int // of them, those in no event

	drops map[string]bool
	need  map[string]bool
	lost  map[string]string
}

// Stream takes one stream.
func (c *Census) Stream(t testing.TB, name string, frames []json.RawMessage, events []agjson.Event) {
	t.Helper()
	if c.need == nil {
		c.need, c.lost, c.drops = map[string]bool{}, map[string]string{}, readDrops(t, c.Drops)
	}
	h := haystack{named: map[string]bool{}, strings: map[string]bool{}}
	deltas := map[string]*strings.Builder{}
	for _, o := range Objects(events) {
		if d, ok := o["delta"].(string); ok {
			key := fmt.Sprint(o["id"], o["toolCallId"])
			if deltas[key] == nil {
				deltas[key] = &strings.Builder{}
			}
			deltas[key].WriteString(d)
		}
		h.add("", o)
	}
	for _, b := range deltas {
		h.text = append(h.text, b.String())
	}
	for _, raw := range frames {
		frame, ok := Decode(raw).(Object)
		if !ok {
			continue
		}
		c.walk(name, c.Kind(frame), "", frame, &h)
	}
}

func readDrops(t testing.TB, path string) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	drops := map[string]bool{}
	for i, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		if len(f) < 2 {
			t.Fatalf("%s:%d: want a path and why", path, i+1)
		}
		drops[f[0]] = true
	}
	return drops
}

func (c *Census) walk(stream, path, name string, v any, h *haystack) {
	switch x := v.(type) {
	case Object:
		for _, k := range keys(x, nil) {
			at := path + "/" + k
			if c.Free != nil && c.Free(path) {
				at = path + "/*"
			}
			c.walk(stream, at, k, x[k], h)
		}
	case []any:
		for _, m := range x {
			c.walk(stream, path+"/[]", name, m, h)
		}
	case nil:
	default:
		if v == "" {
			return
		}
		c.Leaves++
		if h.has(name, v) {
			return
		}
		c.Absent++
		c.need[path] = true
		if !c.drops[path] {
			c.lost[path] = fmt.Sprintf("%s: %s", stream, show(v))
		}
	}
}

// Done reports what is lost and what is listed in vain.
func (c *Census) Done(t testing.TB) {
	t.Helper()
	for _, path := range slices.Sorted(mapKeys(c.lost)) {
		t.Errorf("%s is in no event and not in %s (%s)", path, c.Drops, c.lost[path])
	}
	for path := range c.drops {
		if !c.need[path] {
			t.Errorf("%s lists %s, but nothing at that path is lost", c.Drops, path)
		}
	}
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// haystack is what events hold.
type haystack struct {
	named   map[string]bool // name=value of numbers and booleans
	strings map[string]bool
	text    []string
}

func (h *haystack) add(name string, v any) {
	switch x := v.(type) {
	case Object:
		for k, m := range x {
			h.add(k, m)
		}
	case []any:
		for _, m := range x {
			h.add(name, m)
		}
	case string:
		if !h.strings[x] {
			h.strings[x] = true
			h.text = append(h.text, x)
		}
	case nil:
	default:
		h.named[named(name, x)] = true
	}
}

func named(name string, v any) string {
	return strings.ToLower(strings.ReplaceAll(name, "_", "")) + "=" + fmt.Sprint(v)
}

func (h *haystack) has(name string, v any) bool {
	s, ok := v.(string)
	if !ok {
		return h.named[named(name, v)]
	}
	if h.strings[s] {
		return true
	}
	if len(s) < 3 {
		return false
	}
	for _, t := range h.text {
		if strings.Contains(t, s) {
			return true
		}
	}
	return false
}
