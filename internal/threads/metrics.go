package threads

import "github.com/prometheus/client_golang/prometheus"

// metrics of the reader; labels are of closed sets.
type metrics struct {
	reads    *prometheus.CounterVec // by source
	misses   *prometheus.CounterVec // by why
	requests *prometheus.CounterVec // by code
}

// Sources of a thread that was read.
const (
	sourceStore = "store"
	sourceLog   = "log"
)

// Why what is stored was of no use, beside not being there.
const (
	missIncomplete = "incomplete"
	missRedis      = "redis"
	missBehind     = "behind"
)

func newMetrics(r prometheus.Registerer) *metrics {
	by := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "agwire", Subsystem: "threads", Name: name, Help: help}, []string{label})
	}
	m := &metrics{
		reads:    by("reads_total", "Threads read, by where from.", "source"),
		misses:   by("misses_total", "Threads in Redis that were of no use, by why.", "why"),
		requests: by("requests_total", "Requests of the read API answered, by code.", "code"),
	}
	r.MustRegister(m.reads, m.misses, m.requests)
	return m
}
