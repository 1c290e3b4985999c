package agjson_test

import (
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
