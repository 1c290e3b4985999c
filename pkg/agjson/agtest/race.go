package agtest

import (
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

// Race times two sides by turns, so that what else the machine does hits both alike. It reports for each the nanoseconds an
// operation of its fastest pass, and how many times faster the first is: by the fastest passes ("x"), and at the tenth and the
// ninetieth percentile of the pairs. Operations a second on one core are 1e9 by the first figure.
func Race(b *testing.B, first, second Side) {
	b.Helper()
	var one, two, times []float64
	for b.Loop() {
		begin := time.Now()
		first.Run()
		middle := time.Now()
		second.Run()
		end := time.Now()
		one = append(one, float64(middle.Sub(begin))/float64(first.Ops))
		two = append(two, float64(end.Sub(middle))/float64(second.Ops))
		times = append(times, two[len(two)-1]/one[len(one)-1])
	}
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(slices.Min(one), first.Name+"-ns")
	b.ReportMetric(slices.Min(two), second.Name+"-ns")
	b.ReportMetric(slices.Min(two)/slices.Min(one), "x")
	b.ReportMetric(times[len(times)/10], "x-p10")
	b.ReportMetric(times[len(times)*9/10], "x-p90")
}
