package reduce

import "github.com/prometheus/client_golang/prometheus"

// metrics of the service; labels are of closed sets.
type metrics struct {
	messages *prometheus.CounterVec // by fate
	events   prometheus.Counter
	loads    *prometheus.CounterVec // by source
	writes   *prometheus.CounterVec // by outcome
	written  prometheus.Counter
	retries  *prometheus.CounterVec // by what
	losses   *prometheus.CounterVec // by what
	faults   *prometheus.CounterVec // by why
	broken   prometheus.Gauge
	parked   prometheus.Gauge
	shards   prometheus.Gauge
	threads  prometheus.Gauge
	memory   prometheus.Gauge
	pending  prometheus.Gauge
	delay    prometheus.Histogram
	write    prometheus.Histogram
}

// Fates of an event message.
const (
	fateFolded  = "folded"
	fateSkipped = "skipped" // folded before, or without events
	fateGap     = "gap"     // does not follow; the thread is folded again from the log
	fateParked  = "parked"  // its fold waits for a snapshot
	fatePassed  = "passed"  // its thread cannot be folded
	fatePoison  = "poison"  // is no event message
)

// Sources of a fold.
const (
	sourceStore = "store"
	sourceLog   = "log"
	sourceNew   = "new"
)

// What Redis has lost.
const (
	lossProgress = "progress"
	lossThread   = "thread"
)

// Why a thread cannot be folded, or not be written.
const (
	faultPanic    = "panic"
	faultLog      = "log"       // the log is not one that can be folded: poison, a hole, or trimmed
	faultTooLarge = "too_large" // over a limit of the store
	faultParked   = "parked"
)

func newMetrics(r prometheus.Registerer) *metrics {
	const ns, sub = "agwire", "reduce"
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: ns, Subsystem: sub, Name: name, Help: help}
	}
	count := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts(opts(name, help)))
	}
	by := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts(opts(name, help)), []string{label})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts(opts(name, help)))
	}
	m := &metrics{
		messages: by("messages_total", "Event messages read, by what became of them.", "fate"),
		events:   count("events_total", "Events folded, those of a log that is read again included."),
		loads:    by("loads_total", "Folds begun, by where they came from.", "source"),
		writes:   by("writes_total", "Writes of a thread, by outcome.", "outcome"),
		written:  count("written_bytes_total", "Bytes of the fields written."),
		retries:  by("retries_total", "Attempts that failed and are made again, by what was tried.", "what"),
		losses:   by("losses_total", "Losses of Redis that were noticed, by what was lost.", "what"),
		faults:   by("faults_total", "Threads whose fold or write was given up until their next epoch, by why.", "why"),
		broken:   gauge("broken_threads", "Threads in memory whose fold or write is given up."),
		parked:   gauge("parked_threads", "Threads in memory whose fold waits for a snapshot: theirs in Redis stands still."),
		shards:   gauge("shards", "Shards owned."),
		threads:  gauge("threads", "Threads in memory."),
		memory:   gauge("memory_bytes", "Bytes of folds in memory, about."),
		pending:  gauge("unwritten_bytes", "Bytes of messages that are read and not written."),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: ns, Subsystem: sub, Name: "delay_seconds", Help: "From an event message stored in the log to its fold stored in Redis, by the broker's and this machine's clocks.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 16),
		}),
		write: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: ns, Subsystem: sub, Name: "write_seconds", Help: "One write of a thread, retries included.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 18),
		}),
	}
	r.MustRegister(m.messages, m.events, m.loads, m.writes, m.written, m.retries, m.losses, m.faults, m.broken, m.parked, m.shards,
		m.threads, m.memory, m.pending, m.delay, m.write)
	return m
}
