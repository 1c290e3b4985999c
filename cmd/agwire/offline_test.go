package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/sources"
)

func runOn(t *testing.T, stdin, args string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &process{stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr, exit: func(code int) { t.Errorf("exit %d", code) }}
	code := run(t.Context(), p, strings.Fields(args))
	return result{code, stdout.String(), stderr.String()}
}

func TestConvertCommand(t *testing.T) {
	frame := `{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"hi"}]},"session_id":"s"}`
	got := runOn(t, frame+"\nnonsense\n", "convert --from=claude --thread=th --turn=tu")
	if got.code != 1 || got.stderr != "agwire convert: line 2: not a JSON text\n" || !strings.Contains(got.stdout, `"turnId":"tu","threadId":"th"`) ||
		!strings.HasSuffix(got.stdout, `"reason":"stream-truncated"}`+"\n") {
		t.Errorf("%+v", got)
	}
	got = runOn(t, "["+frame+"]\n[]\n", "convert --from claude --lines")
	if got.code != 0 || got.stderr != "" || strings.Count(got.stdout, "\n") != 2 || !strings.HasPrefix(got.stdout, `[{"type":`) || !strings.HasSuffix(got.stdout, "]\n[]\n") {
		t.Errorf("%+v", got)
	}
	for _, name := range sources.Names() {
		_, err := sources.New(name, normalizer.Host{})
		if got := runOn(t, "", "convert --from "+name); (got.code == 0) != (err == nil) || got.code != 0 && got.code != 2 {
			t.Errorf("%s: %+v", name, got)
		} else if err != nil && (!strings.Contains(got.stderr, name) || !strings.Contains(got.stderr, strings.Join(sources.Built(), ", "))) {
			t.Errorf("%s: %s", name, got.stderr)
		}
	}
	for args, want := range map[string]string{"convert": "from", "convert --from klaude": `"klaude"`} {
		if got := runOn(t, "", args); got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestFoldCommand(t *testing.T) {
	events := `{"type":"turn.start","seq":0,"turnId":"t","threadId":"th"}` + "\n" + `{"type":"turn.abort","seq":1}` + "\n" + `{"type":"turn.abort"}` + "\n"
	want := `{"result":{"messages":[],"artifacts":[],"memory":[],"turns":[{"turnId":"t","threadId":"th","outcome":{"type":"aborted"}}]},"needsResync":false,"rejected":[3]`
	if got := runOn(t, events, "fold"); got != (result{0, want + "}\n", ""}) {
		t.Errorf("%+v", got)
	}
	want += `,"explain":{"parked":[],"rejected":[{"line":3,"path":"/seq","why":"missing"}]}}` + "\n"
	if got := runOn(t, "["+strings.ReplaceAll(strings.TrimSpace(events), "\n", ",")+"]", "fold --lines --explain"); got != (result{0, want, ""}) {
		t.Errorf("%+v", got)
	}
	if got := runOn(t, "7", "fold --lines"); got.code != 1 || !strings.HasPrefix(got.stderr, "agwire fold: line 1: ") {
		t.Errorf("%+v", got)
	}
}

func TestCheckCommand(t *testing.T) {
	block := `{"type":"text","text":"a","zz":1}` + "\n"
	refused := `{"valid":false,"path":"/zz","why":"unknown member"}` + "\n"
	for args, want := range map[string]result{
		"check --schema AgBlock":                    {0, refused, ""},
		"check --schema AgBlock --posture producer": {0, refused, ""},
		"check --schema AgBlock --posture consumer": {0, `{"valid":true}` + "\n", ""},
		"check --schema JsonValue --lines":          {0, `{"valid":true}` + "\n", ""},
	} {
		if got := runOn(t, block, args); got != want {
			t.Errorf("%s: %+v", args, got)
		}
	}
	for args, want := range map[string]string{"check": "schema", "check --schema AgThing": "schema", "check --schema AgBlock --posture strict": "posture"} {
		if got := runOn(t, block, args); got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}
