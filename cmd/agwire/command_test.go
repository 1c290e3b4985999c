package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// echo is a service that ends the process once it has been reached over HTTP.
type echo struct{ stop context.CancelFunc }

func (e echo) Ready() bool { return true }

func (e echo) Routes() map[string]http.Handler {
	return map[string]http.Handler{"GET /v1/echo": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { e.stop() })}
}

func (e echo) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// testTable is a table with a service and two tools beside version.
func testTable() []command {
	return []command{versionCommand(), echoCommand(), greetCommand(), failCommand()}
}

func echoCommand() command {
	return command{
		name: "echo", summary: "answer once", signals: true,
		setup: func(set *config.Set) runFunc {
			cfg := app.DefaultConfig("127.0.0.1:0")
			set.Add("Process", cfg.Settings()...)
			return func(ctx context.Context, p *process, _ []string) error {
				sh, err := p.newShell(cfg, "")
				if err != nil {
					return err
				}
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				if err := sh.app.Add("echo", echo{cancel}); err != nil {
					return err
				}
				addr, err := sh.app.Listen(ctx)
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(p.stdout, "http://%s\n", addr); err != nil {
					return err
				}
				return sh.run(ctx)
			}
		},
	}
}

func greetCommand() command {
	return command{
		name: "greet", args: "NAME", minArgs: 1, maxArgs: 1, summary: "greet someone",
		long: "Greets once for each repetition.",
		setup: func(set *config.Set) runFunc {
			var times int
			var token config.Secret
			set.Add("Greet",
				&config.IntVar{Name: "times", To: &times, Default: 1, Min: 1, Max: 3, Help: "how often"},
				&config.SecretVar{Name: "token", To: &token, Help: "what lets one in"})
			return func(_ context.Context, p *process, args []string) error {
				_, err := io.WriteString(p.stdout, strings.Repeat("hello "+args[0]+"\n", times))
				return err
			}
		},
	}
}

func failCommand() command {
	return command{
		name: "fail", summary: "fail in a chosen way", maxArgs: -1,
		setup: func(*config.Set) runFunc {
			return func(_ context.Context, _ *process, args []string) error {
				switch strings.Join(args, " ") {
				case "status":
					return fmt.Errorf("run: %w", exitStatus(42))
				case "drain":
					return fmt.Errorf("%w: [x] still at work", app.ErrDrain)
				}
				return errors.New("the disk is full")
			}
		},
	}
}

// result is what a command left.
type result struct {
	code           int
	stdout, stderr string
}

func runTest(t *testing.T, environ []string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &process{environ: environ, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
		exit: func(code int) { t.Errorf("exit %d", code) }}
	code := runTable(t.Context(), p, testTable(), args)
	return result{code, stdout.String(), stderr.String()}
}

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agwire.yaml")
	if err := os.WriteFile(file, []byte("times: 2\nlog-level: debug\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args    string
		environ []string
		want    result
	}{
		{"greet Ada", nil, result{0, "hello Ada\n", ""}},
		{"greet Ada --times=2", nil, result{0, "hello Ada\nhello Ada\n", ""}},
		{"greet Ada", []string{"AGWIRE_CONFIG=" + file, "AGWIRE_PPROF=true", "AGWIRE_TEST_REDIS_URL=x", "AGWIRE_VECTORS=y"},
			result{0, "hello Ada\nhello Ada\n", ""}},
		{"greet", nil, result{2, "", "agwire greet: an argument is missing: agwire greet [flags] NAME\n"}},
		{"greet Ada Bob", nil, result{2, "", "agwire greet: there are too many arguments: agwire greet [flags] NAME\n"}},
		{"greet Ada --times=4 --tokn=x", []string{"AGWIRE_TIME=1"}, result{2, "", "agwire greet: bad settings:\n" +
			"  times: 4 is out of range: 1 to 3 (--times)\n  --tokn: is no flag; did you mean --token?\n" +
			"  AGWIRE_TIME: is no setting; did you mean AGWIRE_TIMES?\nSee agwire help greet.\n"}},
		{"fail", nil, result{1, "", "agwire fail: the disk is full\n"}},
		{"fail status", nil, result{42, "", ""}},
		{"fail drain", nil, result{3, "", "agwire fail: drain budget exceeded: [x] still at work\n"}},
		{"version extra", nil, result{2, "", "agwire version: there are too many arguments: agwire version [flags]\n"}},
		{"nope", nil, result{2, "", "agwire: there is no command \"nope\"; there are help, version, echo, greet, fail\n"}},
		{"help nope", nil, result{2, "", "agwire help: there is no command \"nope\"; there are help, version, echo, greet, fail\n"}},
		{"help greet fail", nil, result{2, "", "agwire help: there are too many arguments: agwire help [COMMAND]\n"}},
	} {
		if got := runTest(t, tc.environ, strings.Fields(tc.args)...); got != tc.want {
			t.Errorf("agwire %s: %+v, want %+v", tc.args, got, tc.want)
		}
	}
}

func TestHelp(t *testing.T) {
	overview := runTest(t, nil, "help")
	for _, cmd := range testTable() {
		if !strings.Contains(overview.stdout, "  "+cmd.name+" ") || !strings.Contains(overview.stdout, cmd.summary) {
			t.Errorf("%s is not in\n%s", cmd.name, overview.stdout)
		}
	}
	for _, args := range []string{"--help", "-h"} {
		if got := runTest(t, nil, args); got != overview || got.code != 0 {
			t.Errorf("agwire %s: %+v", args, got)
		}
	}
	if got := runTest(t, nil); got.code != 2 || got.stdout != "" || got.stderr != overview.stdout {
		t.Errorf("agwire alone: %+v", got)
	}
	one := runTest(t, nil, "help", "greet")
	for _, want := range []string{"Greet someone.\n\nUsage: agwire greet [flags] NAME\n\nGreets once for each repetition.\n\n", "--times int", "AGWIRE_TOKEN", "--config path"} {
		if !strings.Contains(one.stdout, want) {
			t.Errorf("%q is not in\n%s", want, one.stdout)
		}
	}
	for _, args := range []string{"greet --help", "greet -h --times=9 --nope"} {
		if got := runTest(t, nil, strings.Fields(args)...); got != one || got.code != 0 {
			t.Errorf("agwire %s: %+v", args, got)
		}
	}
}

func TestVersion(t *testing.T) {
	got := runTest(t, nil, "version")
	if fields := strings.Fields(got.stdout); got.code != 0 || len(fields) != 4 || fields[0] != "agwire" || !strings.HasPrefix(fields[2], "go1.") {
		t.Errorf("agwire version: %+v", got)
	}
	if again := runTest(t, nil, "--version"); again != got {
		t.Errorf("agwire --version: %+v", again)
	}
}

// A command with services prints where it listens, logs its settings and ends well.
func TestServiceCommand(t *testing.T) {
	out, in := io.Pipe()
	var stderr bytes.Buffer
	p := &process{stdout: in, stderr: &stderr, exit: func(int) {}}
	end := make(chan int, 1)
	var url string
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	context.AfterFunc(ctx, func() { in.Close() })
	done := make(chan struct{})
	defer func() { <-done }()
	go func() {
		defer close(done)
		end <- runTable(ctx, p, testTable(), []string{"echo"})
	}()
	if _, err := fmt.Fscanln(out, &url); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(url + "/v1/nothing")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusNotFound || got != "application/json" {
		t.Errorf("an unknown path is answered %d as %s", resp.StatusCode, got)
	}
	for {
		resp, err := http.Get(url + "/v1/echo")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			break
		}
	}
	if code := <-end; code != 0 {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	http.DefaultClient.CloseIdleConnections()
	for _, want := range []string{`"msg":"starting","svc":"echo"`, `"drain":"20s"`, `"msg":"listening"`, `"msg":"stopped"`, `"cause":"context canceled"`} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%s is not in the log\n%s", want, stderr.String())
		}
	}
}
