package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// built are the binaries that the suite drives; TestMain makes them, once.
var built struct {
	agwire, nats string
}

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "agwire-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built.agwire, built.nats = filepath.Join(dir, "agwire"), filepath.Join(dir, "nats-server")
	var race []string
	if os.Getenv("AGWIRE_E2E_RACE") != "" {
		race = []string{"-race"}
	}
	began := time.Now()
	if err := goBuild(built.agwire, "./cmd/agwire", race...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := goBuild(built.nats, "github.com/nats-io/nats-server/v2"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("agwire %v and nats-server built in %v\n", race, time.Since(began).Round(time.Millisecond))
	return m.Run()
}

// root is the repository's root, from where go test runs this package.
const root = ".."

func goBuild(out, pkg string, flags ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	args := append(append([]string{"build"}, flags...), "-o", out, pkg)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, said)
	}
	return nil
}
