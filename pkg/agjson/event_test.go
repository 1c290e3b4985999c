package agjson_test

import (
	"errors"
	"fmt"
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

func TestDecodeRefusals(t *testing.T) {
	for in, path := range map[string]string{
		`{"type":"text.delta","seq":3,"id":"b"}`:                      "/delta",
		`{"type":"text.delta","seq":3,"id":"b","delta":"x","id":"c"}`: "/id",
		`{"type":"text.delta","seq":-1,"id":"b","delta":"x"}`:         "/seq",
		`{"seq":3}`: "/type",
		`{"type":"turn.start","seq":0,"turnId":"t","threadId":"th","trigger":{"kind":"why"}}`: "/trigger/kind",
		`{"type":"content.block","seq":0,"block":{"type":"image","source":{"type":"url"}}}`:   "/block/source/url",
		`{"type":"message.remove","seq":0,"id":"*"}`:                                          "/turnId",
		`{"type":"memory.write","seq":0,"scope":"user","value":1,"patch":[]}`:                 "/patch",
		`{"type":"text.delta","seq":3,"id":"b","delta":"x"} x`:                                "",
		"{\"type\":\"text.delta\",\"seq\":3,\"id\":\"b\",\"delta\":\"\xff\"}":                 "/delta",
	} {
		_, err := agjson.Decode([]byte(in))
		var de *agjson.DecodeError
		if !errors.As(err, &de) || !errors.Is(err, agjson.ErrMalformed) {
			t.Errorf("%s: %v", in, err)
		} else if de.Path != path {
			t.Errorf("%s: refused at %q, want %q", in, de.Path, path)
		}
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	ev, err := agjson.Decode([]byte(`{"type":"reasoning.opaque","seq":0,"id":"r","kind":"signature","value":"s3cret"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v %+v %s", ev.Body, *ev.Body.(*agjson.ReasoningOpaque), ev.Body.(*agjson.ReasoningOpaque).Value); got != "" && contains(got, "s3cret") {
		t.Errorf("the secret shows: %s", got)
	}
}

func contains(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		if s[i:i+len(sub)] == sub {
			return true
		}
	}
	return false
}
