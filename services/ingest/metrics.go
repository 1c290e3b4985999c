package ingest

import "github.com/prometheus/client_golang/prometheus"

// metrics of the service; labels are of closed sets.
type metrics struct {
	frames  *prometheus.CounterVec // by framework
	bytes   *prometheus.CounterVec // by framework
	uploads *prometheus.CounterVec // by code
	open    prometheus.Gauge
	store   prometheus.Histogram
}

func newMetrics(r prometheus.Registerer) *metrics {
	const ns, sub = "agwire", "ingest"
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: ns, Subsystem: sub, Name: name, Help: help}
	}
	m := &metrics{
		frames:  prometheus.NewCounterVec(prometheus.CounterOpts(opts("frames_total", "Frames taken, those sent again included.")), []string{"framework"}),
		bytes:   prometheus.NewCounterVec(prometheus.CounterOpts(opts("bytes_total", "Bytes of the frames taken.")), []string{"framework"}),
		uploads: prometheus.NewCounterVec(prometheus.CounterOpts(opts("uploads_total", "Uploads answered, by code.")), []string{"code"}),
		open:    prometheus.NewGauge(prometheus.GaugeOpts(opts("open_uploads", "Uploads open now."))),
		store: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: ns, Subsystem: sub, Name: "store_seconds", Help: "From the end of an upload's body to all of it stored.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}),
	}
	r.MustRegister(m.frames, m.bytes, m.uploads, m.open, m.store)
	return m
}
