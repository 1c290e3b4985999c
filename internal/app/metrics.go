package app

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// NewRegistry is a registry that already tells of the process, the Go runtime, the
// build and the version. Services register their own metrics with it.
func NewRegistry(version string) *prometheus.Registry {
	r := prometheus.NewRegistry()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "agwire_app_build_info", Help: "1; the label is the version that runs.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	info.Set(1)
	r.MustRegister(info, collectors.NewGoCollector(), collectors.NewBuildInfoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// registerReady publishes what /readyz answers for one service.
func registerReady(r prometheus.Registerer, u *unit) error {
	return r.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "agwire_app_service_ready", Help: "1 while the service runs and says it is ready.",
		ConstLabels: prometheus.Labels{"service": u.name},
	}, func() float64 {
		if u.ready() {
			return 1
		}
		return 0
	}))
}
