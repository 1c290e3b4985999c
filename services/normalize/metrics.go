package normalize

import "github.com/prometheus/client_golang/prometheus"

// metrics of the service; labels are of closed sets.
type metrics struct {
	frames   *prometheus.CounterVec // by framework and fate
	events   prometheus.Counter
	messages prometheus.Counter
	refused  prometheus.Counter
	ends     *prometheus.CounterVec // by reason
	rebuilds *prometheus.CounterVec // by fate
	open     prometheus.Gauge
	shards   prometheus.Gauge
	threads  prometheus.Gauge
	delay    prometheus.Histogram
}

// Fates of a frame.
const (
	fateMapped  = "mapped"
	fateSkipped = "skipped" // stored before, or behind a hole
	fateLate    = "late"    // after the end of its invoke
	fateParked  = "parked"  // cannot be worked on
)

func newMetrics(r prometheus.Registerer) *metrics {
	const ns, sub = "agwire", "normalize"
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: ns, Subsystem: sub, Name: name, Help: help}
	}
	m := &metrics{
		frames:   prometheus.NewCounterVec(prometheus.CounterOpts(opts("frames_total", "Frames read, by framework and what became of them.")), []string{"framework", "fate"}),
		events:   prometheus.NewCounter(prometheus.CounterOpts(opts("events_total", "Events written to the log."))),
		messages: prometheus.NewCounter(prometheus.CounterOpts(opts("messages_total", "Event messages stored in the log."))),
		refused:  prometheus.NewCounter(prometheus.CounterOpts(opts("refused_total", "Events written as ext.agwire.refused, since a strict fold would have parked."))),
		ends:     prometheus.NewCounterVec(prometheus.CounterOpts(opts("ends_total", "Invokes ended, by reason.")), []string{"reason"}),
		rebuilds: prometheus.NewCounterVec(prometheus.CounterOpts(opts("rebuilds_total", "Open invokes replayed from their frames, by fate.")), []string{"fate"}),
		open:     prometheus.NewGauge(prometheus.GaugeOpts(opts("open_invokes", "Invokes open in the shards owned."))),
		shards:   prometheus.NewGauge(prometheus.GaugeOpts(opts("shards", "Shards owned."))),
		threads:  prometheus.NewGauge(prometheus.GaugeOpts(opts("threads", "Threads held in memory."))),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: ns, Subsystem: sub, Name: "delay_seconds", Help: "From a frame stored to its events stored, by the broker's and this machine's clocks.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}),
	}
	r.MustRegister(m.frames, m.events, m.messages, m.refused, m.ends, m.rebuilds, m.open, m.shards, m.threads, m.delay)
	return m
}
