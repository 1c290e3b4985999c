package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/agwire/agwire/internal/archtest"
)

// row is a clause.
type row struct {
	clause string
	state  state
	tests  []string // each a package, a test, and its state where it is none that passed
	why    string   // of an exception
}

type state string

const (
	pass     state = "pass"
	fail     state = "FAIL"
	notRun   state = "NOT RUN" // a test that cites it did not run, or none of the run does
	uncited  state = "UNCITED"
	notShown state = "not shown" // an exception
)

// table is a row for each clause. A clause passes when a test that cites it passed, and all do whose package is of the run.
func table(citations []archtest.Citation, exceptions []archtest.Exception, r *run) []row {
	var out []row
	for _, clause := range archtest.Clauses() {
		rw := row{clause: clause, state: uncited}
		for _, e := range exceptions {
			if e.Clause == clause {
				rw.why = e.Why
				if !e.Part {
					rw.state = notShown
				}
			}
		}
		for _, c := range citations {
			if c.Clause == clause {
				rw.take(c, r)
			}
		}
		if rw.state == uncited && len(rw.tests) > 0 {
			rw.state = notRun
		}
		out = append(out, rw)
	}
	return out
}

// take notes a citation and how its tests ran.
func (rw *row) take(c archtest.Citation, r *run) {
	if _, ok := r.results[c.Package]; !ok {
		rw.tests = append(rw.tests, c.Package+" "+c.Test+" (not in this run)")
		return
	}
	results := r.find(c.Package, c.Test)
	if len(results) == 0 {
		rw.tests = append(rw.tests, c.Package+" "+c.Test+" (did not run)")
		rw.worse(notRun)
	}
	for _, test := range slices.Sorted(maps.Keys(results)) {
		name := c.Package + " " + test
		switch results[test] {
		case "pass":
			rw.worse(pass)
		case "skip":
			name += " (skipped)"
			rw.worse(notRun)
		default:
			name += " (failed)"
			rw.worse(fail)
		}
		rw.tests = append(rw.tests, name)
	}
}

// worse keeps the worse of two states of a cited clause.
func (rw *row) worse(s state) {
	order := []state{notShown, uncited, pass, notRun, fail}
	if slices.Index(order, s) > slices.Index(order, rw.state) {
		rw.state = s
	}
}

// writeTable writes the rows and counts those of which more must be shown.
func writeTable(out io.Writer, rows []row) (bad int) {
	fmt.Fprintf(out, "%-18s %-9s %s\n", "clause", "state", "tests that cite it")
	count := map[state]int{}
	for _, rw := range rows {
		count[rw.state]++
		cells := slices.Clone(rw.tests)
		if rw.why != "" {
			what := ""
			if rw.state != notShown {
				what = "but for: "
			}
			cells = append(cells, what+rw.why)
		}
		if len(cells) == 0 {
			cells = []string{"none"}
		}
		first, second := rw.clause, string(rw.state)
		for _, cell := range cells {
			fmt.Fprintf(out, "%-18s %-9s %s\n", first, second, cell)
			first, second = "", ""
		}
	}
	bad = count[fail] + count[notRun] + count[uncited]
	fmt.Fprintf(out, "\n%d clauses: %d pass, %d are not shown, %d fail\n", len(rows), count[pass], count[notShown], bad)
	return bad
}
