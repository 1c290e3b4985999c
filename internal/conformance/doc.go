// Command conformance prints which clauses of the specification the tests show: the clause, its state, the tests that cite it.
//
//	go test -json ./pkg/agjson/... | go run ./internal/conformance
//
// Which test cites which clause is read from the sources (archtest.Citations), whether it passed from its run, and what is
// not shown, with the reason, from archtest.Exceptions: there is no list to keep. The command fails when a test of the run
// failed, and when a clause is cited by a test that did not run.
//
// It runs no test itself, and says nothing of what a test shows: that is for who reads the test.
package main
