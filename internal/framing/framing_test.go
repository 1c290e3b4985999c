package framing_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/agwire/agwire/internal/framing"
)

func readAll(r io.Reader, o framing.Options) (frames []string, err error) {
	fr := framing.NewReader(r, o)
	for {
		f, err := fr.Next()
		if err == io.EOF {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		frames = append(frames, string(f.Data))
	}
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"ndjson":            {"{\"a\":1}\n\n {\"b\":2} \r\n[3]", []string{`{"a":1}`, `{"b":2}`, `[3]`}},
		"byte order mark":   {"\xef\xbb\xbf{}\n", []string{`{}`}},
		"sse":               {": hi\n\nevent: x\ndata: {\"a\":1}\n\ndata: [DONE]\n\n", []string{`{"a":1}`}},
		"sse, two lines":    {"data: {\"a\":\ndata: 1}\n\n", []string{"{\"a\":\n1}"}},
		"sse, no last line": {"data: {}\n\nid: 4\ndata: 5", []string{`{}`, `5`}},
		"empty":             {" \n\n", nil},
		"done in ndjson":    {"{}\n[DONE]\n", []string{`{}`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAll(strings.NewReader(c.in), framing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got, c.want)
		})
	}
}

func TestBadFramesSayWhere(t *testing.T) {
	for in, want := range map[string]framing.Error{
		"{}\n\n{\"a\":}\n":                     {Frame: 1, Line: 3, Err: framing.ErrNotJSON},
		"{}\n{\"a\":1":                         {Frame: 1, Line: 2, Err: framing.ErrNotJSON},
		"\"" + strings.Repeat("x", 200) + "\"": {Frame: 0, Line: 1, Err: framing.ErrTooLarge},
		"data: {\n\n":                          {Frame: 0, Line: 1, Err: framing.ErrNotJSON},
		"{}\n\"\xff\"\n":                       {Frame: 1, Line: 2, Err: framing.ErrNotJSON},
	} {
		_, err := readAll(strings.NewReader(in), framing.Options{MaxFrame: 100})
		var fe *framing.Error
		if !errors.As(err, &fe) {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if *fe != want {
			t.Errorf("%q: %+v, want %+v", in, *fe, want)
		}
	}
}

// A frame that the stream's failure cut in two is never taken, whole as it may look.
func TestCutStream(t *testing.T) {
	cut := errors.New("cut")
	got, err := readAll(io.MultiReader(strings.NewReader("{}\n12"), iotest.ErrReader(cut)), framing.Options{})
	if !errors.Is(err, cut) {
		t.Fatalf("error %v", err)
	}
	equal(t, got, []string{"{}"})
}

func TestAnyChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{`{"a":"你好🦀"}`, `[1,2]`, `"x\n"`, `0`, `{"k":"` + strings.Repeat("y", 300) + `"}`}), 1, 8).Draw(t, "texts")
		sse := rapid.Bool().Draw(t, "sse")
		var b strings.Builder
		for _, s := range texts {
			if sse {
				b.WriteString("data: " + s + "\n\n")
			} else {
				b.WriteString(s + "\n")
			}
		}
		var r io.Reader = strings.NewReader(b.String())
		if rapid.Bool().Draw(t, "bytewise") {
			r = iotest.OneByteReader(r)
		}
		got, err := readAll(r, framing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "|") != strings.Join(texts, "|") {
			t.Fatalf("got %q, want %q", got, texts)
		}
	})
}
