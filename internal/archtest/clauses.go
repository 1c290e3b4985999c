package archtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// conformanceItems is how many numbered items SPEC §10 has.
const conformanceItems = 20

// Clauses are the clauses of the specification that a test must cite, spelt so.
func Clauses() []string {
	var out []string
	for _, name := range []string{"FOLD", "TURN", "MSG", "BLOCK", "DELTA", "SEQ", "OWNER", "FLUSH"} {
		out = append(out, "SPEC §5 INV-"+name)
	}
	for i := range conformanceItems {
		out = append(out, fmt.Sprintf("SPEC §10.%d", i+1))
	}
	return out
}

// clauseForm is how clauses are cited, the invariants singly or in a list, and an
// invariant in whatever spelling.
var (
	clauseForm    = regexp.MustCompile(`SPEC §5 INV-[A-Z]+(?:(?:, | and )INV-[A-Z]+)*|SPEC §10\.[0-9]+|INV-[A-Z]+`)
	invariantForm = regexp.MustCompile(`INV-[A-Z]+`)
)

// citations are the clauses that one match of clauseForm names.
func citations(match string) []string {
	if !strings.HasPrefix(match, "SPEC §5 ") {
		return []string{match}
	}
	names := invariantForm.FindAllString(match, -1)
	for i := range names {
		names[i] = "SPEC §5 " + names[i]
	}
	return names
}

// CheckClauses compares what the test files cite with [Clauses]. Excepted are the
// clauses that no test cites yet, each with the reason; an exception that is not
// needed, or of no clause, is a breach like a clause that is cited nowhere. So is an
// invariant that the specification does not have.
func CheckClauses(t *Tree, excepted map[string]string) []Breach {
	clauses := Clauses()
	known := map[string]bool{}
	for _, c := range clauses {
		known[c] = true
		known[strings.TrimPrefix(c, "SPEC §5 ")] = true
	}
	cited := map[string]string{}
	var out []Breach
	for _, f := range t.files {
		if match(f.pkg(), "/internal/archtest") {
			continue
		}
		for _, at := range clauseForm.FindAllStringIndex(f.src, -1) {
			for _, clause := range citations(f.src[at[0]:at[1]]) {
				if !known[clause] {
					out = append(out, Breach{f.path, 1 + strings.Count(f.src[:at[0]], "\n"), "cites " + clause + ", which there is not"})
				} else if f.isTest() {
					cited[clause] = f.path
				}
			}
		}
	}
	for _, clause := range clauses {
		where, isCited := cited[clause]
		_, isExcepted := excepted[clause]
		switch {
		case isCited && isExcepted:
			out = append(out, Breach{Path: where, What: "cites " + clause + ": remove its exception"})
		case !isCited && !isExcepted:
			out = append(out, Breach{Path: clause, What: "is cited by no test"})
		}
	}
	for clause, why := range excepted {
		if !slices.Contains(clauses, clause) {
			out = append(out, Breach{Path: clause, What: "is an exception of no clause"})
		} else if why == "" {
			out = append(out, Breach{Path: clause, What: "is an exception without a reason"})
		}
	}
	return out
}
