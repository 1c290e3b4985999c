package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/framing"
	"github.com/agwire/agwire/internal/push"
)

func execCommand() command {
	return command{
		name: "exec", args: "-- PROGRAM [ARG…]", minArgs: 1, maxArgs: -1, summary: "run a program and send the frames of its standard output",
		long: "The program's standard output is native frames, NDJSON or SSE; its standard input and error are this command's. The\n" +
			"invoke ends with the program's exit status, which this command passes on. A program that fails, or that prints what is no\n" +
			"frame, is reported in the thread by a __host_error__ frame (SPEC §8.0).",
		signals: true,
		setup: func(set *config.Set) runFunc {
			var o push.Options
			var url config.URL
			var token config.Secret
			var grace time.Duration
			set.Add("Exec", append(uploadSettings(&o, &url, &token),
				&config.DurationVar{Name: "grace", To: &grace, Default: 10 * time.Second, Min: 0, Max: time.Hour,
					Help: "how long the program may go on after a signal to end, before it is killed"})...)
			return func(ctx context.Context, p *process, args []string) error {
				status, err := execFrames(ctx, p, complete(o, url, token), grace, args)
				if err != nil {
					fmt.Fprintf(p.stderr, "agwire exec: %v\n", uploadFault(err))
					return exitStatus(max(status, 1))
				}
				if status != 0 {
					return exitStatus(status)
				}
				return nil
			}
		},
	}
}

// execFrames runs the program and sends what it says. It returns the program's exit status, 128 and more for a signal.
func execFrames(ctx context.Context, p *process, o push.Options, grace time.Duration, args []string) (int, error) {
	sctx := context.WithoutCancel(ctx) // what the program has said is sent, whoever is told to end
	u, err := push.New(sctx, o, 0)
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stderr = p.stdin, p.stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		err = fmt.Errorf("start the program: %w", err)
		_, told := reportFailure(sctx, u, "start_failed", "the program could not be started", notStarted)
		return notStarted, errors.Join(err, told)
	}
	readErr := sendAll(sctx, u, out)
	if readErr != nil {
		_, _ = io.Copy(io.Discard, out) // so that the program can go on to its end
	}
	status, waitErr := exitOf(cmd.Wait())
	var st push.State
	if code, message := failure(status, readErr); code != "" {
		st, err = reportFailure(sctx, u, code, message, status)
	} else {
		st, err = u.End(sctx, status)
	}
	if err == nil {
		err = printStored(p.stderr, o, st)
	}
	if err == nil && st.Stored == 0 {
		_, err = fmt.Fprintln(p.stderr, "agwire exec: the program printed no frames")
	}
	return status, errors.Join(err, waitErr)
}

// notStarted is the exit status of shells for a program that cannot be run.
const notStarted = 127

// reportFailure ends the invoke behind the frame by which a host reports what its framework did not stream (SPEC §8.0).
func reportFailure(ctx context.Context, u *push.Upload, code, message string, status int) (push.State, error) {
	frame, err := json.Marshal(map[string]string{"type": "__host_error__", "code": code, "message": message})
	if err == nil {
		err = u.Send(ctx, frame)
	}
	if err != nil {
		u.Abandon()
		return push.State{}, err
	}
	return u.End(ctx, min(status, 255))
}

// sendAll sends every frame until the output ends; the error is that of a frame or of the upload.
func sendAll(ctx context.Context, u *push.Upload, out io.Reader) error {
	r := framing.NewReader(out, framing.Options{})
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = u.Send(ctx, bytes.Clone(f.Data))
		}
		if err != nil {
			return err
		}
	}
}

// exitOf reads the exit status out of Wait's error.
func exitOf(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return 128 + int(ws.Signal()), nil
		}
		return exit.ExitCode(), nil
	case errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	}
	return 1, fmt.Errorf("run the program: %w", err)
}

// failure is the code and message of what went wrong; "" when nothing did.
func failure(status int, readErr error) (code, message string) {
	var bad *framing.Error
	switch {
	case errors.As(readErr, &bad):
		return "bad_output", "the program's output is no stream of frames: " + bad.Error()
	case status > 128:
		return "signal_" + strconv.Itoa(status-128), "the program was ended by signal " + strconv.Itoa(status-128)
	case status != 0:
		return "exit_" + strconv.Itoa(status), "the program ended with status " + strconv.Itoa(status)
	}
	return "", ""
}
