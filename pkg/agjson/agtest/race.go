package agtest

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// Side is one of two things that are timed against each other.
type Side struct {
	Name string
	Run  func() // one pass
	Ops  int    // operations of a pass, at least 1
}

// pass is the nanoseconds an operation of one pass.
func (s Side) pass() float64 {
	runtime.GC()
	begin := time.Now()
	s.Run()
	return float64(time.Since(begin)) / float64(s.Ops)
}

// Race times two sides by turns, so that what else the machine does hits both alike, each from a collected heap, so that none
// pays for the other's garbage. A pass should allocate some megabytes, to pay for its own. It reports for each the nanoseconds an
// operation of its fastest pass, and how many times faster the first is: by the fastest passes ("x"), and at the tenth and the
// ninetieth percentile of the pairs. Operations a second on one core are 1e9 by the first figure.
func Race(b *testing.B, first, second Side) {
	b.Helper()
	var one, two, times []float64
	for b.Loop() {
		f, s := first.pass(), second.pass()
		one, two, times = append(one, f), append(two, s), append(times, s/f)
	}
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(slices.Min(one), first.Name+"-ns")
	b.ReportMetric(slices.Min(two), second.Name+"-ns")
	b.ReportMetric(slices.Min(two)/slices.Min(one), "x")
	b.ReportMetric(times[len(times)/10], "x-p10")
	b.ReportMetric(times[len(times)*9/10], "x-p90")
}
