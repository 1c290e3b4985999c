package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/vercel"
	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// run gives what a tool wrote and what it said was bad, "line: why".
func run(t *testing.T, in string, f func(bad func(int, error), in io.Reader, out io.Writer) error) (string, []string) {
	t.Helper()
	var out bytes.Buffer
	var bads []string
	bad := func(line int, why error) { bads = append(bads, fmt.Sprintf("%d: %v", line, why)) }
	if err := f(bad, iotest.HalfReader(strings.NewReader(in)), &out); err != nil {
		t.Fatal(err)
	}
	return out.String(), bads
}

func convert(t *testing.T, in string, lines bool) (string, []string) {
	return run(t, in, func(bad func(int, error), in io.Reader, out io.Writer) error {
		return Convert{New: newVercel, Lines: lines, Bad: bad}.Run(in, out)
	})
}

func newVercel() normalizer.Normalizer {
	return vercel.New(normalizer.Host{ThreadID: "th", TurnID: "t", Invoke: "i"})
}

func fold(t *testing.T, in string, lines, explain bool) (string, []string) {
	return run(t, in, func(bad func(int, error), in io.Reader, out io.Writer) error {
		return Fold{Lines: lines, Explain: explain, Bad: bad}.Run(in, out)
	})
}

const twoFrames = `{"type":"start","messageId":"m"}` + "\n\n" + `{"type":"text-start","id":"0"}` + "\n"

func TestConvertIsPushAndFlush(t *testing.T) {
	n := newVercel()
	var want []byte
	for _, frame := range []string{`{"type":"start","messageId":"m"}`, `{"type":"text-start","id":"0"}`} {
		want = appendEvents(want, n.Push([]byte(frame)), '\n')
	}
	want = appendEvents(want, n.Flush(), '\n')
	sse := "data: {\"type\":\"start\",\"messageId\":\"m\"}\n\nid: 7\ndata: {\"type\":\"text-start\",\"id\":\"0\"}\n\ndata: [DONE]\n\n"
	for name, in := range map[string]string{"NDJSON": twoFrames, "CRLF": strings.ReplaceAll(twoFrames, "\n", "\r\n"), "no end of line": strings.TrimSpace(twoFrames), "SSE": sse} {
		got, bad := convert(t, in, false)
		if got != string(want) || bad != nil {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, bad, got, want)
		}
	}
	if !strings.HasSuffix(string(want), `"reason":"stream-truncated"}`+"\n") {
		t.Errorf("the turn is not closed at the end:\n%s", want)
	}
}

func TestConvertTakesTheHostsTerminal(t *testing.T) {
	got, _ := convert(t, twoFrames+`{"type":"__host_error__","code":"exit_1","message":"it fell"}`+"\n", false)
	if !strings.Contains(got, `"type":"turn.error"`) || !strings.Contains(got, `"code":"exit_1"`) || strings.Contains(got, "turn.abort") {
		t.Error(got)
	}
}

func TestConvertGoesOnAfterABadLine(t *testing.T) {
	want, _ := convert(t, twoFrames, false)
	got, bad := convert(t, "{\"type\":\n"+twoFrames+"nonsense\n", false)
	if got != want || fmt.Sprint(bad) != "[1: not a JSON text 5: not a JSON text]" {
		t.Errorf("%v\n%s", bad, got)
	}
	if got, bad := convert(t, "", false); got != "" || bad != nil {
		t.Errorf("of nothing: %q %v", got, bad)
	}
}

func TestConvertLines(t *testing.T) {
	events, _ := convert(t, twoFrames, false)
	array := "[" + strings.ReplaceAll(strings.TrimSpace(events), "\n", ",") + "]\n"
	frames := "[" + strings.ReplaceAll(strings.TrimSpace(twoFrames), "\n\n", " , ") + "]\n"
	got, bad := convert(t, frames+"[]\n\n{\"type\":\"start\"}\n[1,\n"+frames, true)
	want := array + "[]\n" + `{"error":"agjson: JsonValue at (root): want an array"}` + "\n" + `{"error":"agjson: JsonValue at (root): the text ends too soon"}` + "\n" + array
	if got != want || len(bad) != 2 || !strings.HasPrefix(bad[0], "4: ") || !strings.HasPrefix(bad[1], "5: ") {
		t.Errorf("%v\n%s\nwant\n%s", bad, got, want)
	}
}

// The recorded streams: case by case and all in one process give the same events, and both fold to what they fold to in Go.
func TestConvertAndFoldRecordings(t *testing.T) {
	files, err := filepath.Glob("../../pkg/agjson/normalizer/vercel/testdata/frames/*/*.ndjson")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	var arrays, wantEvents, wantFolds strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, ".events.ndjson") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		events, bad := convert(t, string(data), false)
		folded, badEvents := fold(t, events, false, false)
		if bad != nil || badEvents != nil {
			t.Errorf("%s: %v %v", file, bad, badEvents)
		}
		want := reducer.New()
		if err := agjson.EachLine([]byte(events), func(line []byte) error {
			ev, err := agjson.Decode(line)
			want.Push(ev)
			return err
		}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		result := want.Result()
		if folded != fmt.Sprintf(`{"result":%s,"needsResync":%v,"rejected":[]}`+"\n", agjson.AppendReduceResult(nil, &result), want.Parked() != "") {
			t.Errorf("%s folds to %s", file, folded)
		}
		arrays.WriteString(array(string(data)))
		wantEvents.WriteString(array(events))
		wantFolds.WriteString(folded)
	}
	events, _ := convert(t, arrays.String(), true)
	if events != wantEvents.String() {
		t.Error("--lines converts differently")
	}
	if folds, _ := fold(t, events, true, false); folds != wantFolds.String() {
		t.Error("--lines folds differently")
	}
}

func array(ndjson string) string {
	return "[" + strings.ReplaceAll(strings.TrimSpace(ndjson), "\n", ",") + "]\n"
}

const oneTurn = `{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}
{"type":"message.start","seq":1,"id":"m","turnId":"t","role":"assistant","threadId":"th"}
`

// SPEC §10.20: what is no event is told, not folded, and the fold does not know of it.
func TestFoldRejects(t *testing.T) {
	in := oneTurn + `{"type":"text.start","seq":2}` + "\n\nnonsense\n" + `{"type":"text.start","seq":2,"id":"b","turnId":"t"}` + "\n" + `{"type":"text.later","seq":3}`
	got, bad := fold(t, in, false, false)
	if !strings.HasSuffix(got, `,"needsResync":false,"rejected":[3,5]}`+"\n") || fmt.Sprint(bad) != "[5: not a JSON text]" {
		t.Errorf("%v %s", bad, got)
	}
	if want := `{"result":{"messages":[{"id":"m","role":"assistant","content":[{"type":"text","text":""}]`; !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	got, _ = fold(t, in, false, true)
	if want := `,"rejected":[3,5],"explain":{"parked":[],"rejected":[{"line":3,"path":"/id","why":"missing"},{"line":5,"path":"","why":"want an object"}]}}` + "\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
}

func TestFoldExplainsWhatParked(t *testing.T) {
	in := oneTurn + `{"type":"text.delta","seq":2,"id":"nope","turnId":"t","delta":"x"}` + "\n" + `{"type":"turn.abort","seq":3,"turnId":"t"}` + "\n"
	got, _ := fold(t, in, false, true)
	var answer struct {
		NeedsResync bool
		Rejected    []int
		Explain     struct{ Parked, Rejected []agtest.Object }
	}
	if err := json.Unmarshal([]byte(got), &answer); err != nil {
		t.Fatal(err)
	}
	if p := answer.Explain.Parked; !answer.NeedsResync || len(p) != 1 || p[0]["line"] != 3.0 || p[0]["seq"] != 2.0 || p[0]["type"] != "text.delta" || p[0]["why"] == "" {
		t.Errorf("got %s", got)
	}
	got, bad := fold(t, array(in)+"[]\n7\n", true, false)
	lines := strings.Split(got, "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], `"needsResync":true,"rejected":[]}`) || !strings.Contains(lines[1], `"needsResync":false`) ||
		!strings.HasPrefix(lines[2], `{"error":`) || len(bad) != 1 {
		t.Errorf("%v\n%s", bad, got)
	}
}

func TestFoldOfNothing(t *testing.T) {
	want := `{"result":{"messages":[],"artifacts":[],"memory":[],"turns":[]},"needsResync":false,"rejected":[]}` + "\n"
	if got, _ := fold(t, "\n", false, false); got != want {
		t.Errorf("got %s", got)
	}
}

func TestCheck(t *testing.T) {
	in := `{"type":"text","text":"a"}` + "\n" + `{"type":"text"}` + "\n\n" + `{"type":"text","text":"a","zz":1}` + "\nnonsense\n" + `"\ud800"`
	want := `{"valid":true}
{"valid":false,"path":"/text","why":"missing"}
{"valid":false,"path":"/zz","why":"unknown member"}
{"valid":false,"path":"","why":"want an object"}
{"valid":false,"path":"","why":"want an object"}
`
	check := func(p agjson.Posture) string {
		got, _ := run(t, in, func(_ func(int, error), in io.Reader, out io.Writer) error {
			return Check{Schema: "AgBlock", Posture: p}.Run(in, out)
		})
		return got
	}
	if got := check(agjson.Producer); got != want {
		t.Errorf("got %s", got)
	}
	if got := check(agjson.Consumer); got != strings.Replace(want, `{"valid":false,"path":"/zz","why":"unknown member"}`, `{"valid":true}`, 1) {
		t.Errorf("got %s", got)
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 24<<20)
	event := `{"type":"text.delta","seq":2,"id":"b","delta":"` + long + `"}`
	got, _ := run(t, event, func(_ func(int, error), in io.Reader, out io.Writer) error {
		return Check{Schema: "AgEvent"}.Run(in, out)
	})
	if got != "{\"valid\":true}\n" {
		t.Errorf("got %.100s", got)
	}
	got, bad := convert(t, `[{"type":"start"},{"type":"text-start","id":"0"},{"type":"text-delta","id":"0","delta":"`+long+`"}]`, true)
	if bad != nil || !strings.Contains(got, long) {
		t.Errorf("%v %.100s", bad, got)
	}
	if got, bad := fold(t, got, true, false); bad != nil || !strings.Contains(got, long) || !strings.Contains(got, `"rejected":[]`) {
		t.Errorf("%v %.100s", bad, got)
	}
}

// A line that is too long costs no memory, and the next one is read.
func TestLineLimit(t *testing.T) {
	for _, keep := range []bool{false, true} {
		l := newLines(strings.NewReader("a\n"+strings.Repeat("x", 300<<10)+"\nb\n"+strings.Repeat("y", 101)+"\r\n c"), keep)
		l.max = 100
		var got []string
		for {
			line, err := l.next()
			if errors.Is(err, io.EOF) {
				break
			}
			got = append(got, fmt.Sprintf("%d %s %v", l.n, line, err))
		}
		if want := fmt.Sprintf("[1 a <nil> 2  %v 3 b <nil> 4  %v 5 c <nil>]", ErrTooLong, ErrTooLong); fmt.Sprint(got) != want {
			t.Errorf("got %v", got)
		}
		if cap(l.buf) > 1<<10 {
			t.Errorf("%d bytes are held", cap(l.buf))
		}
	}
}

func TestErrorsOfTheStreams(t *testing.T) {
	bad := func(int, error) {}
	for name, f := range map[string]func(io.Reader, io.Writer) error{
		"convert": Convert{New: newVercel, Bad: bad}.Run, "convert --lines": Convert{New: newVercel, Lines: true, Bad: bad}.Run,
		"fold": Fold{Bad: bad}.Run, "fold --lines": Fold{Lines: true, Bad: bad}.Run, "check": Check{Schema: "AgEvent"}.Run,
	} {
		broken := io.MultiReader(strings.NewReader("[]\n"), iotest.ErrReader(errors.New("the cable is out")))
		if err := f(broken, io.Discard); err == nil || !strings.Contains(err.Error(), "read: ") {
			t.Errorf("%s: a broken reader: %v", name, err)
		}
		if err := f(strings.NewReader("[{\"type\":\"start\"}]\n"), fullDisk{}); err == nil || !strings.Contains(err.Error(), "write: ") {
			t.Errorf("%s: a full disk: %v", name, err)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }
