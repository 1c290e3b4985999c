package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// composeFile is deploy/compose.yaml. A member that is not here is refused: this suite would not follow it.
type composeFile struct {
	Name     string
	Agwire   any `yaml:"x-agwire"`
	Services map[string]*composeService
	Volumes  map[string]any
}

type composeService struct {
	Build struct {
		Context    string
		Dockerfile string
	}
	Image           string
	Command         []string
	Environment     map[string]string
	Restart         string
	StopGracePeriod composeDuration                       `yaml:"stop_grace_period"`
	ReadOnly        bool                                  `yaml:"read_only"`
	DependsOn       map[string]struct{ Condition string } `yaml:"depends_on"`
	Ports           []string
	Volumes         []string
	Healthcheck     struct {
		Test              []string
		Interval, Timeout composeDuration
		Retries           int
	}
}

type composeDuration time.Duration

func (d *composeDuration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	*d = composeDuration(v)
	return err
}

// ours says that a service is agwire's and not an image of others.
func (s *composeService) ours() bool { return s.Build.Dockerfile != "" }

// programs are what the images run whose command is no program but arguments.
func programs() map[string]string {
	return map[string]string{"nats": "nats-server", "redis": "redis-server", "normalize": "agwire", "reduce": "agwire", "fanout": "agwire", "ingest": "agwire"}
}

// readCompose reads the file and checks that the suite understands all of it.
func readCompose(t testing.TB) *composeFile {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "deploy", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parseCompose(data)
	if err != nil {
		t.Fatalf("deploy/compose.yaml: %v", err)
	}
	return f
}

func parseCompose(data []byte) (*composeFile, error) {
	var f composeFile
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(f.Services)) {
		if err := f.check(name, f.Services[name]); err != nil {
			errs = append(errs, fmt.Errorf("service %s: %w", name, err))
		}
	}
	for name := range programs() {
		if f.Services[name] == nil {
			errs = append(errs, fmt.Errorf("service %s is missing", name))
		}
	}
	return &f, errors.Join(errs...)
}

// check finds what is unknown to the suite, or wrong in itself.
func (f *composeFile) check(name string, s *composeService) error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(programs()[name] != "", "is unknown")
	bad(s.ours() == (programs()[name] == "agwire"), "is built, or taken, from where it should not be")
	bad(s.Restart == "unless-stopped", "is not started again when it dies")
	bad(len(s.Command) > 0, "has no command")
	h := s.Healthcheck
	bad(len(h.Test) > 1 && h.Test[0] == "CMD" && h.Interval > 0 && h.Timeout > 0 && h.Retries > 0, "has no complete health check")
	for on, d := range s.DependsOn {
		bad(f.Services[on] != nil, "depends on %s, which is not there", on)
		bad(d.Condition == "service_healthy", "depends on %s that is %s", on, d.Condition)
	}
	for key, value := range s.Environment {
		bad(strings.HasPrefix(key, "AGWIRE_"), "is told %s", key)
		for host := range hosts(value) {
			_, depends := s.DependsOn[host]
			bad(depends, "%s names %s, on which the service does not depend", key, host)
		}
	}
	for _, p := range s.Ports {
		bad(strings.HasPrefix(p, "127.0.0.1:"), "publishes %s beyond the loopback", p)
	}
	for _, v := range s.Volumes {
		volume, _, _ := strings.Cut(v, ":")
		_, there := f.Volumes[volume]
		bad(there, "mounts %s, which is no volume of the file", volume)
	}
	if s.ours() {
		bad(s.ReadOnly, "may write to its image")
		bad(s.Environment["AGWIRE_LISTEN"] != "", "is not told where to listen")
		// The processes' own budget is 20 s.
		bad(time.Duration(s.StopGracePeriod) > 20*time.Second, "is killed before it has drained")
	}
	return errors.Join(errs...)
}

func TestCompose(t *testing.T) {
	f := readCompose(t)
	shards := map[string]bool{}
	for _, s := range f.Services {
		if s.ours() {
			shards[s.Environment["AGWIRE_SHARDS"]] = true
			if _, err := os.Stat(filepath.Join(root, "deploy", s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Error(err)
			}
		}
	}
	if len(shards) != 1 {
		t.Errorf("the services are told different numbers of shards: %v", slices.Sorted(maps.Keys(shards)))
	}
}

// What the suite does not follow is refused, not passed over.
func TestComposeRefused(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "deploy", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"service":     {"\n  reduce:\n", "\n  reducer:\n", "reducer: is unknown"},
		"member":      {"    ports:", "    networks:", "networks"},
		"setting":     {"AGWIRE_LISTEN: 0.0.0.0:8082", "LISTEN: 0.0.0.0:8082", "is told LISTEN"},
		"public port": {"127.0.0.1:8080:8080", "8080:8080", "beyond the loopback"},
		"dependency":  {"nats://nats:4222", "nats://broker:4222", "names broker"},
		"order":       {"condition: service_healthy", "condition: service_started", "service_started"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := bytes.Replace(data, []byte(c.old), []byte(c.new), 1)
			if bytes.Equal(changed, data) {
				t.Fatalf("the file has no %q", c.old)
			}
			if _, err := parseCompose(changed); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a refusal that says %q", err, c.want)
			}
		})
	}
}
