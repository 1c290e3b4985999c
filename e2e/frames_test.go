package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/agtest"
)

// recording is the stream of one invoke of a real SDK.
type recording struct {
	name      string
	framework string
	frames    [][]byte
}

// corpus are the recorded streams of the normalizers' testdata, as their hosts would send them: what the SDK threw instead of
// streaming comes last (SPEC §8.0).
func corpus(t testing.TB) []recording {
	t.Helper()
	var all []recording
	for _, framework := range []string{"claude", "vercel"} {
		dir := filepath.Join(root, "pkg", "agjson", "normalizer", framework, "testdata", "frames")
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".ndjson") || strings.HasSuffix(path, ".events.ndjson") {
				return err
			}
			rel, err := filepath.Rel(dir, strings.TrimSuffix(path, ".ndjson"))
			if err != nil {
				return err
			}
			r := recording{name: filepath.ToSlash(rel), framework: framework}
			for _, line := range agtest.Lines(t, path) {
				r.frames = append(r.frames, line)
			}
			if thrown := thrown(t, strings.TrimSuffix(path, ".ndjson")+".meta.json"); thrown != nil {
				r.frames = append(r.frames, thrown)
			}
			all = append(all, r)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 100 {
		t.Fatalf("there are only %d recordings", len(all))
	}
	return all
}

// thrown is the host terminal of a recording whose SDK threw, or nil.
func thrown(t testing.TB, meta string) []byte {
	t.Helper()
	data, err := os.ReadFile(meta)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Ended struct {
			Error *struct{ Name, Message string }
		}
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%s: %v", meta, err)
	}
	if m.Ended.Error == nil {
		return nil
	}
	return agtest.HostError(m.Ended.Error.Name, m.Ended.Error.Message)
}

// named is the recording of a name; framework tells two of the same name apart.
func named(t testing.TB, all []recording, framework, name string) recording {
	t.Helper()
	for _, r := range all {
		if r.framework == framework && r.name == name {
			return r
		}
	}
	t.Fatalf("there is no recording %s %s", framework, name)
	return recording{}
}

// invoke is a recording on its way into a thread.
type invoke struct {
	thread, id string
	rec        recording
	exit       int // status that its program ends with; only agwire exec reports one
}

// stored are the frames of the invoke as they are to stand in the log: a program that fails is reported in one more.
func (i invoke) stored() [][]byte {
	if i.exit == 0 {
		return i.rec.frames
	}
	status := strconv.Itoa(i.exit)
	return append(i.rec.frames[:len(i.rec.frames):len(i.rec.frames)], agtest.HostError("exit_"+status, "the program ended with status "+status))
}

// expected is what a thread comes to, by the offline tools.
type expected struct {
	thread string
	events int64           // on the log
	log    []agtest.Object // the same without the first, and without seq
	result any
}

// expect runs agwire convert over each invoke of a thread, with the ids that the host gives it, and agwire fold over all.
func expect(t testing.TB, invokes ...invoke) expected {
	t.Helper()
	var events []byte
	for _, i := range invokes {
		events = append(events, converted(t, i)...)
	}
	// The log begins with a snapshot of nothing (DESIGN §1).
	e := expected{thread: invokes[0].thread}
	for _, line := range agtest.SplitLines(events) {
		e.log = append(e.log, unnumbered(line))
	}
	e.events = 1 + int64(len(e.log))
	e.result = folded(t, invokes[0].thread, events)
	return e
}

// converted are the events that agwire convert makes of an invoke, as NDJSON.
func converted(t testing.TB, i invoke) []byte {
	t.Helper()
	return output(t, ndjson(i.stored()), "convert", "--from", i.rec.framework, "--thread", i.thread, "--turn", "turn_"+i.id, "--invoke", i.id)
}

// folded is agwire fold's answer; nothing may be rejected or parked.
func folded(t testing.TB, what string, events []byte) any {
	t.Helper()
	answer, ok := agtest.Decode(output(t, events, "fold")).(agtest.Object)
	if !ok || answer["needsResync"] != false || len(answer["rejected"].([]any)) > 0 {
		t.Fatalf("%s: agwire fold says needsResync %v, rejected %v", what, answer["needsResync"], answer["rejected"])
	}
	return answer["result"]
}

func ndjson(frames [][]byte) []byte {
	return append(bytes.Join(frames, []byte("\n")), '\n')
}
