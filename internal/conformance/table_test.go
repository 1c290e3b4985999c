package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agwire/agwire/internal/archtest"
)

const stream = `{"Action":"build-output","ImportPath":"x","Output":"x.go:1: bad\n"}
{"Action":"start","Package":"github.com/agwire/agwire/a"}
{"Action":"output","Package":"github.com/agwire/agwire/a","Test":"TestOne","Output":"said by one\n"}
{"Action":"pass","Package":"github.com/agwire/agwire/a","Test":"TestOne"}
{"Action":"output","Package":"github.com/agwire/agwire/a","Test":"TestCases/first","Output":"said by first\n"}
{"Action":"fail","Package":"github.com/agwire/agwire/a","Test":"TestCases/first"}
{"Action":"pass","Package":"github.com/agwire/agwire/a","Test":"TestOther/sub/second"}
{"Action":"skip","Package":"github.com/agwire/agwire/a","Test":"TestSkips"}
{"Action":"pass","Package":"github.com/agwire/agwire/a"}
`

func readStream(t *testing.T) (*run, string) {
	t.Helper()
	var out bytes.Buffer
	r, err := readRun(strings.NewReader(stream), &out)
	if err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

func TestReadRun(t *testing.T) {
	r, said := readStream(t)
	if r.passed != 2 || r.failed != 1 || r.skipped != 1 {
		t.Errorf("%d passed, %d failed, %d were skipped", r.passed, r.failed, r.skipped)
	}
	if said != "x.go:1: bad\nsaid by first\n" {
		t.Errorf("passes on %q", said)
	}
	if _, err := readRun(strings.NewReader("{"), &bytes.Buffer{}); err == nil {
		t.Error("a run that is cut off is accepted")
	}
	if r, err := readRun(strings.NewReader(`{"Action":"fail","Package":"a"}`), &bytes.Buffer{}); err != nil || r.failed != 1 {
		t.Errorf("a package that failed without a test counts %d, %v", r.failed, err)
	}
}

func TestTable(t *testing.T) {
	r, _ := readStream(t)
	cite := func(clause, test string) archtest.Citation {
		return archtest.Citation{Clause: clause, Package: "a", Test: test}
	}
	rows := table([]archtest.Citation{
		cite("SPEC §10.1", "TestOne"), cite("SPEC §10.1", "*/second"),
		cite("SPEC §10.2", "TestOne"), cite("SPEC §10.2", "*/first"), cite("SPEC §10.2", "TestSkips"),
		cite("SPEC §10.3", "TestOne"), cite("SPEC §10.3", "TestNever"),
		cite("SPEC §10.4", "TestSkips"),
		cite("SPEC §10.5", "TestOne"),
		cite("SPEC §10.6", "*/TestOne"),
		cite("SPEC §10.9", "TestOne"), {Clause: "SPEC §10.9", Package: "b", Test: "TestFar"},
		{Clause: "SPEC §10.10", Package: "b", Test: "TestFar"},
	}, []archtest.Exception{{Clause: "SPEC §10.5", Part: true, Why: "half of it"}, {Clause: "SPEC §10.7", Why: "comes later"}, {Clause: "SPEC §10.8", Part: true, Why: "x"}}, r)
	want := map[string]state{"SPEC §10.1": pass, "SPEC §10.2": fail, "SPEC §10.3": notRun, "SPEC §10.4": notRun, "SPEC §10.5": pass,
		"SPEC §10.6": notRun, "SPEC §10.7": notShown, "SPEC §10.8": uncited, "SPEC §10.9": pass, "SPEC §10.10": notRun}
	if len(rows) != len(archtest.Clauses()) {
		t.Fatalf("%d rows", len(rows))
	}
	for _, rw := range rows {
		if w, ok := want[rw.clause]; ok && rw.state != w || !ok && rw.state != uncited {
			t.Errorf("%s is %q", rw.clause, rw.state)
		}
	}
	var out bytes.Buffer
	if bad := writeTable(&out, rows); bad != len(rows)-4 {
		t.Errorf("%d clauses are bad", bad)
	}
	for _, line := range []string{
		"SPEC §10.1         pass      a TestOne\n                             a TestOther/sub/second\n",
		"                             a TestSkips (skipped)\n", "a TestNever (did not run)\n", "b TestFar (not in this run)\n", "a TestCases/first (failed)\n",
		"SPEC §10.5         pass      a TestOne\n                             but for: half of it\n",
		"SPEC §10.7         not shown comes later\n", "SPEC §10.20        UNCITED   none\n",
		"28 clauses: 3 pass, 1 are not shown, 24 fail\n",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("the table lacks %q:\n%s", line, out.String())
		}
	}
}
