package e2e_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// refused runs agwire with bad settings and returns what it says; it must exit 2, and soon: nothing is tried before all
// settings are good.
func refused(t *testing.T, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := agwire(ctx, args...)
	cmd.Env = append(cmd.Env, env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Fatalf("agwire %s exits %d, want 2: %v\n%s", strings.Join(args, " "), code, err, said.Bytes())
	}
	if out.Len() > 0 {
		t.Errorf("it prints to standard output: %s", out.Bytes())
	}
	return said.String()
}

// Every bad value is named in one go, wherever it comes from.
func TestBadSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agwire.yaml")
	if err := os.WriteFile(file, []byte("replicas: 9\nno-such-key: 1\nlog-format: prose\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for service, own := range map[string]string{
		"ingest": "ingest-max-frame", "normalize": "normalize-window", "reduce": "redis-url", "fanout": "redis-url", "up": "nats-port",
	} {
		t.Run(service, func(t *testing.T) {
			env := []string{
				"AGWIRE_SHARDS=0", "AGWIRE_NO_SUCH_SETTING=1", "AGWIRE_LOG_LEVEL=loud",
				"AGWIRE_" + strings.ToUpper(strings.ReplaceAll(own, "-", "_")) + "=!",
			}
			said := refused(t, env, service, "--config", file, "--listen", "nowhere", "--drain", "-1s")
			for _, name := range []string{own, "shards", "AGWIRE_NO_SUCH_SETTING", "log-level", "replicas", "no-such-key", "log-format", "listen", "drain"} {
				if !strings.Contains(said, "\n  "+name+": ") {
					t.Errorf("it does not name %s:\n%s", name, said)
				}
			}
		})
	}
}

// Values that are wrong together, or that only their owner can judge, are refused with all others.
func TestBadTogether(t *testing.T) {
	said := refused(t, nil, "up", "--replicas", "2", "--frames-max-age", "1h", "--longest-invoke", "24h", "--prefix", "a b",
		"--nats-cert", "cert.pem", "--nats-user", "u", "--redis-url", "redis://127.0.0.1/x", "--redis-max-value", "9MiB",
		"--redis-max-snapshot", "8MiB", "--redis-prefix", "{}", "--normalize-max-batch", "2048", "--normalize-max-gathered", "1024", "--data", "",
		"--listen", "nowhere")
	for _, name := range []string{
		"replicas", "frames-max-age", "prefix", "nats-cert", "nats-user", "redis-url", "redis-max-snapshot", "redis-prefix",
		"normalize-max-gathered", "data", "listen",
	} {
		if !strings.Contains(said, "\n  "+name+": ") {
			t.Errorf("it does not name %s:\n%s", name, said)
		}
	}
}

// A secret in a setting is shown nowhere.
func TestSecretsUnseen(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := agwire(ctx, "ingest", "--listen", "127.0.0.1:0", "--nats-url", "nats://joe:hunter2@127.0.0.1:1", "--nats-wait", "200ms")
	cmd.Env = append(cmd.Env, "AGWIRE_NATS_TOKEN=opensesame")
	said, err := cmd.CombinedOutput()
	if _, ok := err.(*exec.ExitError); !ok {
		t.Fatalf("a service without a broker ends with %v", err)
	}
	for _, secret := range []string{"hunter2", "opensesame"} {
		if bytes.Contains(said, []byte(secret)) {
			t.Errorf("it shows %s:\n%s", secret, said)
		}
	}
}

// The commands of README.md need no more than it says.
func TestDefaults(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := run(agwire(ctx, "help", "exec"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(out, []byte("http://127.0.0.1:8080")) {
		t.Errorf("agwire exec does not send to where agwire up listens, unless told:\n%s", out)
	}
}
