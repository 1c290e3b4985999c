package agjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

func TestValueKeepsTheBytes(t *testing.T) {
	in := `{"a":{"n":1e400,"s":"x\u00e9\ud800"}, "list":[1, {"b" : 2},null],"\u0061":true,"e":""}`
	v, err := agjson.ParseValue([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(v.Raw()); got != in {
		t.Errorf("root %s", got)
	}
	if got := v.Get("list").Item(1).Get("b").Number(); got != "2" {
		t.Errorf("number %q", got)
	}
	if got := string(v.Get("list").Item(1).Raw()); got != `{"b" : 2}` {
		t.Errorf("raw %s", got)
	}
	if !v.Get("a").Bool() { // the last of two members of one name, whichever way it is spelt
		t.Errorf("a is %s", v.Get("a").Raw())
	}
	if v.Get("list").Item(2).Set() || !v.Get("list").Item(2).Exists() || v.Get("none").Exists() {
		t.Error("null, absent and set are not told apart")
	}
	if v.Len() != 4 || v.Get("list").Len() != 3 || v.Get("e").StrPtr() == nil || v.Get("x").StrPtr() != nil {
		t.Error("lengths or pointers")
	}
	var names []string
	for name, m := range v.Members {
		names = append(names, name)
		if name == "list" {
			for i, item := range m.Items {
				if i == 0 && item.Number() != "1" {
					t.Error("first item")
				}
			}
		}
	}
	if strings.Join(names, " ") != "a list a e" {
		t.Errorf("names %v", names)
	}
}

func TestValueStringsRoundTrip(t *testing.T) {
	for _, in := range []string{`"x\u00e9\ud800"`, `"\ud83d\ude00"`, `"a\"\\\n"`, `""`, `"é"`} {
		v, err := agjson.ParseValue([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		again, err := agjson.ParseValue(agjson.Quote(v.Str()))
		if err != nil || again.Str() != v.Str() {
			t.Errorf("%s came back as %s (%v)", in, agjson.Quote(v.Str()), err)
		}
	}
}

func TestParseValueRefuses(t *testing.T) {
	for _, in := range []string{``, ` `, `{`, `{"a"}`, `{"a":1,}`, `[1,]`, `[1 2]`, `01`, `1.`, `"`, `"\x"`, "\"\xff\"", `nul`, `{} {}`, strings.Repeat("[", 1001)} {
		if _, err := agjson.ParseValue([]byte(in)); !errors.Is(err, agjson.ErrMalformed) {
			t.Errorf("%.20q: %v", in, err)
		}
	}
}

func FuzzParseValue(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\ud800x"}],"a":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := agjson.ParseValue(data)
		if (err == nil) != (agjson.Check("JsonValue", agjson.Consumer, data) == nil) {
			t.Fatalf("ParseValue says %v, Check the contrary", err)
		}
		if err != nil {
			return
		}
		if !json.Valid(v.Raw()) {
			t.Fatal("accepted what is no JSON")
		}
		walk(t, v)
	})
}

func walk(t *testing.T, v agjson.Value) {
	for name, m := range v.Members {
		if !v.Get(name).Exists() {
			t.Fatalf("no member %q", name)
		}
		walk(t, m)
	}
	for _, m := range v.Items {
		walk(t, m)
	}
	_, _ = v.Str(), v.Number()
}
