package vercel_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
)

// leaf is one scalar, or empty container, of a JSON value.
type leaf struct {
	path  string // members and [] for items
	name  string // the last member
	value any
}

// empty is a container without content.
type empty string

func leaves(path, name string, v any, yield func(leaf)) {
	switch x := v.(type) {
	case agtest.Object:
		for k, m := range x {
			at := path + "." + k
			if strings.HasSuffix(path, ".toolExecutionMs") {
				at = path + ".<toolCallId>"
			}
			leaves(at, k, m, yield)
		}
		if len(x) == 0 {
			yield(leaf{path, name, empty("{}")})
		}
	case []any:
		for _, m := range x {
			leaves(path+"[]", name, m, yield)
		}
		if len(x) == 0 {
			yield(leaf{path, name, empty("[]")})
		}
	default:
		yield(leaf{path, name, v})
	}
}

// inventory is what the events of a stream say: values under their member's name, and texts under any. An id counts without
// what qualifies it, and base64 content as the data: URL that it was.
type inventory struct {
	named map[string]bool
	texts map[string]bool
}

func inventoryOf(events []agjson.Event) inventory {
	in := inventory{map[string]bool{}, map[string]bool{}}
	for _, o := range agtest.Objects(events) {
		delete(o, "seq")
		leaves("", "", o, func(l leaf) {
			in.named[l.name+" "+canonical(l.value)] = true
			s, ok := l.value.(string)
			if !ok || s == "" {
				return
			}
			in.texts[s] = true
			for _, rest, ok := strings.Cut(s, ":"); ok && l.name == "id"; _, rest, ok = strings.Cut(rest, ":") {
				in.texts[rest] = true
			}
		})
		if block, ok := o["block"].(agtest.Object); ok {
			if src, ok := block["source"].(agtest.Object); ok && src["type"] == "base64" {
				in.texts[fmt.Sprintf("data:%s;base64,%s", src["mediaType"], src["data"])] = true
			}
		}
	}
	return in
}

func (in inventory) has(l leaf) bool {
	if in.named[l.name+" "+canonical(l.value)] {
		return true
	}
	s, ok := l.value.(string)
	return ok && in.texts[s]
}

// drops are the paths that do not show in the events under their own name or as a text, each with the reason.
func drops(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/drops.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		path, why, ok := strings.Cut(line, " ")
		if !ok || out[path] != "" {
			t.Fatalf("testdata/drops.txt:%d: want a path, once, and why", i+1)
		}
		out[path] = strings.TrimSpace(why)
	}
	return out
}

// TestCensus: every leaf of every recorded frame is in the events, or is listed as dropped; and no more is listed than is dropped.
func TestCensus(t *testing.T) {
	listed := drops(t)
	used := map[string]bool{}
	missing := map[string]string{}
	total := 0
	for _, s := range streams(t) {
		in := inventoryOf(run(s))
		for _, raw := range s.frames {
			raw = unwrap(raw)
			frame, ok := agtest.Decode(raw).(agtest.Object)
			if !ok {
				continue
			}
			kind, _ := frame["type"].(string)
			if kind == "" {
				kind = "UIMessage"
			}
			leaves(kind, "", frame, func(l leaf) {
				total++
				switch {
				case l.path == kind+".type": // is the event's type
				case in.has(l):
				case listed[l.path] != "":
					used[l.path] = true
				default:
					missing[l.path] = s.name + ": " + canonical(l.value)
				}
			})
		}
	}
	t.Logf("%d leaves, %d paths listed as dropped", total, len(listed))
	for _, path := range slices.Sorted(keysOf(missing)) {
		t.Errorf("%s is neither in the events nor listed (%.200s)", path, missing[path])
	}
	for path := range listed {
		if !used[path] {
			t.Errorf("%s is listed as dropped, but nothing of it is", path)
		}
	}
}

func keysOf(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// unwrap is the frame in a line of SSE.
func unwrap(raw json.RawMessage) json.RawMessage {
	if raw[0] != '"' {
		return raw
	}
	line := agtest.Decode(raw).(string)
	data := strings.TrimPrefix(line, "data: ")
	if data == "[DONE]" {
		return json.RawMessage("null")
	}
	return json.RawMessage(data)
}
