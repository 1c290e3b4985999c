package app_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/agwire/agwire/internal/app"
	"github.com/agwire/agwire/internal/config"
)

// TestSignalHelper is the process that TestSignals sends signals to.
func TestSignalHelper(t *testing.T) {
	if os.Getenv("AGWIRE_TEST_SIGNAL_HELPER") == "" {
		return
	}
	ctx, stop := app.SignalContext(context.Background(), os.Exit)
	defer stop()
	fmt.Println("up")
	<-ctx.Done()
	fmt.Println(context.Cause(ctx))
	select {}
}

func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSignalHelper$")
		cmd.Env = append(os.Environ(), "AGWIRE_TEST_SIGNAL_HELPER=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for _, want := range []string{"up", "signal: " + sig.String()} {
			if !lines.Scan() || lines.Text() != want {
				t.Fatalf("the process says %q, want %q", lines.Text(), want)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(sig) {
			t.Errorf("the second %v ends the process with %v", sig, err)
		}
	}
}

func TestSignalContextEnds(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	ctx, stop := app.SignalContext(parent, func(int) { t.Error("exit without a signal") })
	if ctx.Err() != nil {
		t.Error("ended before anything happened")
	}
	cancel()
	<-ctx.Done()
	stop()
	stop()
	ctx, stop = app.SignalContext(t.Context(), func(int) { t.Error("exit without a signal") })
	stop()
	if ctx.Err() == nil {
		t.Error("stop leaves the context alive")
	}
}

func TestSettings(t *testing.T) {
	cfg := app.DefaultConfig("127.0.0.1:8080")
	want := cfg
	set := config.NewSet()
	set.Add("Process", cfg.Settings()...)
	if _, err := set.Load(config.Source{}); err != nil || cfg != want {
		t.Errorf("defaults become %+v, %v", cfg, err)
	}
	if _, err := set.Load(config.Source{Args: []string{"--listen=[::1]:0", "--pprof", "--drain=1s"}}); err != nil || cfg.Listen != "[::1]:0" || !cfg.Pprof {
		t.Errorf("flags become %+v, %v", cfg, err)
	}
	for _, bad := range []string{"", "8080", "host", "host:http", "host:70000", "host:-1"} {
		if _, err := set.Load(config.Source{Args: []string{"--listen=" + bad}}); err == nil {
			t.Errorf("--listen=%s is accepted", bad)
		}
	}
}
