package reducer_test

import (
	"bytes"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// FuzzPush folds whatever decodes. Nothing panics, the result is well-formed, the plain reducer agrees, an import of the
// snapshot has the same result and snapshot.
func FuzzPush(f *testing.F) {
	for _, s := range streams(f) {
		if len(s.events) <= 80 {
			f.Add(eventsText(s.events))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return // the plain reducer is quadratic
		}
		r, plain := reducer.New(), &naive{last: -1}
		for line := range bytes.Lines(data) {
			ev, err := agjson.Decode(line)
			if err != nil {
				continue
			}
			r.Push(ev)
			plain.push(&ev)
			if (r.Parked() == "") != (plain.parked == "") {
				t.Fatalf("%s parks %q, the plain reducer %q", line, r.Parked(), plain.parked)
			}
		}
		got := resultText(r.Result(), false)
		res, err := agjson.DecodeReduceResult(got)
		if err != nil {
			t.Fatalf("the result is malformed: %v\n%s", err, got)
		}
		if again := resultText(res, false); !jsonpatch.Equal(got, again) {
			t.Fatalf("the result is read back as\n%s\nnot\n%s", again, got)
		}
		if want := resultText(plain.fold(), false); !jsonpatch.Equal(got, want) {
			place, _ := jsonpatch.Difference(got, want)
			t.Fatalf("differs at %s\n got %s\nwant %s", place, got, want)
		}
		snap := r.Snapshot()
		imported := reducer.Import(snap)
		if text := resultText(imported.Result(), false); !jsonpatch.Equal(text, got) {
			place, _ := jsonpatch.Difference(text, got)
			t.Fatalf("the import differs at %s\n got %s\nwant %s", place, text, got)
		}
		imported.Changes()
		_ = reducer.Digest(res)
	})
}

// TestLimits: a stream made to be dear is not.
func TestLimits(t *testing.T) {
	deep := append(bytes.Repeat([]byte("["), 400), bytes.Repeat([]byte("]"), 400)...)
	r := reducer.New()
	r.Push(agjson.Event{Body: &agjson.StateSnapshot{Snapshot: []byte(`{"a":0}`)}})
	for i := range 5 {
		path := []byte(`/a`)
		path = append(path, bytes.Repeat([]byte("/0"), 400*i)...)
		patch := append([]byte(`[{"op":"replace","path":"`), path...)
		patch = append(append(append(patch, `","value":`...), deep...), `}]`...)
		if i > 0 {
			patch = bytes.Replace(patch, []byte(`"replace"`), []byte(`"add"`), 1)
		}
		r.Push(agjson.Event{Seq: int64(i + 1), Body: &agjson.StateDelta{Patch: patch}})
	}
	if r.Parked() == "" {
		t.Error("a state deeper than any decoder takes")
	}
	if _, err := agjson.ParseValue(r.Result().State); err != nil {
		t.Error(err)
	}
	r = reducer.New()
	r.Push(agjson.Event{Body: &agjson.StateSnapshot{Snapshot: []byte(`{"a":"0123456789"}`)}})
	r.Push(agjson.Event{Seq: 1, Body: &agjson.StateDelta{Patch: append(append([]byte(`[{"op":"test","path":"","value":{"a":"0123456789"}}`),
		bytes.Repeat([]byte(`,{"op":"copy","from":"","path":"/b"},{"op":"copy","from":"","path":"/c"}`), 40)...), ']')}})
	if r.Parked() == "" {
		t.Error("a patch that doubles the state forty times folds")
	}
}
