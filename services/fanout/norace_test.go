//go:build !race

package fanout_test

const raced = false
