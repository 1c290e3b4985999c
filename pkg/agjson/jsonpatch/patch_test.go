package jsonpatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// cases are of the kinds that the well-known public suite for RFC 6902 has. want is compared byte for byte; "" is a
// patch that must be refused.
var cases = []struct{ name, doc, patch, want string }{
	{"nothing to do", `{"a":1}`, `[]`, `{"a":1}`},
	{"white space around", " {\"a\" : 1} \n", ` [ ] `, `{"a" : 1}`},
	{"add a member", `{"foo":1}`, `[{"op":"add","path":"/bar","value":2}]`, `{"foo":1,"bar":2}`},
	{"add over a member keeps its place", `{"foo":1,"bar":2}`, `[{"op":"add","path":"/foo","value":null}]`, `{"foo":null,"bar":2}`},
	{"add an item first", `["b"]`, `[{"op":"add","path":"/0","value":"a"}]`, `["a","b"]`},
	{"add an item in between", `["a","c"]`, `[{"op":"add","path":"/1","value":"b"}]`, `["a","b","c"]`},
	{"add an item last by index", `["a"]`, `[{"op":"add","path":"/1","value":"b"}]`, `["a","b"]`},
	{"add an item last", `["a"]`, `[{"op":"add","path":"/-","value":["b"]}]`, `["a",["b"]]`},
	{"add an item beyond the end", `["a"]`, `[{"op":"add","path":"/2","value":"b"}]`, ``},
	{"add an item at -1", `["a"]`, `[{"op":"add","path":"/-1","value":"b"}]`, ``},
	{"add an item at 01", `["a","b"]`, `[{"op":"add","path":"/01","value":"c"}]`, ``},
	{"add an item at 1e0", `["a","b"]`, `[{"op":"add","path":"/1e0","value":"c"}]`, ``},
	{"add an item at +0", `["a"]`, `[{"op":"add","path":"/+0","value":"c"}]`, ``},
	{"add an item at a word", `["a"]`, `[{"op":"add","path":"/bar","value":1}]`, ``},
	{"add an item at nothing", `["a"]`, `[{"op":"add","path":"/","value":1}]`, ``},
	{"add an item at a number beyond any", `["a"]`, `[{"op":"add","path":"/99999999999999999999","value":1}]`, ``},
	{"add at a deep place", `{"a":{"b":[1,{"c":2}]}}`, `[{"op":"add","path":"/a/b/1/d","value":3}]`, `{"a":{"b":[1,{"c":2,"d":3}]}}`},
	{"add where the way is missing", `{"a":1}`, `[{"op":"add","path":"/x/y","value":1}]`, ``},
	{"add through a scalar", `{"a":1}`, `[{"op":"add","path":"/a/b","value":1}]`, ``},
	{"add through a string", `{"a":"xy"}`, `[{"op":"add","path":"/a/0","value":1}]`, ``},
	{"add through null", `{"a":null}`, `[{"op":"add","path":"/a/b","value":1}]`, ``},
	{"add at the root", `{"a":1}`, `[{"op":"add","path":"","value":[1]}]`, `[1]`},
	{"add to the empty name", `{"a":1}`, `[{"op":"add","path":"/","value":2}]`, `{"a":1,"":2}`},
	{"add a number as a name", `{}`, `[{"op":"add","path":"/0","value":2}]`, `{"0":2}`},
	{"add - as a name", `{}`, `[{"op":"add","path":"/-","value":2}]`, `{"-":2}`},
	{"add to a scalar root", `1`, `[{"op":"add","path":"/a","value":2}]`, ``},
	{"add __proto__", `{}`, `[{"op":"add","path":"/__proto__","value":{"x":1}},{"op":"test","path":"/__proto__/x","value":1}]`, `{"__proto__":{"x":1}}`},
	{"add a name that needs escapes", `{}`, `[{"op":"add","path":"/a\"\n~1~0","value":1}]`, `{"a\"\u000a/~":1}`},
	{"add a lone surrogate as a name", `{}`, `[{"op":"add","path":"/\ud800","value":1}]`, `{"\ud800":1}`},
	{"remove a member", `{"foo":1,"bar":2}`, `[{"op":"remove","path":"/foo"}]`, `{"bar":2}`},
	{"remove an item", `[1,2,3]`, `[{"op":"remove","path":"/1"}]`, `[1,3]`},
	{"remove the last of all", `[1]`, `[{"op":"remove","path":"/0"}]`, `[]`},
	{"remove twice", `[1,2,3,4]`, `[{"op":"remove","path":"/1"},{"op":"remove","path":"/2"}]`, `[1,3]`},
	{"remove what is not there", `{"a":1}`, `[{"op":"remove","path":"/b"}]`, ``},
	{"remove behind the end", `[1]`, `[{"op":"remove","path":"/-"}]`, ``},
	{"remove at 1e0", `[1,2]`, `[{"op":"remove","path":"/1e0"}]`, ``},
	{"remove the root", `{"a":1}`, `[{"op":"remove","path":""}]`, ``},
	{"remove a name given twice", `{"a":1,"b":2,"a":3}`, `[{"op":"remove","path":"/a"}]`, `{"b":2}`},
	{"replace a member", `{"a":1,"b":2}`, `[{"op":"replace","path":"/a","value":{"c":3}}]`, `{"a":{"c":3},"b":2}`},
	{"replace an item", `[1,2]`, `[{"op":"replace","path":"/1","value":"x"}]`, `[1,"x"]`},
	{"replace the root", `{"a":1}`, `[{"op":"replace","path":"","value":null}]`, `null`},
	{"replace what is not there", `{"a":1}`, `[{"op":"replace","path":"/b","value":1}]`, ``},
	{"replace behind the end", `[1]`, `[{"op":"replace","path":"/-","value":1}]`, ``},
	{"replace a name given twice", `{"a":1,"a":3}`, `[{"op":"replace","path":"/a","value":4}]`, `{"a":1,"a":4}`},
	{"move a member", `{"a":{"x":1},"b":2}`, `[{"op":"move","from":"/a/x","path":"/c"}]`, `{"a":{},"b":2,"c":1}`},
	{"move an item back", `[1,2,3]`, `[{"op":"move","from":"/2","path":"/0"}]`, `[3,1,2]`},
	{"move an item to the end", `[1,2,3]`, `[{"op":"move","from":"/0","path":"/-"}]`, `[2,3,1]`},
	{"move an item to where the end was", `[1,2,3]`, `[{"op":"move","from":"/0","path":"/3"}]`, ``},
	{"move to itself", `{"a":1}`, `[{"op":"move","from":"/a","path":"/a"}]`, `{"a":1}`},
	{"move nothing to itself", `{"a":1}`, `[{"op":"move","from":"/b","path":"/b"}]`, ``},
	{"move into itself", `{"a":{"b":1}}`, `[{"op":"move","from":"/a","path":"/a/b"}]`, ``},
	{"move the root into itself", `{"a":1}`, `[{"op":"move","from":"","path":"/a"}]`, ``},
	{"move to a name that begins alike", `{"a":1}`, `[{"op":"move","from":"/a","path":"/ab"}]`, `{"ab":1}`},
	{"move to the root", `{"a":[1]}`, `[{"op":"move","from":"/a","path":""}]`, `[1]`},
	{"move over a member", `{"a":1,"b":2}`, `[{"op":"move","from":"/a","path":"/b"}]`, `{"b":1}`},
	{"copy a member", `{"a":{"x":1}}`, `[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/a/y","value":2}]`, `{"a":{"x":1,"y":2},"b":{"x":1}}`},
	{"copy into itself", `{"a":{"b":1}}`, `[{"op":"copy","from":"/a","path":"/a/b"}]`, `{"a":{"b":{"b":1}}}`},
	{"copy the root into itself", `{"a":1}`, `[{"op":"copy","from":"","path":"/b"}]`, `{"a":1,"b":{"a":1}}`},
	{"copy null", `{"a":null}`, `[{"op":"copy","from":"/a","path":"/b"}]`, `{"a":null,"b":null}`},
	{"copy what is not there", `{}`, `[{"op":"copy","from":"/a","path":"/b"}]`, ``},
	{"copy of an opened value", `{"a":{"x":1}}`, `[{"op":"add","path":"/a/y","value":2},{"op":"copy","from":"/a","path":"/b"},{"op":"remove","path":"/a/x"}]`, `{"a":{"y":2},"b":{"x":1,"y":2}}`},
	{"test numbers by value", `[1,1.0,10e-1,-0,100]`, `[{"op":"test","path":"","value":[1.00,1e0,1,0.0,1E+2]}]`, `[1,1.0,10e-1,-0,100]`},
	{"test numbers beyond a double", `{"n":10000000000000000000000001}`, `[{"op":"test","path":"/n","value":10000000000000000000000000}]`, ``},
	{"test numbers beyond a double, equal", `{"n":1e400}`, `[{"op":"test","path":"/n","value":10E399}]`, `{"n":1e400}`},
	{"test a string by what it means", `{"s":"\u0061\/"}`, `[{"op":"test","path":"/s","value":"a/"}]`, `{"s":"\u0061\/"}`},
	{"test objects in any order", `{"o":{"a":1,"b":[{"c":null}]}}`, `[{"op":"test","path":"/o","value":{"b":[{"c":null}],"a":1}}]`, `{"o":{"a":1,"b":[{"c":null}]}}`},
	{"test a wider object", `{"a":1}`, `[{"op":"test","path":"","value":{"a":1,"b":2}}]`, ``},
	{"test a narrower object", `{"a":1,"b":2}`, `[{"op":"test","path":"","value":{"a":1}}]`, ``},
	{"test lists in order", `[1,2]`, `[{"op":"test","path":"","value":[2,1]}]`, ``},
	{"test a string for a number", `{"a":"10"}`, `[{"op":"test","path":"/a","value":10}]`, ``},
	{"test null for nothing", `{}`, `[{"op":"test","path":"/a","value":null}]`, ``},
	{"test false for null", `{"a":null}`, `[{"op":"test","path":"/a","value":false}]`, ``},
	{"test the empty name", `{"":1}`, `[{"op":"test","path":"/","value":1}]`, `{"":1}`},
	{"test the pointers of RFC 6901", `{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`,
		`[{"op":"test","path":"/foo/0","value":"bar"},{"op":"test","path":"/a~1b","value":1},{"op":"test","path":"/c%d","value":2},{"op":"test","path":"/i\\j","value":5},{"op":"test","path":"/k\"l","value":6},{"op":"test","path":"/ ","value":7},{"op":"test","path":"/m~0n","value":8}]`,
		`{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`},
	{"~01 is ~1", `{"~1":1}`, `[{"op":"replace","path":"/~01","value":2}]`, `{"~1":2}`},
	{"a ~ alone", `{"~":1}`, `[{"op":"replace","path":"/~","value":2}]`, ``},
	{"~2", `{"~2":1}`, `[{"op":"replace","path":"/~2","value":2}]`, ``},
	{"a path without /", `{"a":1}`, `[{"op":"replace","path":"a","value":2}]`, ``},
	{"a path that is no string", `{"a":1}`, `[{"op":"replace","path":null,"value":2}]`, ``},
	{"no path", `{"a":1}`, `[{"op":"replace","value":2}]`, ``},
	{"no op", `{"a":1}`, `[{"path":"/a","value":2}]`, ``},
	{"an unknown op", `{"a":1}`, `[{"op":"spam","path":"/a","value":2}]`, ``},
	{"an op in other letters", `{"a":1}`, `[{"op":"Add","path":"/a","value":2}]`, ``},
	{"op twice", `{"a":1}`, `[{"op":"add","path":"/b","value":2,"op":"remove"}]`, ``},
	{"no value", `{"a":1}`, `[{"op":"add","path":"/b"}]`, ``},
	{"null is a value", `{"a":1}`, `[{"op":"add","path":"/b","value":null}]`, `{"a":1,"b":null}`},
	{"no from", `{"a":1}`, `[{"op":"copy","path":"/b"}]`, ``},
	{"a from that is no pointer", `{"a":1}`, `[{"op":"move","from":"a","path":"/b"}]`, ``},
	{"members that mean nothing", `{"a":1}`, `[{"op":"remove","path":"/a","spurious":[1],"value":7}]`, `{}`},
	{"a patch that is an object", `{"a":1}`, `{"op":"remove","path":"/a"}`, ``},
	{"an operation that is no object", `{"a":1}`, `[1]`, ``},
	{"a later one fails", `{"a":[1]}`, `[{"op":"add","path":"/a/-","value":2},{"op":"remove","path":"/a/0"},{"op":"test","path":"/a/0","value":1}]`, ``},
	{"text is kept", `{"x":[1.50,1e400,"\u00e9\/"],"y":{ "a" : 1,"a":2 },"z":0}`, `[{"op":"replace","path":"/z","value":-0.0}]`, `{"x":[1.50,1e400,"\u00e9\/"],"y":{ "a" : 1,"a":2 },"z":-0.0}`},
	{"names are kept", `{"\u0061":{"\u0062":1}}`, `[{"op":"add","path":"/a/c","value":2}]`, `{"\u0061":{"\u0062":1,"c":2}}`},
}

func TestApply(t *testing.T) {
	for _, c := range cases {
		d, err := New([]byte(c.doc))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		before := string(d.Bytes())
		checked := d.Check([]byte(c.patch))
		if string(d.Bytes()) != before {
			t.Errorf("%s: Check changed the document", c.name)
		}
		err = d.Apply([]byte(c.patch))
		if (checked == nil) != (err == nil) {
			t.Errorf("%s: Check %v, Apply %v", c.name, checked, err)
		}
		got := string(d.Bytes())
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s: got %s, want an error", c.name, got)
		case c.want == "" && got != before && !Equal([]byte(got), []byte(before)):
			t.Errorf("%s: a patch that failed left %s", c.name, got)
		case c.want != "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && got != c.want:
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		var pe *Error
		if err != nil && (!errors.As(err, &pe) || pe.Why == "") {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, s := range []string{``, ` `, `{`, `[1,]`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, `tru`, `1.`, `01`, `+1`, `.5`, `1e`, `"\x"`, `"\u12"`, "\"\n\"", `[1] 2`, "\"\xff\"", `"`, strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)} {
		if _, err := New([]byte(s)); err == nil {
			t.Errorf("%.40q is taken for a document", s)
		}
	}
	if _, err := New([]byte(strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth))); err != nil {
		t.Errorf("MaxDepth is too deep: %v", err)
	}
}

func TestBounds(t *testing.T) {
	d, err := New([]byte(`{"a":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("[", MaxDepth-2) + strings.Repeat("]", MaxDepth-2)
	if err := d.Apply([]byte(`[{"op":"add","path":"/a/0","value":` + deep + `}]`)); err != nil {
		t.Errorf("as deep as allowed: %v", err)
	}
	if d.Apply([]byte(`[{"op":"move","from":"/a/0","path":"/x"},{"op":"add","path":"/y","value":[]},{"op":"move","from":"/x","path":"/y/0"},{"op":"add","path":"/z","value":[[]]},{"op":"move","from":"/y/0","path":"/z/0/0"}]`)) == nil {
		t.Error("a move that makes it too deep")
	}
	if _, err := New(d.Bytes()); err != nil {
		t.Errorf("the document is no document any more: %v", err)
	}
	if err := d.Apply([]byte(`[` + strings.Repeat(`{"op":"copy","from":"","path":"/b"},{"op":"copy","from":"","path":"/c"},`, 30) + `{"op":"remove","path":"/a"}]`)); err == nil {
		t.Error("thirty doublings")
	}
	if len(d.Bytes()) > 1<<13 {
		t.Errorf("a patch that failed left %d bytes", len(d.Bytes()))
	}
}

// TestMany keeps one document through many patches and compares it with a fresh parse after each.
func TestMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.SampledFrom([]string{`{}`, `{"a":{"b":[1,{"c":[]}]},"d":"x"}`, `[[],{},[1,2,3]]`, `{"a":1,"a":{"b":2},"b":{"a":3}}`}).Draw(t, "document"))
		d, err := New(text)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 60).Draw(t, "patches") {
			var ops []string
			for range rapid.IntRange(1, 4).Draw(t, "operations") {
				path := func(label string) string {
					return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"/a", "/b", "/c", "/d", "/0", "/1", "/-", "/n"}), 0, 4).Draw(t, label), "")
				}
				name := path("path")
				if rapid.IntRange(0, 3).Draw(t, "wide") == 0 {
					name = fmt.Sprintf("/w%d", rapid.IntRange(0, 30).Draw(t, "name"))
				}
				ops = append(ops, fmt.Sprintf(`{"op":%q,"path":%q,"from":%q,"value":%s}`,
					rapid.SampledFrom([]string{"add", "add", "add", "remove", "remove", "replace", "move", "copy", "test"}).Draw(t, "op"), name, path("from"),
					rapid.SampledFrom([]string{`1`, `[]`, `{}`, `[1,[2]]`, `{"a":{"b":1}}`, `"s"`, `1.0`}).Draw(t, "value")))
			}
			patch := []byte("[" + strings.Join(ops, ",") + "]")
			before := bytes.Clone(d.Bytes())
			want, wantErr := reference(before, patch)
			fresh, freshErr := Apply(bytes.Clone(before), patch)
			err := d.Apply(patch)
			if (err == nil) != (wantErr == nil) || (err == nil) != (freshErr == nil) {
				t.Fatalf("%s on %s: %v, fresh %v, want %v", patch, before, err, freshErr, wantErr)
			}
			if err != nil && !bytes.Equal(d.Bytes(), before) {
				t.Fatalf("%s failed on %s and left %s", patch, before, d.Bytes())
			}
			if err == nil && (!Equal(d.Bytes(), want) || !bytes.Equal(d.Bytes(), fresh)) {
				t.Fatalf("%s on %s gives %s, fresh %s, want %s", patch, before, d.Bytes(), fresh, want)
			}
			if len(d.Bytes()) > 1<<14 {
				return
			}
		}
	})
}

// reference is RFC 6902 over any, for documents in which no name repeats; in others it is not asked.
func reference(doc, patch []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, err
	}
	var ops []struct {
		Op, Path, From string
		Value          any
	}
	if err := json.Unmarshal(patch, &ops); err != nil {
		return nil, err
	}
	for _, op := range ops {
		var err error
		switch op.Op {
		case "add":
			v, err = refEdit(v, refTokens(op.Path), op.Value, "add")
		case "remove":
			v, err = refEdit(v, refTokens(op.Path), nil, "remove")
		case "replace":
			v, err = refEdit(v, refTokens(op.Path), op.Value, "replace")
		case "move", "copy":
			var from any
			if from, err = refGet(v, refTokens(op.From)); err != nil {
				return nil, err
			}
			raw, _ := json.Marshal(from)
			var c any
			_ = json.Unmarshal(raw, &c)
			if op.Op == "move" {
				if op.From == op.Path {
					continue
				}
				if strings.HasPrefix(op.Path, op.From+"/") {
					return nil, errors.New("into itself")
				}
				if v, err = refEdit(v, refTokens(op.From), nil, "remove"); err != nil {
					return nil, err
				}
			}
			v, err = refEdit(v, refTokens(op.Path), c, "add")
		case "test":
			var at any
			if at, err = refGet(v, refTokens(op.Path)); err == nil {
				a, _ := json.Marshal(at)
				b, _ := json.Marshal(op.Value)
				if !bytes.Equal(a, b) {
					err = errors.New("differs")
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return json.Marshal(v)
}

func refTokens(p string) []string {
	if p == "" {
		return nil
	}
	return strings.Split(p[1:], "/")
}

func refGet(v any, path []string) (any, error) {
	for _, t := range path {
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[t]
			if !ok {
				return nil, errors.New("nothing")
			}
			v = next
		case []any:
			i, ok := arrayIndex(t, len(c))
			if !ok {
				return nil, errors.New("nothing")
			}
			v = c[i]
		default:
			return nil, errors.New("scalar")
		}
	}
	return v, nil
}

func refEdit(v any, path []string, val any, op string) (any, error) {
	if len(path) == 0 {
		if op == "remove" {
			return nil, errors.New("root")
		}
		return val, nil
	}
	t := path[0]
	switch c := v.(type) {
	case map[string]any:
		old, ok := c[t]
		if len(path) > 1 {
			if !ok {
				return nil, errors.New("nothing")
			}
			n, err := refEdit(old, path[1:], val, op)
			if err == nil {
				c[t] = n
			}
			return c, err
		}
		if !ok && op != "add" {
			return nil, errors.New("nothing")
		}
		if c[t] = val; op == "remove" {
			delete(c, t)
		}
		return c, nil
	case []any:
		if len(path) > 1 {
			i, ok := arrayIndex(t, len(c))
			if !ok {
				return nil, errors.New("nothing")
			}
			n, err := refEdit(c[i], path[1:], val, op)
			if err == nil {
				c[i] = n
			}
			return c, err
		}
		limit := len(c)
		if op == "add" {
			if limit++; t == "-" {
				return append(c, val), nil
			}
		}
		i, ok := arrayIndex(t, limit)
		if !ok {
			return nil, errors.New("nothing")
		}
		switch op {
		case "add":
			return append(append(append([]any{}, c[:i]...), val), c[i:]...), nil
		case "remove":
			return append(append([]any{}, c[:i]...), c[i+1:]...), nil
		}
		c[i] = val
		return c, nil
	}
	return nil, errors.New("scalar")
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ doc, with, flat, nodes string }{
		{`{"a":{"x":1},"b":2}`, `{"a":{"y":2},"c":3}`, `{"a":{"y":2},"b":2,"c":3}`, `{"a":{"x":1,"y":2},"b":2,"c":3}`},
		{`{"a":{"x":{"k":1}}}`, `{"a":{"x":{"l":2}}}`, `{"a":{"x":{"l":2}}}`, `{"a":{"x":{"l":2}}}`},
		{`{"a":1}`, `{"a":{"y":2}}`, `{"a":{"y":2}}`, `{"a":{"y":2}}`},
		{`5`, `{"a":1}`, `{"a":1}`, `{"a":1}`},
		{`{"a":1}`, `[1]`, `[1]`, `[1]`},
		{`{}`, `{"\u0061":1e400,"a":2}`, `{"\u0061":2}`, `{"\u0061":2}`},
	} {
		for _, f := range []struct {
			want  string
			merge func(*Document, []byte) error
		}{{c.flat, (*Document).Merge}, {c.nodes, (*Document).MergeNodes}} {
			d, err := New([]byte(c.doc))
			if err != nil {
				t.Fatal(err)
			}
			if err := f.merge(d, []byte(c.with)); err != nil || string(d.Bytes()) != f.want {
				t.Errorf("%s with %s is %s, %v, want %s", c.doc, c.with, d.Bytes(), err, f.want)
			}
		}
	}
}

func TestSet(t *testing.T) {
	d, err := New([]byte(`{"l":[1]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, value, want string
		ok                bool
	}{
		{"/a/b/c", `1`, `{"l":[1],"a":{"b":{"c":1}}}`, true},
		{"/a/b", `2`, `{"l":[1],"a":{"b":2}}`, true},
		{"/a/b/c", `3`, `{"l":[1],"a":{"b":2}}`, false},
		{"/l/1", `2`, `{"l":[1,2],"a":{"b":2}}`, true},
		{"/l/0", `{}`, `{"l":[{},2],"a":{"b":2}}`, true},
		{"/l/0/x/y", `0`, `{"l":[{"x":{"y":0}},2],"a":{"b":2}}`, true},
		{"/l/9", `0`, `{"l":[{"x":{"y":0}},2],"a":{"b":2}}`, false},
		{"/q/w/0", `tru`, `{"l":[{"x":{"y":0}},2],"a":{"b":2}}`, false},
		{"q", `1`, `{"l":[{"x":{"y":0}},2],"a":{"b":2}}`, false},
		{"", `{"n":1}`, `{"n":1}`, true},
	} {
		if err := d.Set(c.path, []byte(c.value)); (err == nil) != c.ok || string(d.Bytes()) != c.want {
			t.Errorf("set %q: %s, %v, want %s", c.path, d.Bytes(), err, c.want)
		}
	}
	if d.Remove("/x") == nil || d.Remove("") == nil || d.Remove("/n") != nil || string(d.Bytes()) != `{}` {
		t.Errorf("remove leaves %s", d.Bytes())
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct{ a, b, at string }{
		{`{"a":[1,{"b/c":2}]}`, `{"a":[1.0,{"b/c":3}]}`, "/a/1/b~1c"}, {`[1,2]`, `[1]`, "/1"}, {`{"a":1}`, `{"a":1,"~":2}`, "/~0"}, {`1`, `"1"`, ""}, {`x`, `x`, ""},
	} {
		if at, ok := Difference([]byte(c.a), []byte(c.b)); ok || at != c.at {
			t.Errorf("%s and %s differ at %q, %v", c.a, c.b, at, ok)
		}
	}
}

func FuzzApply(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.doc), []byte(c.patch))
	}
	f.Fuzz(func(t *testing.T, doc, patch []byte) {
		d, err := New(doc)
		shallow := bytes.Count(doc, []byte("["))+bytes.Count(doc, []byte("{")) <= MaxDepth
		if valid := json.Valid(doc) && utf8.Valid(doc); shallow && (err == nil) != valid {
			t.Fatalf("%q: %v", doc, err)
		}
		if err != nil {
			return
		}
		before := bytes.Clone(d.Bytes())
		if err := d.Apply(patch); err != nil {
			if !bytes.Equal(d.Bytes(), before) && !Equal(d.Bytes(), before) {
				t.Fatalf("a patch that failed left %q of %q", d.Bytes(), before)
			}
			return
		}
		again, err := New(bytes.Clone(d.Bytes()))
		if err != nil {
			t.Fatalf("the patched document is malformed: %q", d.Bytes())
		}
		if !Equal(again.Bytes(), d.Bytes()) {
			t.Fatal("a document is not equal to itself")
		}
		if fresh, err := Apply(before, patch); err != nil || !bytes.Equal(fresh, d.Bytes()) {
			t.Fatalf("a fresh document gives %q, %v, not %q", fresh, err, d.Bytes())
		}
	})
}
