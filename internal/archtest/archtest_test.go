package archtest_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agwire/agwire/internal/archtest"
)

func TestLaws(t *testing.T) {
	tree, err := archtest.Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, law := range archtest.Laws() {
		t.Run(law.Name, func(t *testing.T) {
			for _, breach := range law.Find(tree) {
				t.Errorf("%s: %s", breach, law.Why)
			}
		})
	}
	t.Run("clauses-are-cited", func(t *testing.T) {
		for _, breach := range archtest.CheckClauses(tree, archtest.Exceptions()) {
			t.Error(breach)
		}
	})
}

// load reads a tree out of a txtar-like text: "== path" begins a file.
func load(t *testing.T, text string) *archtest.Tree {
	t.Helper()
	files := fstest.MapFS{}
	for _, part := range strings.Split(text, "== ")[1:] {
		name, src, _ := strings.Cut(part, "\n")
		if strings.HasSuffix(name, ".go") && !strings.Contains(src, "package ") {
			src = "package x\n" + src
		}
		files[name] = &fstest.MapFile{Data: []byte(src)}
	}
	tree, err := archtest.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func imports(path string) string {
	path = strings.Replace(path, "~", "github.com/agwire/agwire", 1)
	return "import _ \"" + path + "\"\n"
}

// snippets are what each law refuses, and the nearest that it allows.
func snippets() map[string]struct{ bad, good []string } {
	type s = struct{ bad, good []string }
	return map[string]s{
		"services-meet-on-the-bus": {
			bad:  []string{"== services/a/x.go\n" + imports("~/services/b"), "== services/a/sub/x_test.go\n" + imports("~/services/b/sub")},
			good: []string{"== services/a/x.go\n" + imports("~/services/a/sub"), "== cmd/agwire/x.go\n" + imports("~/services/b")}},
		"facets-are-strangers": {
			bad: []string{"== pkg/agjson/normalizer/a/x.go\n" + imports("~/pkg/agjson/normalizer/b"), "== pkg/agjson/normalizer/a/x.go\n" + imports("~/pkg/agjson/normalizer/sources")},
			good: []string{"== pkg/agjson/normalizer/a/x.go\n" + imports("~/pkg/agjson/normalizer"),
				"== pkg/agjson/normalizer/a/x.go\n" + imports("~/pkg/agjson/normalizer/internal/b"),
				"== pkg/agjson/normalizer/sources/x.go\n" + imports("~/pkg/agjson/normalizer/a") + imports("~/pkg/agjson/normalizer/b")}},
		"agjson-is-pure": {
			bad: []string{"== pkg/agjson/x.go\n" + imports("go.uber.org/zap"), "== pkg/agjson/reducer/x.go\n" + imports("~/pkg/client"),
				"== pkg/agjson/x.go\n" + imports("pgregory.net/rapid")},
			good: []string{"== pkg/agjson/x.go\n" + imports("encoding/json"), "== pkg/agjson/x_test.go\n" + imports("pgregory.net/rapid"),
				"== pkg/agjson/agtest/x.go\n" + imports("pgregory.net/rapid"), "== pkg/client/x.go\n" + imports("github.com/coder/websocket")}},
		"agjson-tests": {
			bad:  []string{"== pkg/agjson/x_test.go\n" + imports("go.uber.org/goleak"), "== pkg/agjson/agtest/x.go\n" + imports("gopkg.in/yaml.v3")},
			good: []string{"== pkg/agjson/x_test.go\n" + imports("pgregory.net/rapid"), "== pkg/agjson/x_test.go\n" + imports("os")}},
		"agjson-has-no-effects": {
			bad: []string{"== pkg/agjson/x.go\n" + imports("os"), "== pkg/agjson/x.go\n" + imports("net/http"),
				"== pkg/agjson/x.go\n" + imports("context"), "== pkg/agjson/x.go\n" + imports("math/rand/v2")},
			good: []string{"== pkg/agjson/x.go\n" + imports("math"), "== pkg/agjson/x_test.go\n" + imports("os"), "== pkg/agjson/internal/gen/x.go\n" + imports("os")}},
		"pkg-is-public": {
			bad:  []string{"== pkg/client/x.go\n" + imports("~/internal/bus"), "== pkg/client/x_test.go\n" + imports("~/services/fanout")},
			good: []string{"== pkg/client/x.go\n" + imports("~/pkg/agjson")}},
		"internal-knows-no-service": {
			bad:  []string{"== internal/app/x.go\n" + imports("~/services/ingest")},
			good: []string{"== internal/app/x.go\n" + imports("~/internal/config"), "== internal/app/x.go\n" + imports("~/pkg/agjson")}},
		"services-know-no-command": {
			bad:  []string{"== services/a/x.go\n" + imports("~/cmd/agwire"), "== services/a/x.go\n" + imports("~/internal/embednats")},
			good: []string{"== services/a/x.go\n" + imports("~/internal/bus"), "== services/a/x_test.go\n" + imports("~/internal/embednats")}},
		"nats-has-one-room": {
			bad: []string{"== services/a/x.go\n" + imports("github.com/nats-io/nats.go"), "== cmd/agwire/x.go\n" + imports("github.com/nats-io/nats-server/v2/server"),
				"== services/a/x_test.go\n" + imports("github.com/nats-io/nats.go/jetstream"), "== internal/bus/sub/x.go\n" + imports("github.com/nats-io/nats.go")},
			good: []string{"== internal/bus/x.go\n" + imports("github.com/nats-io/nats.go/jetstream"), "== internal/embednats/x.go\n" + imports("github.com/nats-io/nats-server/v2/server"),
				"== services/a/x.go\n" + imports("~/internal/bus")}},
		"redis-has-one-room": {
			bad: []string{"== services/a/x.go\n" + imports("github.com/redis/go-redis/v9"), "== services/a/x_test.go\n" + imports("github.com/alicebob/miniredis/v2")},
			good: []string{"== internal/snapshot/x.go\n" + imports("github.com/redis/go-redis/v9"), "== internal/redistest/x.go\n" + imports("github.com/alicebob/miniredis/v2"),
				"== internal/embedredis/x.go\n" + imports("github.com/alicebob/miniredis/v2")}},
		"e2e-is-outside": {
			bad:  []string{"== e2e/x_test.go\n" + imports("~/internal/natstest"), "== e2e/x_test.go\n" + imports("github.com/coder/websocket")},
			good: []string{"== e2e/x_test.go\n" + imports("~/pkg/client"), "== e2e/x_test.go\n" + imports("os/exec")}},
		"zap-stays-inside": {
			bad:  []string{"== pkg/client/x.go\n" + imports("go.uber.org/zap"), "== web/x.go\n" + imports("go.uber.org/zap/zapcore")},
			good: []string{"== services/a/x.go\n" + imports("go.uber.org/zap"), "== cmd/agwire/x.go\n" + imports("go.uber.org/zap")}},
		"one-logger": {
			bad:  []string{"== services/a/x.go\n" + imports("log"), "== internal/a/x.go\n" + imports("log/slog")},
			good: []string{"== services/a/x.go\n" + imports("go.uber.org/zap")}},
		"tests-only": {
			bad: []string{"== services/a/x.go\n" + imports("testing"), "== cmd/agwire/x.go\n" + imports("~/internal/natstest"), "== internal/a/x.go\n" + imports("~/pkg/agjson/agtest"),
				"== internal/a/x.go\n" + imports("testing/fstest")},
			good: []string{"== services/a/x_test.go\n" + imports("~/internal/natstest"), "== internal/natstest/x.go\n" + imports("testing")}},
		"no-init": {
			bad:  []string{"== internal/a/x.go\nfunc init() {}\n", "== internal/a/x_test.go\nfunc init() {}\n"},
			good: []string{"== internal/a/x.go\ntype t struct{}\nfunc (t) init() {}\nfunc initialise() {}\n"}},
		"no-bare-go": {
			bad:  []string{"== internal/a/x.go\nfunc f() { go f() }\n", "== services/a/x.go\nfunc f() { func() { go func() {}() }() }\n"},
			good: []string{"== internal/a/x_test.go\nfunc f() { go f() }\n", "== services/a/x.go\nimport \"sync\"\nfunc f() { var wg sync.WaitGroup; wg.Go(f) }\n"}},
		"no-context-in-struct": {
			bad: []string{"== internal/a/x.go\nimport \"context\"\ntype s struct { ctx context.Context }\n", "== services/a/x.go\nimport c \"context\"\ntype s struct { c.Context }\n",
				"== internal/a/x_test.go\nimport \"context\"\nvar s = []struct { a, b context.Context }{}\n"},
			good: []string{"== internal/a/x.go\nimport \"context\"\ntype s struct { f func(context.Context) error; cancel context.CancelFunc }\nfunc g(ctx context.Context) {}\n"}},
		"no-sleep": {
			bad: []string{"== internal/a/x_test.go\nimport \"time\"\nfunc f() { time.Sleep(1) }\n", "== services/a/x.go\nimport clock \"time\"\nfunc f() { clock.Sleep(1) }\n"},
			good: []string{"== internal/a/x.go\nimport \"time\"\nvar d = time.Second\ntype c struct{}\nfunc (c) Sleep() {}\nfunc f() { var time c; _ = time }\n",
				"== internal/a/x_test.go\nimport (\"time\"; \"testing\"; \"testing/synctest\")\nfunc f(t *testing.T) { synctest.Test(t, func(t *testing.T) { time.Sleep(time.Hour) }) }\n"}},
		"no-clock-in-agjson": {
			bad:  []string{"== pkg/agjson/x.go\nimport \"time\"\nvar now = time.Now\n", "== pkg/agjson/reducer/x.go\nimport \"time\"\nfunc f() { <-time.After(1) }\n"},
			good: []string{"== pkg/agjson/x.go\nimport \"time\"\nvar _, _ = time.Parse(\"\", \"\")\n", "== pkg/agjson/x_test.go\nimport \"time\"\nvar now = time.Now\n"}},
		"no-notes-to-self": {
			bad: []string{"== internal/a/x.go\n// TODO: more\n", "== internal/a/x_test.go\nfunc f() { /* a FIXME */ }\n", "== web/page/x.js\n// XXX\n", "== Makefile\n# HACK\n"},
			good: []string{"== internal/a/x.go\nimport \"context\"\nvar ctx = context.TODO()\nvar s = \"FIXME\"\n// todos, a method\n", "== web/page/x.svg\nTODO\n",
				"== internal/a/testdata/x.go\n// TODO\n"}},
		"doc-go": {
			bad:  []string{"== internal/a/x.go\n", "== internal/a/doc.go\npackage a\n", "== e2e/x_test.go\n", "== internal/a/x.go\n// Package a is documented elsewhere.\npackage a\n"},
			good: []string{"== internal/a/doc.go\n// Package a is documented.\npackage a\n== internal/a/x.go\n"}},
		"file-size": {
			bad: []string{"== internal/a/x.go\n" + strings.Repeat("\n", 801)},
			good: []string{"== internal/a/x.go\n" + strings.Repeat("\n", 500), "== internal/a/x_test.go\n" + strings.Repeat("\n", 900),
				"== internal/a/x.go\n// Code generated by gen. DO NOT EDIT.\n\n" + strings.Repeat("\n", 900)}},
	}
}

// Every law is seen to fail.
func TestLawsBite(t *testing.T) {
	all := snippets()
	for _, law := range archtest.Laws() {
		s, ok := all[law.Name]
		delete(all, law.Name)
		if !ok || len(s.bad) == 0 || len(s.good) == 0 || law.Why == "" {
			t.Errorf("%s has no reason, or no snippets that break and keep it", law.Name)
		}
		for _, text := range s.bad {
			if breaches := law.Find(load(t, text)); len(breaches) != 1 {
				t.Errorf("%s: %d breaches %v of\n%s", law.Name, len(breaches), breaches, text)
			}
		}
		for _, text := range s.good {
			if breaches := law.Find(load(t, text)); len(breaches) != 0 {
				t.Errorf("%s: %v of\n%s", law.Name, breaches, text)
			}
		}
	}
	for name := range all {
		t.Errorf("there is no law %s, or there are two", name)
	}
}

func TestABreachTellsItsPlace(t *testing.T) {
	tree := load(t, "== internal/a/x.go\n\n\nfunc init() {}\n")
	for _, law := range archtest.Laws() {
		if law.Name == "no-init" {
			if got := law.Find(tree)[0].String(); got != "internal/a/x.go:4: has a func init" {
				t.Errorf("the breach reads %q", got)
			}
		}
	}
}

func TestLoadRefusesWhatIsNoGo(t *testing.T) {
	if _, err := archtest.Load(fstest.MapFS{"a/x.go": {Data: []byte("package")}}); err == nil {
		t.Error("a file that does not parse is accepted")
	}
}

// The law of the clauses, with all others cited.
func TestClausesBite(t *testing.T) {
	all := archtest.Clauses()
	if len(all) != 28 || all[5] != "SPEC §5 INV-SEQ" || all[27] != "SPEC §10.20" {
		t.Fatalf("clauses are %q", all)
	}
	without := func(name string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(all), func(c string) bool { return c == name }), ", ")
	}
	testFile := func(text string) string { return "== internal/a/x_test.go\n// " + text + "\nfunc TestX() {}\n" }
	txtar := func(text string) string { return "== internal/a/testdata/x/one.txtar\n" + text + "\n" }
	excepted := func(clause, why string) []archtest.Exception { return []archtest.Exception{{Clause: clause, Why: why}} }
	for _, tc := range []struct {
		name, tree string
		excepted   []archtest.Exception
		want       []string
	}{
		{"all cited", testFile(without("")), nil, nil},
		{"one not cited", testFile(without("SPEC §5 INV-SEQ")), nil, []string{"SPEC §5 INV-SEQ: is cited by no test"}},
		{"a longer number is another", testFile(without("SPEC §10.1")), nil, []string{"SPEC §10.1: is cited by no test"}},
		{"cited by code only", testFile(without("SPEC §10.7")) + "== internal/a/x.go\n// SPEC §10.7\n", nil, []string{"SPEC §10.7: is cited by no test"}},
		{"cited by no function", testFile(without("SPEC §10.7")) + "== internal/a/y_test.go\n// SPEC §10.7\nvar x int\n", nil, []string{"SPEC §10.7: is cited by no test"}},
		{"cited by a helper", testFile(without("SPEC §10.7")) + "== internal/a/y_test.go\n// SPEC §10.7\nfunc Testable() {}\n", nil, []string{"SPEC §10.7: is cited by no test"}},
		{"cited within a test", testFile(without("SPEC §10.7")) + "== internal/a/y_test.go\nfunc Test_y() {\n// SPEC §10.7\n}\n", nil, nil},
		{"cited by a case", testFile(without("SPEC §10.7")) + txtar("SPEC §10.7: so"), nil, nil},
		{"cited within a case", testFile(without("SPEC §10.7")) + txtar("so\n-- a --\nSPEC §10.7"), nil, []string{"SPEC §10.7: is cited by no test"}},
		{"cited in another spelling", testFile(without("SPEC §5 INV-SEQ") + " INV-SEQ"), nil, []string{"SPEC §5 INV-SEQ: is cited by no test"}},
		{"cited in a list", testFile("SPEC §5 INV-TURN, INV-SEQ and INV-FLUSH; " + without("SPEC §5 INV-SEQ")), nil, nil},
		{"items in a list", testFile("SPEC §10.8, §10.7; " + without("SPEC §10.7")), nil, nil},
		{"cited by the laws only", testFile(without("SPEC §10.7")) + "== internal/archtest/y_test.go\n// SPEC §10.7\nfunc TestY() {}\n", nil, []string{"SPEC §10.7: is cited by no test"}},
		{"excepted", testFile(without("SPEC §10.7")), excepted("SPEC §10.7", "comes later"), nil},
		{"excepted in part", testFile(without("")), []archtest.Exception{{"SPEC §10.7", true, "half of it"}}, nil},
		{"excepted in part, the rest not cited", testFile(without("SPEC §10.7")), []archtest.Exception{{"SPEC §10.7", true, "half of it"}}, []string{"SPEC §10.7: is cited by no test"}},
		{"excepted in vain", testFile(without("")), excepted("SPEC §10.7", "comes later"), []string{"internal/a/x_test.go:2: cites SPEC §10.7: remove its exception"}},
		{"excepted twice", testFile(without("SPEC §10.7")), append(excepted("SPEC §10.7", "a"), excepted("SPEC §10.7", "b")...), []string{"SPEC §10.7: is two exceptions"}},
		{"excepted without a reason", testFile(without("SPEC §10.7")), excepted("SPEC §10.7", ""), []string{"SPEC §10.7: is an exception without a reason"}},
		{"excepted, but no clause", testFile(without("")), excepted("SPEC §10.70", "why"), []string{"SPEC §10.70: is an exception of no clause"}},
		{"no such invariant", testFile(without("")) + "== internal/a/x.go\n\n// SPEC §5 INV-ORDER\n", nil, []string{"internal/a/x.go:3: cites SPEC §5 INV-ORDER, which there is not"}},
		{"no such item", testFile(without("")) + "== internal/a/x.go\n// SPEC §10.21\n", nil, []string{"internal/a/x.go:2: cites SPEC §10.21, which there is not"}},
		{"no such item of a case", testFile(without("")) + txtar("SPEC §10.21"), nil, []string{"internal/a/testdata/x/one.txtar:1: cites SPEC §10.21, which there is not"}},
	} {
		var got []string
		for _, b := range archtest.CheckClauses(load(t, tc.tree), tc.excepted) {
			got = append(got, b.String())
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: breaches are %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestCitationsNameTheTest(t *testing.T) {
	tree := load(t, "== a/x_test.go\n// SPEC §10.20, and SPEC §10.2 twice: SPEC §10.2.\nfunc FuzzX() {}\n== a/b/testdata/c/one.txtar\nSPEC §10.2: so\n-- a --\n")
	var got []string
	for _, c := range tree.Citations() {
		got = append(got, c.Clause+" "+c.Package+" "+c.Test)
	}
	if want := []string{"SPEC §10.2 a FuzzX", "SPEC §10.2 a/b */one", "SPEC §10.20 a FuzzX"}; !slices.Equal(got, want) {
		t.Errorf("citations are %q, want %q", got, want)
	}
}
