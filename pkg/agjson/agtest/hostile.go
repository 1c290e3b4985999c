package agtest

import (
	"encoding/json"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Hostile draws a mutation of recorded frames: frames dropped, doubled, moved, cut, alien, and inside them members removed,
// renamed, doubled, and values swapped for others of any type. The frames themselves are not changed.
func Hostile(t *rapid.T, frames []json.RawMessage) [][]byte {
	var out [][]byte
	for _, f := range frames {
		out = append(out, f)
	}
	for range rapid.IntRange(1, 8).Draw(t, "mutations") {
		if len(out) == 0 {
			break
		}
		i := rapid.IntRange(0, len(out)-1).Draw(t, "frame")
		switch rapid.IntRange(0, 8).Draw(t, "how") {
		case 0:
			out = slices.Delete(out, i, i+1)
		case 1:
			out = slices.Insert(out, rapid.IntRange(0, len(out)).Draw(t, "to"), out[i])
		case 2:
			j := rapid.IntRange(0, len(out)-1).Draw(t, "with")
			out[i], out[j] = out[j], out[i]
		case 3:
			out = out[:i]
		case 4:
			out[i] = out[i][:rapid.IntRange(0, len(out[i])).Draw(t, "cut")]
		case 5:
			out = slices.Insert(out, i, []byte(rapid.SampledFrom(aliens).Draw(t, "alien")))
		default:
			out[i] = mutated(t, out[i])
		}
	}
	return out
}

var aliens = []string{
	`null`, `[]`, `{}`, `"text"`, `{"type":null}`, `{"type":{}}`, `{"type":"alien","id":1}`, `{"type":"__host_error__"}`,
	`{"type":"__host_error__","code":"boom","message":"thrown","usage":{"inputTokens":1}}`, `{"a":1,"a":2,"seq":3,"type":"x"}`, `{`, "\xff", `"\ud800"`,
}

// mutated changes one place of a frame.
func mutated(t *rapid.T, frame []byte) []byte {
	d := json.NewDecoder(strings.NewReader(string(frame)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return frame
	}
	at := rapid.IntRange(0, places(v)-1).Draw(t, "place")
	v = change(t, v, &at)
	out, err := json.Marshal(v)
	if err != nil {
		return frame
	}
	return out
}

// places counts the values in v, itself included.
func places(v any) int {
	n := 1
	switch x := v.(type) {
	case Object:
		for _, m := range x {
			n += places(m)
		}
	case []any:
		for _, m := range x {
			n += places(m)
		}
	}
	return n
}

func change(t *rapid.T, v any, at *int) any {
	if *at == 0 {
		*at--
		return rapid.SampledFrom(values).Draw(t, "value")
	}
	*at--
	switch x := v.(type) {
	case Object:
		for _, k := range keys(x, nil) {
			if *at == 0 && rapid.Bool().Draw(t, "remove") {
				*at--
				delete(x, k)
				return x
			}
			if n := places(x[k]); *at >= n {
				*at -= n
			} else {
				x[k] = change(t, x[k], at)
				return x
			}
		}
	case []any:
		for i := range x {
			if n := places(x[i]); *at >= n {
				*at -= n
			} else {
				x[i] = change(t, x[i], at)
				return x
			}
		}
	}
	return v
}

var values = []any{
	nil, true, false, "", "text", "\U0001f600", "assistant", json.Number("0"), json.Number("-1"), json.Number("1e400"), json.Number("9007199254740993"),
	[]any{}, Object{}, []any{nil}, Object{"type": "text"}, []any{Object{"type": "text", "text": json.Number("1")}},
}
