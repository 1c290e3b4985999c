// Package agtest holds what the tests of several packages share: the public SDK's conformance vectors, equality of event
// streams up to a renaming of ids, files of expected departures, golden files, and checkers of the invariants of SPEC §5.0 that a
// stream of events must keep by itself. It is imported by tests only.
//
// Hostile draws mutations of recorded frames, CheckFold folds them.
//
// Vectors are read from the folder that AGWIRE_VECTORS names. They are not part of the project: where the variable is unset, a
// test logs that in plain words and goes on with the project's own testdata.
//
// A departures file lists every case in which this project and the public SDK differ, with the reason:
//
//	# file:case           rules      why
//	normalize-claude:*    turnid 91  NOTES Normalizers 8
//	normalize-claude:2    stub       SPEC §5 INV-TURN: a turn that is closed was opened
//
// A rule is a named rewrite of both streams that makes one kind of departure, and only that, go away. A case is compared after its
// rules; each of them must be needed, else the test fails: a listed case that starts to agree is taken off the list. The rule `*`
// holds for a whole file, and states in how many cases it is needed.
package agtest
