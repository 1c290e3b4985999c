package agjson_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

// A refusal is one case of testdata/malformed: a text that must be refused, and the JSON Pointer it must be refused at.
type refusal struct {
	Name    string `json:"name"`
	Schema  string `json:"schema"`
	Posture string `json:"posture"` // who refuses it there: "" = all; "producer" (a consumer takes it), "consumer", "decode"
	Text    string `json:"text"`
	Hex     string `json:"hex"` // in place of Text, where that is not UTF-8
	Path    string `json:"path"`
}

func (r refusal) data(t testing.TB) []byte {
	if r.Hex == "" {
		return []byte(r.Text)
	}
	data, err := hex.DecodeString(r.Hex)
	if err != nil {
		t.Fatalf("%s: %v", r.Name, err)
	}
	return data
}

func refusals(t testing.TB) map[string][]refusal {
	t.Helper()
	files, err := filepath.Glob("testdata/malformed/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/malformed: %d files, %v", len(files), err)
	}
	out := map[string][]refusal{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []refusal
		if err := json.Unmarshal(data, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out[filepath.Base(file)] = list
	}
	return out
}

// SPEC §10.20: a schema-invalid value is a typed error to the caller, which says where, and never what (SPEC §13).
func TestMalformedIsRefusedWhereItIsWrong(t *testing.T) {
	for file, list := range refusals(t) {
		for _, r := range list {
			data := r.data(t)
			if r.Posture == "" || r.Posture == "producer" {
				refused(t, file+": "+r.Name+": producer", agjson.Check(r.Schema, agjson.Producer, data), r.Schema, r.Path)
			}
			if r.Posture == "" || r.Posture == "consumer" {
				refused(t, file+": "+r.Name+": consumer", agjson.Check(r.Schema, agjson.Consumer, data), r.Schema, r.Path)
			}
			if r.Schema != "AgEvent" {
				continue
			}
			ev, err := agjson.Decode(data)
			if r.Posture != "producer" {
				refused(t, file+": "+r.Name+": Decode", err, r.Schema, r.Path)
			} else if err != nil {
				t.Errorf("%s: %s: a consumer refuses it too: %v", file, r.Name, err)
			} else if out := string(agjson.AppendEvent(nil, &ev)); out != r.Text {
				t.Errorf("%s: %s: re-encoded as %s", file, r.Name, out)
			}
		}
	}
}

func refused(t *testing.T, name string, err error, schema, path string) {
	t.Helper()
	var de *agjson.DecodeError
	switch {
	case err == nil:
		t.Errorf("%s: accepted", name)
	case !errors.As(err, &de), !errors.Is(err, agjson.ErrMalformed):
		t.Errorf("%s: %T is no *DecodeError and ErrMalformed", name, err)
	case de.Path != path:
		t.Errorf("%s: refused at %q (%s), want %q", name, de.Path, de.Why, path)
	case de.Type != schema || de.Why == "":
		t.Errorf("%s: says type %q, why %q", name, de.Type, de.Why)
	case !strings.Contains(err.Error(), schema):
		t.Errorf("%s: prints as %q", name, err)
	}
}

// What a consumer lets pass, as refusals' "kinds" shows with a producer, it keeps: here at every depth (SPEC §0.2).
func TestConsumerKeepsUnknownMembersAtEveryDepth(t *testing.T) {
	for _, in := range []string{
		`{"type":"turn.done","seq":0,"turnId":"t","outcome":{"type":"paused","asks":[{"askId":"a","kind":"form","zz":1}]},"finishReason":"paused"}`,
		`{"type":"content.block","seq":0,"block":{"type":"tool-result","toolCallId":"c","content":[{"type":"video","x":[]}],"later":null}}`,
		`{"type":"text.end","seq":0,"id":"b","citations":[{"kind":"dom","citedText":"c","node":7}]}`,
		`{"type":"source","seq":0,"sourceId":"s","source":{"type":"ipfs","cid":"x"}}`,
		`{"type":"turn.done","seq":0,"turnId":"t","outcome":{"type":"parked","until":"x"},"finishReason":"other"}`,
		`{"type":"message.end","seq":0,"id":"m","usage":{"byModel":{"a":{"carbon":1.50}}}}`,
	} {
		ev, err := agjson.Decode([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if out := string(agjson.AppendEvent(nil, &ev)); out != in {
			t.Errorf("re-encoded\n%s\nas\n%s", in, out)
		}
		if err := agjson.Check("AgEvent", agjson.Producer, []byte(in)); err == nil {
			t.Errorf("a producer's check accepts %s", in)
		}
	}
}
