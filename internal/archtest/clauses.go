package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"path"
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

// Exception is a clause that no test cites yet, or one of which a part is not shown.
type Exception struct {
	Clause string
	Part   bool   // the rest of the clause is shown, so a test must cite it
	Why    string // what is not shown, and why
}

// Exceptions are the clauses that our tests do not show, or not all of. Remove an entry with the commit that brings the
// test: it fails once it is needed no more.
func Exceptions() []Exception {
	const reinput = "what a provider is sent again binds who ships an emit surface (SPEC §10, preamble); this project only ingests"
	return []Exception{
		{"SPEC §10.4", true, reinput},
		{"SPEC §10.10", false, "waits for the facets of LangGraph and Pydantic AI"},
		{"SPEC §10.11", false, "waits for the facet of LangGraph"},
		{"SPEC §10.13", true, reinput},
		{"SPEC §10.15", true, reinput},
		{"SPEC §10.16", true, "the mapping of A2A's tasks waits for its facet"},
		{"SPEC §10.18", true, reinput},
	}
}

// Citation is a test that cites a clause.
type Citation struct {
	Clause  string
	Package string // its directory, from the root
	// Test is the function's name, or "*/" and a name: the subtest, of whatever test of the package, that runs the case file
	// of that name.
	Test string

	path string
	line int
}

var (
	// clauseForm is how clauses are cited, singly or in a list, and an invariant in whatever spelling.
	clauseForm    = regexp.MustCompile(`SPEC §5 INV-[A-Z]+(?:(?:, | and )INV-[A-Z]+)*|SPEC §10\.[0-9]+(?:(?:, | and )§10\.[0-9]+)*|INV-[A-Z]+`)
	invariantForm = regexp.MustCompile(`INV-[A-Z]+`)
	itemForm      = regexp.MustCompile(`§10\.[0-9]+`)
	testForm      = regexp.MustCompile(`^(Test|Fuzz|Example)([^a-z]|$)`)
)

// citations are the clauses that one match of clauseForm names.
func citations(match string) []string {
	section, form := "SPEC §5 ", invariantForm
	switch {
	case strings.HasPrefix(match, "SPEC §10"):
		section, form = "SPEC ", itemForm
	case !strings.HasPrefix(match, section):
		return []string{match}
	}
	names := form.FindAllString(match, -1)
	for i := range names {
		names[i] = section + names[i]
	}
	return names
}

// Citations are all citations of a clause by a test: within a test function of Go or the comment before it, or in the
// heading of a case file, testdata/….txtar. They are ordered by clause, package and test.
func (t *Tree) Citations() []Citation {
	var out []Citation
	for _, f := range t.files {
		if match(f.pkg(), "/internal/archtest", "/internal/conformance") || !f.isTest() {
			continue
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !testForm.MatchString(fn.Name.Name) {
				continue
			}
			from := fn.Pos()
			if fn.Doc != nil {
				from = fn.Doc.Pos()
			}
			begin := t.fset.Position(from)
			text := f.src[begin.Offset:t.fset.Position(fn.End()).Offset]
			out = append(out, cites(text, Citation{Package: path.Dir(f.path), Test: fn.Name.Name, path: f.path, line: begin.Line})...)
		}
	}
	for _, x := range t.cases {
		heading, _, _ := strings.Cut(x.src, "\n-- ")
		pkg, _, _ := strings.Cut(x.path, "/testdata/")
		test := "*/" + strings.TrimSuffix(path.Base(x.path), path.Ext(x.path))
		out = append(out, cites(heading, Citation{Package: pkg, Test: test, path: x.path, line: 1})...)
	}
	clauses := Clauses()
	slices.SortStableFunc(out, func(a, b Citation) int {
		return cmp.Or(cmp.Compare(slices.Index(clauses, a.Clause), slices.Index(clauses, b.Clause)),
			cmp.Compare(a.Package, b.Package), cmp.Compare(a.Test, b.Test))
	})
	return slices.CompactFunc(out, func(a, b Citation) bool {
		return a.Clause == b.Clause && a.Package == b.Package && a.Test == b.Test
	})
}

// cites is one citation for each clause that a text names, in all else as the given one.
func cites(text string, as Citation) []Citation {
	clauses := Clauses()
	var out []Citation
	for _, found := range clauseForm.FindAllString(text, -1) {
		for _, clause := range citations(found) {
			if slices.Contains(clauses, clause) {
				as.Clause = clause
				out = append(out, as)
			}
		}
	}
	return out
}

// CheckClauses compares what the tests cite with [Clauses]. An exception that is not needed, or of no clause, is a breach
// like a clause that is cited nowhere. So is a clause that the specification does not have.
func CheckClauses(t *Tree, exceptions []Exception) []Breach {
	out := t.unknownClauses()
	excepted := map[string]Exception{}
	for _, e := range exceptions {
		_, twice := excepted[e.Clause]
		switch {
		case !slices.Contains(Clauses(), e.Clause):
			out = append(out, Breach{Path: e.Clause, What: "is an exception of no clause"})
		case e.Why == "":
			out = append(out, Breach{Path: e.Clause, What: "is an exception without a reason"})
		case twice:
			out = append(out, Breach{Path: e.Clause, What: "is two exceptions"})
		}
		excepted[e.Clause] = e
	}
	cited := map[string]Citation{}
	for _, c := range t.Citations() {
		cited[c.Clause] = c
	}
	for _, clause := range Clauses() {
		c, isCited := cited[clause]
		e, isExcepted := excepted[clause]
		switch {
		case isCited && isExcepted && !e.Part:
			out = append(out, Breach{c.path, c.line, "cites " + clause + ": remove its exception"})
		case !isCited && (!isExcepted || e.Part):
			out = append(out, Breach{Path: clause, What: "is cited by no test"})
		}
	}
	return out
}

// unknownClauses are the citations, wherever they stand, of what is no clause.
func (t *Tree) unknownClauses() []Breach {
	known := map[string]bool{}
	for _, c := range Clauses() {
		known[c] = true
		known[strings.TrimPrefix(c, "SPEC §5 ")] = true
	}
	var out []Breach
	look := func(path, src string) {
		for _, at := range clauseForm.FindAllStringIndex(src, -1) {
			for _, clause := range citations(src[at[0]:at[1]]) {
				if !known[clause] {
					out = append(out, Breach{path, 1 + strings.Count(src[:at[0]], "\n"), "cites " + clause + ", which there is not"})
				}
			}
		}
	}
	for _, f := range t.files {
		if !match(f.pkg(), "/internal/archtest", "/internal/conformance") {
			look(f.path, f.src)
		}
	}
	for _, x := range t.cases {
		look(x.path, x.src)
	}
	return out
}
