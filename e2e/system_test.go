package e2e_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// system is the whole of deploy/compose.yaml as processes of this machine.
type system struct {
	t     testing.TB
	file  *composeFile
	real  string // redis-server's path; "" = agwire redis
	data  map[string]string
	ports map[string]string // of the loopback, by service:port
	procs map[string]*process
}

// startSystem starts the services in the file's order, or those of them that are named, and returns when all are healthy.
func startSystem(t testing.TB, only ...string) *system {
	t.Helper()
	s := &system{t: t, file: readCompose(t), real: redisServer(t), data: map[string]string{}, ports: map[string]string{}, procs: map[string]*process{}}
	if only == nil {
		only = slices.Sorted(maps.Keys(s.file.Services))
	}
	began := time.Now()
	for len(s.procs) < len(only) {
		var next []string
		for _, name := range only {
			if s.procs[name] == nil && s.satisfied(name) {
				next = append(next, name)
			}
		}
		if len(next) == 0 {
			t.Fatal("the services depend on each other in a circle, or on one that is not started")
		}
		for _, name := range next {
			s.procs[name] = start(t, s.command(name))
		}
		for _, name := range next {
			s.healthy(name)
		}
	}
	t.Logf("started %s in %v", strings.Join(slices.Sorted(maps.Keys(s.procs)), ", "), time.Since(began).Round(time.Millisecond))
	return s
}

func (s *system) satisfied(name string) bool {
	for on := range s.file.Services[name].DependsOn {
		if s.procs[on] == nil {
			return false
		}
	}
	return true
}

// redisServer is the path of a real redis-server, or "".
func redisServer(t testing.TB) string {
	t.Helper()
	path := os.Getenv("AGWIRE_TEST_REDIS_SERVER")
	if path == "" {
		path, _ = exec.LookPath("redis-server")
	}
	if path == "" || path == "none" {
		t.Log("Redis is agwire redis, the embedded one as a process")
		return ""
	}
	t.Logf("Redis is %s", path)
	return path
}

// addr is where a port of a service is on this machine.
func (s *system) addr(service, port string) string {
	key := service + ":" + port
	if s.ports[key] == "" {
		s.ports[key] = freePorts.port(s.t)
	}
	return net.JoinHostPort("127.0.0.1", s.ports[key])
}

var hostPort = regexp.MustCompile(`\b([a-z][a-z0-9-]*|0\.0\.0\.0|127\.0\.0\.1):([0-9]{2,5})\b`)

// hosts are the names of services in a value, and none of the addresses that mean the service itself.
func hosts(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, m := range hostPort.FindAllStringSubmatch(value, -1) {
			if m[1] != "0.0.0.0" && m[1] != "127.0.0.1" && !yield(m[1]) {
				return
			}
		}
	}
}

// mapped is a value of a service with its addresses as they are on this machine.
func (s *system) mapped(service, value string) string {
	return hostPort.ReplaceAllStringFunc(value, func(at string) string {
		host, port, _ := net.SplitHostPort(at)
		if s.file.Services[host] == nil {
			host = service
		}
		return s.addr(host, port)
	})
}

// command is how a service is started here.
func (s *system) command(name string) command {
	svc := s.file.Services[name]
	c := command{name: name, argv: slices.Clone(svc.Command)}
	if s.data[name] == "" {
		s.data[name] = s.t.TempDir()
	}
	switch {
	case svc.ours():
		c.argv = append([]string{built.agwire}, c.argv...)
	case name == "nats":
		c.argv = append([]string{built.nats}, c.argv...)
		c.argv = append(c.argv, split("-a", s.addr(name, "4222"), "-p")...)
		monitor := slices.Index(c.argv, "-m") + 1
		if monitor == 0 || monitor == len(c.argv) {
			s.t.Fatal("nats has no monitoring port to be asked for its health")
		}
		_, c.argv[monitor], _ = net.SplitHostPort(s.addr(name, c.argv[monitor]))
	case s.real == "":
		_, port, _ := net.SplitHostPort(s.addr(name, "6379"))
		c.argv = []string{built.agwire, "redis", "--redis-port", port}
	default:
		if c.argv[0] != "redis-server" {
			s.t.Fatalf("redis runs %s", c.argv[0])
		}
		c.argv[0] = s.real
		c.argv = append(c.argv, split("--bind", s.addr(name, "6379"), "--port")...)
		c.argv = append(c.argv, "--dir", s.data[name])
	}
	for _, v := range svc.Volumes {
		_, inside, _ := strings.Cut(v, ":")
		for i := range c.argv {
			if c.argv[i] == inside {
				c.argv[i] = filepath.Join(s.data[name], "volume")
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(svc.Environment)) {
		c.env = append(c.env, key+"="+s.mapped(name, svc.Environment[key]))
	}
	return c
}

// split is an address as the arguments of two flags.
func split(hostFlag, addr, portFlag string) []string {
	host, port, _ := net.SplitHostPort(addr)
	return []string{hostFlag, host, portFlag, port}
}

// healthy waits until a service's health check of the file passes.
func (s *system) healthy(name string) {
	s.t.Helper()
	h := s.file.Services[name].Healthcheck
	var last error
	ok := within(time.Duration(h.Retries)*time.Duration(h.Interval), func() bool {
		if s.procs[name].ended() {
			s.t.Fatalf("%s ended instead of becoming healthy", name)
		}
		last = s.probe(name, h.Test[1:], time.Duration(h.Timeout))
		return last == nil
	})
	if !ok {
		s.t.Fatalf("%s is not healthy: %v", name, last)
	}
}

// probe runs a health check. agwire's is run as it stands; those that are tools of the other images are done in their stead.
func (s *system) probe(name string, test []string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	switch {
	case len(test) == 3 && test[0] == "/agwire" && test[1] == "probe":
		cmd := agwire(ctx, "probe", s.mapped(name, test[2]))
		cmd.Env = append(cmd.Env, s.procs[name].command.env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	case len(test) > 1 && test[0] == "wget":
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.mapped(name, test[len(test)-1]), nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	case slices.Equal(test, []string{"redis-cli", "ping"}):
		return ping(ctx, s.addr(name, "6379"))
	}
	s.t.Fatalf("%s has a health check that is unknown here: %q", name, test)
	return nil
}

// ping asks a Redis whether it answers.
func ping(ctx context.Context, addr string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := io.WriteString(conn, "*1\r\n$4\r\nPING\r\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && strings.TrimSpace(line) != "+PONG" {
		err = errors.New("no PONG")
	}
	return err
}

// url is the base of a service's HTTP server.
func (s *system) url(name string) string {
	listen := s.file.Services[name].Environment["AGWIRE_LISTEN"]
	return "http://" + s.mapped(name, listen)
}

// natsURL is where the broker is.
func (s *system) natsURL() string { return "nats://" + s.addr("nats", "4222") }

// crash kills services at once by SIGKILL and starts them again after a while, as their container's engine does.
func (s *system) crash(away time.Duration, names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.procs[name].kill()
	}
	pause(away)
	for _, name := range names {
		s.procs[name].restart()
	}
	s.t.Logf("killed %s, away for %v", strings.Join(names, " and "), away)
}

// threadPath is the path of a thread; ids are percent-encoded.
func threadPath(thread string) string { return "/v1/threads/" + url.PathEscape(thread) }
