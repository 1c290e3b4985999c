// Package archtest holds the laws of the codebase and the test that enforces them:
// who may import whom, what no file may do, what every package must have, and which
// clauses of the specification a test must cite.
//
// A law reads syntax trees and imports, never types, so all of them take a second
// together and hold for files that no build of this machine compiles. Each law has a
// name, a reason, and snippets in the test that break it: a law that cannot be seen to
// fail is no law.
//
// The package refuses to format, to judge style that a reader would argue about, and
// to be quiet about exceptions: those of the clauses are [Exceptions], which fails when
// an entry is needed no more.
//
//	tree, err := archtest.Load(os.DirFS("../.."))
//	for _, law := range archtest.Laws() {
//		for _, breach := range law.Find(tree) {
//			t.Errorf("%s: %s", breach, law.Why)
//		}
//	}
package archtest
