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

// built are the binaries that the suite drives; TestMain makes them, once. offline is agwire without the race detector, which
// would only slow down what is no subject of this suite: it says what is expected.
var built struct {
	agwire, offline, nats string
}

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "agwire-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built.offline, built.nats = filepath.Join(dir, "agwire"), filepath.Join(dir, "nats-server")
	built.agwire = built.offline
	began := time.Now()
	if err := goBuild(built.offline, "./cmd/agwire"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if os.Getenv("AGWIRE_E2E_RACE") != "" {
		built.agwire += "-race"
		if err := goBuild(built.agwire, "./cmd/agwire", "-race"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := goBuild(built.nats, "github.com/nats-io/nats-server/v2"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("%s and nats-server built in %v\n", filepath.Base(built.agwire), time.Since(began).Round(time.Millisecond))
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
