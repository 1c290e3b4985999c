package agjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
)

// seed gives f every sample, every refusal and every event of the stream.
func seed(f *testing.F, add func(schema string, data []byte)) {
	f.Helper()
	for _, s := range samples(f) {
		add(s.Schema, s.Value)
	}
	for _, list := range refusals(f) {
		for _, r := range list {
			if r.Schema != "AgNothing" {
				add(r.Schema, r.data(f))
			}
		}
	}
	events, _ := stream(f)
	for _, data := range events {
		add("AgEvent", data)
	}
}

// FuzzDecode: nothing panics; a refusal is an ErrMalformed; what is accepted re-encodes equal, and that re-encodes the same.
func FuzzDecode(f *testing.F) {
	seed(f, func(schema string, data []byte) {
		if schema == "AgEvent" {
			f.Add(data)
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		ev, err := agjson.Decode(data)
		if err != nil {
			if !errors.Is(err, agjson.ErrMalformed) {
				t.Fatalf("%v is no ErrMalformed", err)
			}
			return
		}
		out := agjson.AppendEvent(nil, &ev)
		equalJSON(t, data, out)
		again, err := agjson.Decode(out)
		if err != nil {
			t.Fatalf("%s is refused: %v", out, err)
		}
		if twice := agjson.AppendEvent(nil, &again); !bytes.Equal(twice, out) {
			t.Fatalf("%s re-encodes as %s", out, twice)
		}
		agjson.ProfileOf(&ev)
	})
}

// FuzzCheck: a producer's check takes nothing that a consumer's refuses, a consumer's nothing that the decoder refuses, of any
// schema; and encoding/json, into plain types, reads the same values.
func FuzzCheck(f *testing.F) {
	names := agjson.SchemaNames()
	seed(f, func(schema string, data []byte) { f.Add(uint8(slices.Index(names, schema)), data) })
	f.Fuzz(func(t *testing.T, i uint8, data []byte) { checkAgrees(t, names[int(i)%len(names)], data) })
}

func checkAgrees(t *testing.T, schema string, data []byte) {
	t.Helper()
	strict, lenient := agjson.Check(schema, agjson.Producer, data), agjson.Check(schema, agjson.Consumer, data)
	for _, err := range []error{strict, lenient} {
		var de *agjson.DecodeError
		if err != nil && (!errors.As(err, &de) || de.Path != "" && de.Path[0] != '/') {
			t.Fatalf("%s: %v", schema, err)
		}
	}
	if strict == nil && lenient != nil {
		t.Fatalf("%s: a producer may send %s, a consumer refuses it: %v", schema, data, lenient)
	}
	if lenient != nil {
		return
	}
	out, err := agjson.Reencode(schema, data)
	if err != nil {
		t.Fatalf("%s: checked, but not decoded: %v", schema, err)
	}
	equalJSON(t, data, out)
	if err := agjson.Check(schema, agjson.Consumer, out); err != nil {
		t.Fatalf("%s: re-encoded as %s, which is refused: %v", schema, out, err)
	}
	plain, ok := plainSchemas[schema]
	if strict != nil || !ok {
		return
	}
	v := plain()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: encoding/json refuses %s: %v", schema, data, err)
	}
	theirs, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	equalJSON(t, theirs, out)
}

func equalJSON(t *testing.T, want, got []byte) {
	t.Helper()
	if !json.Valid(got) || !utf8.Valid(got) {
		t.Fatalf("%q is no JSON", got)
	}
	if d := agtest.Diff(agtest.Decode(want), agtest.Decode(got)); d != "" {
		t.Fatalf("%s\nbecame\n%s\n%s", want, got, d)
	}
}

// FuzzText: a string that is written and read is the same string, and the same that encoding/json reads.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", "tab\tquote\"slash\\", "\x00\x1f\x7f", "Größe 世界 👋", "\u2028<>&", "\xed\xa0\xbd\xed\xb8\x80", "\xff", strings.Repeat("x", 100) + "\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := agjson.AppendString(nil, s)
		back, err := agjson.Unescaped(out)
		if err != nil || !json.Valid(out) || !utf8.Valid(out) {
			t.Fatalf("%q is written %s: %v", s, out, err)
		}
		if utf8.ValidString(s) && back != s {
			t.Fatalf("%q is read back as %q", s, back)
		}
		if again := agjson.AppendString(nil, back); !bytes.Equal(again, out) {
			t.Fatalf("%q: written %s, and read and written %s", s, out, again)
		}
		if utf8.ValidString(s) {
			var theirs string
			if err := json.Unmarshal(out, &theirs); err != nil || theirs != s {
				t.Fatalf("encoding/json reads %s as %q: %v", out, theirs, err)
			}
		}
	})
}

// FuzzScan: encoding/json accepts the same texts, but for what it lets through (invalid UTF-8) and what only it nests so deep;
// and its strings are the same, but for lone surrogates, which it cannot hold.
func FuzzScan(f *testing.F) {
	for _, v := range opaques {
		f.Add([]byte(v))
	}
	seed(f, func(_ string, data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		err := agjson.Check("JsonValue", agjson.Producer, data)
		agree := utf8.Valid(data) && bytes.Count(data, []byte("[")) < 1000 && bytes.Count(data, []byte("{")) < 1000
		if valid := json.Valid(data); err == nil && !valid || valid && agree && err != nil {
			t.Fatalf("encoding/json says %v of %q, agjson %v", valid, data, err)
		}
		ours, err := agjson.Unescaped(data)
		if err != nil || bytes.Contains(bytes.ToLower(data), []byte(`\ud`)) {
			return
		}
		var theirs string
		if err := json.Unmarshal(data, &theirs); err != nil || theirs != ours {
			t.Fatalf("%q is %q, encoding/json says %q, %v", data, ours, theirs, err)
		}
	})
}

// The published values, and the project's own, are read alike by both.
func TestEncodingJSONReadsTheSame(t *testing.T) {
	for _, s := range samples(t) {
		checkAgrees(t, s.Schema, s.Value)
	}
	events, _ := stream(t)
	for _, data := range events {
		checkAgrees(t, "AgEvent", data)
	}
	dir := os.Getenv("AGWIRE_VECTORS")
	if dir == "" {
		t.Log("AGWIRE_VECTORS is not set: only the project's own samples are compared")
		return
	}
	for _, file := range []string{"validate.ndjson", "validate-mutations.ndjson"} {
		for _, data := range lines(t, filepath.Join(dir, file)) {
			var v verdict
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			checkAgrees(t, v.Schema, v.Value)
		}
	}
}
