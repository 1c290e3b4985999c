//go:build race

package fanout_test

// raced says that the race detector slows everything down.
const raced = true
