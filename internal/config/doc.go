// Package config turns one definition of each setting into its flag, its
// environment variable, its key in the YAML file, its help text and its line in
// the log, so that the four cannot drift apart.
//
// A setting named "nats-url" is the flag --nats-url, the variable AGWIRE_NATS_URL
// and the top-level YAML key nats-url. All three take the same text: what is
// valid in one is valid in the others and means the same. Where several give a
// value the flag wins, then the environment, then the file (named by --config or
// AGWIRE_CONFIG), then the default. An empty value is a value, not an absence.
//
// [Set.Load] reports every problem at once, each under the name of the setting
// and with where the value came from: a bad value, a missing one, an unknown
// flag, an unknown key of the file, an unknown AGWIRE_ variable, values that do not
// go together ([Rule]). It never prints the value of a secret or of a URL.
//
// The package refuses to be global: it has no registry, reads no environment of
// its own accord and logs nothing. Settings are plain variables of the caller,
// filled once, before anything else starts; nothing is re-read later.
//
//	var cfg struct {
//		NATS   config.URL
//		Window int
//		Drain  time.Duration
//	}
//	set := config.NewSet()
//	set.Add("NATS",
//		&config.URLVar{Name: "nats-url", To: &cfg.NATS, Default: "nats://127.0.0.1:4222",
//			Schemes: []string{"nats", "tls"}, Many: true, Help: "NATS servers"},
//		&config.IntVar{Name: "nats-window", To: &cfg.Window, Default: 256, Min: 1, Max: 998,
//			Unit: "messages", Help: "messages in flight beyond the last contiguous ack"},
//	)
//	args, err := set.Load(config.Source{Args: os.Args[2:], Environ: os.Environ()})
//
// Kubernetes sets variables named after every Service of a namespace; a Service
// called agwire-ingest makes AGWIRE_INGEST_PORT and the like, which Load refuses
// as unknown. Set enableServiceLinks: false on the pods.
package config
