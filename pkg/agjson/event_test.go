package agjson_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

func TestDecodeKeepsWhatItDoesNotKnow(t *testing.T) {
	for _, in := range []string{
		`{"type":"text.delta","seq":3,"id":"b","delta":"a\ud800","zz":[1e400,{"b":1,"a":2}]}`,
		`{"type":"text.later","seq":0,"id":"b","new":{"x":"\u00e9"}}`,
		`{"type":"ext.acme.frame","seq":1,"kind":"k","frame":{"big":9007199254740993}}`,
		`{"type":"content.block","seq":4,"block":{"type":"hologram","beam":1}}`,
		`{"type":"tool.done","seq":5,"messageId":"c:result","toolCallId":"c","content":[{"type":"text","text":"<&>"}],"outcome":"ok"}`,
	} {
		ev, err := agjson.Decode([]byte(in))
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if out := string(agjson.AppendEvent(nil, &ev)); out != in {
			t.Errorf("re-encoded\n%s\nas\n%s", in, out)
		}
	}
}

// SPEC §0.3, §0.4: a type with a dot is an event and ends in a word of a closed set, one without is a block, but for three; all
// are lower kebab-case.
func TestTypesAreSpeltByTheRules(t *testing.T) {
	bare := map[string]bool{"error": true, "source": true, "handoff": true}
	for _, name := range agjson.Types() {
		err := agjson.Check("AgEvent", agjson.Producer, []byte(`{"type":"`+name+`2","seq":0}`)) // so that it is unknown
		if dotted := strings.Contains(name, "."); dotted == bare[name] || !kebab.MatchString(name) {
			t.Errorf("event %s: dotted %v", name, dotted)
		} else if err == nil || dotted && !strings.Contains(err.Error(), "lifecycle word") {
			t.Errorf("%s2: %v", name, err)
		}
	}
	for _, name := range agjson.BlockTypes() {
		if strings.Contains(name, ".") || !kebab.MatchString(name) || bare[name] {
			t.Errorf("block %s", name)
		}
	}
	for name, why := range map[string]string{
		"text.foo.delta": "unknown kind", "text.chunk": "lifecycle word", "text_delta": "kebab-case", "tool.argsDelta": "kebab-case",
		"video": "a block", "ext.acme": "ext.<vendor>.<key>", "x-acme.frame": "lifecycle word",
	} {
		if err := agjson.Check("AgEvent", agjson.Producer, []byte(`{"type":"`+name+`","seq":0}`)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", name, err, why)
		}
	}
}

var kebab = regexp.MustCompile(`^[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)*$`)
