package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agwire/agwire/internal/config"
)

// values has a variable of each kind.
type values struct {
	name   string
	window int
	body   int64
	drain  time.Duration
	demo   bool
	format string
	tags   []string
	token  config.Secret
	nats   config.URL
	from   string
}

func define(v *values) *config.Set {
	set := config.NewSet()
	set.Add("One",
		&config.StringVar{Name: "name", To: &v.name, Default: "agw", Help: "prefix of every subject"},
		&config.IntVar{Name: "window", To: &v.window, Default: 256, Min: 1, Max: 998, Unit: "messages", Help: "messages in flight"},
		&config.SizeVar{Name: "max-body", To: &v.body, Default: 1 << 20, Min: 1 << 10, Help: "largest body"},
		&config.DurationVar{Name: "drain", To: &v.drain, Default: 10 * time.Second, Min: time.Millisecond, Max: time.Hour, Help: "budget at shutdown"},
	)
	set.Add("Two",
		&config.BoolVar{Name: "demo", To: &v.demo, Help: "replay recorded streams"},
		&config.EnumVar{Name: "log-format", To: &v.format, Default: "json", Values: []string{"json", "console"}, Help: "shape of the log"},
		&config.ListVar{Name: "tags", To: &v.tags, Default: []string{"a", "b"}, Help: "labels"},
		&config.SecretVar{Name: "token", To: &v.token, Help: "bearer token"},
		&config.URLVar{Name: "nats-url", To: &v.nats, Default: "nats://127.0.0.1:4222", Schemes: []string{"nats", "tls"}, Many: true, Help: "NATS servers"},
		&config.StringVar{Name: "from", To: &v.from, Kind: "cursor", Help: "where to begin", FlagOnly: true},
	)
	return set
}

func writeFile(t interface{ Fatal(...any) }, dir, text string) string {
	path := filepath.Join(dir, "agwire.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// problems is the message lines of err, which must be an *Error.
func problems(t *testing.T, err error) []string {
	t.Helper()
	var all *config.Error
	if !errors.As(err, &all) {
		t.Fatalf("Load: %v, want a *config.Error", err)
	}
	return strings.Split(all.Error(), "\n")
}

func TestDefaults(t *testing.T) {
	var v values
	args, err := define(&v).Load(config.Source{})
	if err != nil || len(args) != 0 {
		t.Fatalf("Load: %v, %v", args, err)
	}
	if v.name != "agw" || v.window != 256 || v.body != 1<<20 || v.drain != 10*time.Second || v.demo ||
		v.format != "json" || !slices.Equal(v.tags, []string{"a", "b"}) || !v.token.Empty() ||
		v.nats.Reveal() != "nats://127.0.0.1:4222" || v.from != "" {
		t.Errorf("defaults are %+v", v)
	}
}

func TestPrecedence(t *testing.T) {
	file := writeFile(t, t.TempDir(), "window: 3\nname: file\nmax-body: 3KiB\n")
	var v values
	args, err := define(&v).Load(config.Source{
		Args:    []string{"thread-1", "--window", "1", "--config=" + file, "--", "--not-a-flag"},
		Environ: []string{"AGWIRE_WINDOW=2", "AGWIRE_NAME=env", "PATH=/bin", "AGWIRE_CONFIG=/nowhere"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if v.window != 1 || v.name != "env" || v.body != 3<<10 || v.drain != 10*time.Second {
		t.Errorf("flag, env, file, default gave %d, %q, %d, %v", v.window, v.name, v.body, v.drain)
	}
	if !slices.Equal(args, []string{"thread-1", "--not-a-flag"}) {
		t.Errorf("arguments are %q", args)
	}
}

func TestConfigFromEnvironment(t *testing.T) {
	file := writeFile(t, t.TempDir(), "window: 3")
	var v values
	set := define(&v)
	if _, err := set.Load(config.Source{Environ: []string{"AGWIRE_CONFIG=" + file}}); err != nil {
		t.Fatal(err)
	}
	if v.window != 3 || set.Logged()["config"] != file {
		t.Errorf("window %d from %q", v.window, set.Logged()["config"])
	}
}

func TestEveryProblemAtOnce(t *testing.T) {
	file := writeFile(t, t.TempDir(), strings.Join([]string{
		"drain: 2h", "max-bodi: 1", "log-format: xml", "log-format: json", "name: {a: b}", "demo:", "4: 5"}, "\n"))
	var v values
	_, err := define(&v).Load(config.Source{
		Args:    []string{"--window=999", "--nope", "x", "--wndow", "-z", "--config", file, "--from"},
		Environ: []string{"AGWIRE_TAGS=a,,b", "AGWIRE_NATS_URL=http://user:pass@host", "AGWIRE_WINDOWS=1", "AGWIRE_FROM=1"},
	})
	want := []string{
		"name: is no single value (agwire.yaml line 5)",
		"window: 999 messages is out of range: 1 to 998 messages (--window)",
		"drain: 2h is out of range: 1ms to 1h (agwire.yaml line 1)",
		`demo: has no value; write "" for an empty one (agwire.yaml line 6)`,
		"log-format: is given twice (agwire.yaml line 4)",
		`log-format: "xml" is not one of json, console (agwire.yaml line 3)`,
		"tags: item 2 is empty (AGWIRE_TAGS)",
		"nats-url: has not the scheme nats or tls (AGWIRE_NATS_URL)",
		"from: needs a value",
		"--nope: is no flag; did you mean --name?",
		"--wndow: is no flag; did you mean --window?",
		"-z: is no flag",
		"AGWIRE_FROM: is no setting",
		"AGWIRE_WINDOWS: is no setting; did you mean AGWIRE_WINDOW?",
		"max-bodi: is no setting; did you mean max-body? (agwire.yaml line 2)",
		"4: is no setting (agwire.yaml line 7)",
	}
	if got := problems(t, err); !slices.Equal(got, want) {
		t.Errorf("problems are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOnlyWhatCountsIsJudged(t *testing.T) {
	file := writeFile(t, t.TempDir(), "window: none\ndemo: [1]\n")
	var v values
	_, err := define(&v).Load(config.Source{
		Args:    []string{"--window=5"},
		Environ: []string{"AGWIRE_CONFIG=" + file, "AGWIRE_WINDOW=many", "AGWIRE_DEMO=true"},
	})
	if err != nil || v.window != 5 || !v.demo {
		t.Errorf("window %d, demo %v: %v", v.window, v.demo, err)
	}
}

func TestRequired(t *testing.T) {
	for _, tc := range []struct {
		env  []string
		want []string
	}{
		{nil, []string{
			"thread: is required: give --thread",
			"redis-url: is required: give --redis-url or AGWIRE_REDIS_URL",
			"token: is required: give --token or AGWIRE_TOKEN"}},
		{[]string{"AGWIRE_REDIS_URL=", "AGWIRE_TOKEN="}, []string{
			"thread: is required: give --thread",
			"redis-url: is empty (AGWIRE_REDIS_URL)",
			"token: is empty (AGWIRE_TOKEN)"}},
	} {
		var thread string
		var redis config.URL
		var token config.Secret
		set := config.NewSet()
		set.Add("", &config.StringVar{Name: "thread", To: &thread, Required: true, FlagOnly: true},
			&config.URLVar{Name: "redis-url", To: &redis, Schemes: []string{"redis"}, Required: true},
			&config.SecretVar{Name: "token", To: &token, Required: true})
		_, err := set.Load(config.Source{Environ: tc.env})
		if got := problems(t, err); !slices.Equal(got, tc.want) {
			t.Errorf("problems are %q, want %q", got, tc.want)
		}
	}
}

// A default is a value, too; what Required still means is that an empty one is refused.
func TestRequiredWithDefault(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want []string
	}{
		{nil, nil},
		{[]string{"AGWIRE_DATA=", "AGWIRE_REDIS_URL="}, []string{"data: is empty (AGWIRE_DATA)", "redis-url: is empty (AGWIRE_REDIS_URL)"}},
	} {
		var data string
		var redis config.URL
		set := config.NewSet()
		set.Add("", &config.StringVar{Name: "data", To: &data, Default: ".agwire", Required: true},
			&config.URLVar{Name: "redis-url", To: &redis, Default: "redis://127.0.0.1", Schemes: []string{"redis"}, Required: true})
		_, err := set.Load(config.Source{Environ: c.env})
		switch {
		case c.want != nil:
			if got := problems(t, err); !slices.Equal(got, c.want) {
				t.Errorf("problems are %q, want %q", got, c.want)
			}
		case err != nil || data != ".agwire" || redis.Reveal() != "redis://127.0.0.1":
			t.Errorf("got %q, %q, %v", data, redis, err)
		}
	}
}

func TestNamesOfOthers(t *testing.T) {
	file := writeFile(t, t.TempDir(), "idle-after: {not: [looked, at]}\nwindow: 7\n")
	var v values
	src := config.Source{
		Environ: []string{"AGWIRE_CONFIG=" + file, "AGWIRE_SHARDS=x", "AGWIRE_TEST_REDIS_URL=y", "AGWIRE_VECTORS=z"},
		Known:   []string{"shards", "idle-after"},
		Foreign: []string{"AGWIRE_TEST_*", "AGWIRE_VECTORS"},
	}
	if _, err := define(&v).Load(src); err != nil || v.window != 7 {
		t.Errorf("window %d: %v", v.window, err)
	}
	src.Known, src.Foreign = nil, nil
	_, err := define(&v).Load(src)
	if got := problems(t, err); len(got) != 4 {
		t.Errorf("without them, problems are %q", got)
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"a: b: c":                           "agwire.yaml: yaml: mapping values are not allowed in this context",
		"- window":                          "agwire.yaml: is no mapping of settings",
		"window: 1\n---\nwindow: 2":         "agwire.yaml: holds more than one document",
		"name: " + strings.Repeat("x", 2e6): "is larger than 1MiB",
	} {
		var v values
		_, err := define(&v).Load(config.Source{Args: []string{"--config", writeFile(t, dir, text)}})
		if got := problems(t, err); len(got) != 1 || !strings.HasPrefix(got[0], "config: "+want) {
			t.Errorf("problems are %q, want %q", got, want)
		}
	}
	for path, want := range map[string]string{"": "no such file", dir: "cannot be read", filepath.Join(dir, "none"): "no such file"} {
		var v values
		_, err := define(&v).Load(config.Source{Args: []string{"--config", path}})
		if got := problems(t, err); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("problems of %q are %q, want %q", path, got, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "null"} {
		var v values
		if _, err := define(&v).Load(config.Source{Args: []string{"--config", writeFile(t, dir, text)}}); err != nil {
			t.Errorf("an empty file %q: %v", text, err)
		}
	}
}

func TestFileForms(t *testing.T) {
	var v values
	path := writeFile(t, t.TempDir(), "name: &n \"007\"\nfrom-anchor: *n\nwindow: 0012\ntags: [x, &y z, *y]\ndrain: 5s\ndemo: true\n")
	_, err := define(&v).Load(config.Source{Args: []string{"--config", path}, Known: []string{"from-anchor"}})
	if err != nil || v.name != "007" || v.window != 12 || !slices.Equal(v.tags, []string{"x", "z", "z"}) || v.drain != 5*time.Second || !v.demo {
		t.Errorf("%+v: %v", v, err)
	}
	for _, text := range []string{"tags: ['']", "tags: [a, [b]]", "tags: ['a,b']", "tags: {a: b}", "tags: [null]", "window: [1]"} {
		path := writeFile(t, t.TempDir(), text)
		if _, err := define(&v).Load(config.Source{Args: []string{"--config", path}}); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestRepeatedFlags(t *testing.T) {
	var v values
	_, err := define(&v).Load(config.Source{Args: []string{"--tags", "a,b", "--window=1", "--tags=c", "--window=2", "--demo"}})
	if err != nil || !slices.Equal(v.tags, []string{"a", "b", "c"}) || v.window != 2 || !v.demo {
		t.Errorf("tags %q, window %d, demo %v: %v", v.tags, v.window, v.demo, err)
	}
}

func TestHelpWinsOverProblems(t *testing.T) {
	var v values
	for _, args := range [][]string{{"--help"}, {"-h"}, {"--bogus", "--window=x", "--help"}} {
		if _, err := define(&v).Load(config.Source{Args: args}); !errors.Is(err, config.ErrHelp) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if _, err := define(&v).Load(config.Source{Args: []string{"--", "--help"}}); err != nil {
		t.Errorf("help behind --: %v", err)
	}
}

func TestHelpIsComplete(t *testing.T) {
	var v values
	var b strings.Builder
	if err := define(&v).Help(&b); err != nil {
		t.Fatal(err)
	}
	want := `One:
  --name string                             AGWIRE_NAME
        Prefix of every subject. Default agw.
  --window int                              AGWIRE_WINDOW
        Messages in flight. 1 to 998 messages. Default 256 messages.
  --max-body size                           AGWIRE_MAX_BODY
        Largest body. At least 1KiB. Default 1MiB.
  --drain duration                          AGWIRE_DRAIN
        Budget at shutdown. 1ms to 1h. Default 10s.

Two:
  --demo                                    AGWIRE_DEMO
        Replay recorded streams. Default false.
  --log-format word                         AGWIRE_LOG_FORMAT
        Shape of the log. One of json, console. Default json.
  --tags list                               AGWIRE_TAGS
        Labels. Default a,b.
  --token secret                            AGWIRE_TOKEN
        Bearer token.
  --nats-url url                            AGWIRE_NATS_URL
        NATS servers. Scheme nats, tls; several comma-separated. Default
        nats://127.0.0.1:4222.
  --from cursor
        Where to begin.

General:
  --config path                             AGWIRE_CONFIG
        YAML file of settings: a mapping from the names above, without the dashes, to
        values.
  --help
        This text.

A flag wins over the environment, the environment over the file, the file over the default.
`
	if b.String() != want {
		t.Errorf("help is\n%s\nwant\n%s", b.String(), want)
	}
}

func TestBrokenDefinitions(t *testing.T) {
	var s string
	var n int
	var u config.URL
	var l []string
	bad := map[string]config.Setting{
		"no name":     &config.StringVar{Name: "Bad_Name", To: &s},
		"reserved":    &config.StringVar{Name: "config", To: &s},
		"help":        &config.StringVar{Name: "help", To: &s},
		"no target":   &config.StringVar{Name: "x"},
		"default":     &config.IntVar{Name: "x", To: &n, Min: 1},
		"enum":        &config.EnumVar{Name: "x", To: &s, Values: []string{"a"}},
		"url":         &config.URLVar{Name: "x", To: &u, Default: "nope", Schemes: []string{"nats"}},
		"url schemes": &config.URLVar{Name: "x", To: &u},
		"list":        &config.ListVar{Name: "x", To: &l, Default: []string{"a,b"}},
		"check":       &config.StringVar{Name: "x", To: &s, Default: "d", Check: func(string) error { return errors.New("is odd") }},
	}
	for what, v := range bad {
		set := config.NewSet()
		set.Add("", v)
		if set.Check() == nil {
			t.Errorf("%s: accepted", what)
		}
		if _, err := set.Load(config.Source{}); err == nil {
			t.Errorf("%s: loaded", what)
		}
	}
	set := config.NewSet()
	set.Add("", &config.IntVar{Name: "x", To: &n}, &config.StringVar{Name: "x", To: &s})
	if err := set.Check(); err == nil || err.Error() != "x: is defined twice (definition)" {
		t.Errorf("a name defined twice: %v", err)
	}
}

func TestNothingPrintsASecret(t *testing.T) {
	const password = "hunter2"
	var v values
	set := define(&v)
	_, err := set.Load(config.Source{
		Args:    []string{"--token", password},
		Environ: []string{"AGWIRE_NATS_URL=nats://" + password + "@a:1,tls://u:" + password + "@b:2/?p=" + password},
	})
	if err != nil {
		t.Fatal(err)
	}
	holder := struct {
		Token config.Secret
		token config.Secret
		URL   *config.URL
		url   config.URL
	}{v.token, v.token, &v.nats, v.nats}
	asJSON, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{string(asJSON), fmt.Sprint(set.Logged()), v.token.String(), v.nats.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown = append(shown, fmt.Sprintf(verb, holder), fmt.Sprintf(verb, v.token), fmt.Sprintf(verb, &v.nats))
	}
	for _, text := range shown {
		if strings.Contains(text, password) || strings.Contains(text, fmt.Sprintf("%x", password)) {
			t.Errorf("shown: %s", text)
		}
	}
	if got, want := v.nats.String(), "nats://[redacted]@a:1,tls://[redacted]@b:2/?[redacted]"; got != want {
		t.Errorf("URL is shown as %s, want %s", got, want)
	}
	if v.token.Reveal() != password {
		t.Error("the secret is lost")
	}
	for _, bad := range []string{"http://u:" + password + "@h", "://" + password, "nats://u:" + password + "@", password + "\x00", "nats://h:" + password} {
		_, err := define(&v).Load(config.Source{Args: []string{"--nats-url", bad}})
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("a bad URL is reported as: %v", err)
		}
	}
}

func TestLogged(t *testing.T) {
	var v values
	set := define(&v)
	if _, err := set.Load(config.Source{Args: []string{"--token=x", "--max-body=1536", "--drain=60m"}}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"name": "agw", "window": "256", "max-body": "1536B", "drain": "1h", "demo": "false",
		"log-format": "json", "tags": "a,b", "token": "[redacted]", "nats-url": "nats://127.0.0.1:4222", "from": ""}
	if got := set.Logged(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("logged %v, want %v", got, want)
	}
}

func TestNames(t *testing.T) {
	var v values
	want := []string{"demo", "drain", "log-format", "max-body", "name", "nats-url", "tags", "token", "window"}
	if got := define(&v).Names(); !slices.Equal(got, want) {
		t.Errorf("names are %q, want %q", got, want)
	}
	if got := config.EnvName("nats-url"); got != "AGWIRE_NATS_URL" {
		t.Errorf("variable is %s", got)
	}
}
