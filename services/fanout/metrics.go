package fanout

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of the service; labels are of closed sets.
type metrics struct {
	connections   *prometheus.GaugeVec // by wire
	subscriptions prometheus.Gauge
	rooms         prometheus.Gauge
	pending       prometheus.Gauge
	events        prometheus.Counter
	messages      prometheus.Counter
	bytes         prometheus.Counter
	encoded       prometheus.Counter
	resets        *prometheus.CounterVec // by reason
	losses        *prometheus.CounterVec // by loss
	refills       prometheus.Counter
	replays       prometheus.Counter
	drops         prometheus.Counter
	retries       *prometheus.CounterVec // by what
	refused       *prometheus.CounterVec // by code
	closes        *prometheus.CounterVec // by code
	join          prometheus.Histogram
	delay         prometheus.Histogram
}

func newMetrics(r prometheus.Registerer) *metrics {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "agwire", Subsystem: "fanout", Name: name, Help: help}
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts(opts(name, help)))
	}
	by := func(label, name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts(opts(name, help)), []string{label})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts(opts(name, help)))
	}
	seconds := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "agwire", Subsystem: "fanout", Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0001, 2, 18),
		})
	}
	m := &metrics{
		connections:   prometheus.NewGaugeVec(prometheus.GaugeOpts(opts("connections", "Connections open, by wire.")), []string{"wire"}),
		subscriptions: gauge("subscriptions", "Threads that connections follow, each counted per connection."),
		rooms:         gauge("rooms", "Threads that have clients."),
		pending:       gauge("pending_bytes", "Bytes that wait for clients, each counted per client, as of the last heartbeats."),
		events:        counter("events_total", "Events delivered, each counted per client, those of pairs left out."),
		messages:      counter("messages_total", "Messages written to clients."),
		bytes:         counter("bytes_total", "Bytes written to clients."),
		encoded:       counter("encoded_bytes_total", "Bytes encoded for clients; those who stand at the same place share them."),
		resets:        by("reason", "resets_total", "Resets sent, by reason."),
		losses:        by("loss", "losses_total", "Live messages that may have been lost, by how it showed."),
		refills:       counter("refills_total", "Messages that were lost on their way and read from the log."),
		replays:       counter("replays_total", "Parts of the log read for a client that was behind."),
		drops:         counter("drops_total", "Times that what waited for a client in a thread was dropped, since it was too much."),
		retries:       by("what", "retries_total", "Calls of the log or the store that failed and are tried again."),
		refused:       by("code", "refused_total", "Connections and subscriptions refused, by code."),
		closes:        by("code", "closes_total", "Connections closed, by close code; 0 is a connection that was cut, and the end of an event stream."),
		join:          seconds("join_seconds", "From a subscription that needs the pair to the pair."),
		delay:         seconds("delay_seconds", "From an event message stored in the log to its batch handed to the first client's socket, by the broker's and this machine's clocks."),
	}
	r.MustRegister(m.connections, m.subscriptions, m.rooms, m.pending, m.events, m.messages, m.bytes, m.encoded, m.resets, m.losses,
		m.refills, m.replays, m.drops, m.retries, m.refused, m.closes, m.join, m.delay)
	return m
}

// closeLabel keeps the set of codes closed, whatever a client closes with.
func closeLabel(code int) string {
	switch code {
	case 0, closeNormal, closeGoingAway, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1011, closeDraining, closeSlow, closeSilent,
		closeMalformed, closeForbidden, closeTooMany, closeTooLarge:
		return strconv.Itoa(code)
	}
	return "other"
}
