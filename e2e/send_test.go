package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// paced is a stream of frames in which each comes a while after the one before, all of them in about the time given.
func paced(frames [][]byte, total time.Duration) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		for _, f := range frames {
			step := total / time.Duration(len(frames))
			pause(step/2 + rand.N(step+1))
			if _, err := w.Write(append(bytes.Clone(f), '\n')); err != nil {
				return
			}
		}
		w.Close()
	}()
	return r
}

// A sender brings an invoke into the log within about the pace, however often ingest dies meanwhile, and returns why it
// could not.
type sender func(ctx context.Context, ingest string, i invoke, pace time.Duration) error

// pushing is agwire push.
func pushing(ctx context.Context, ingest string, i invoke, pace time.Duration) error {
	cmd := agwire(ctx, "push", "--ingest-url", ingest, "--thread", i.thread, "--invoke", i.id, "--framework", i.rec.framework)
	cmd.Stdin = paced(i.rec.frames, pace)
	out, err := run(cmd)
	if err != nil {
		return err
	}
	return isStored(out, i)
}

// executing is agwire exec around a program that prints the frames and ends with the invoke's status.
func executing(ctx context.Context, ingest string, i invoke, pace time.Duration) error {
	cmd := agwire(ctx, "exec", "--ingest-url", ingest, "--thread", i.thread, "--invoke", i.id, "--framework", i.rec.framework,
		"--", "sh", "-c", "cat; exit "+strconv.Itoa(i.exit))
	cmd.Stdin = paced(i.rec.frames, pace)
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	var exit *exec.ExitError
	status := 0
	if errors.As(err, &exit) {
		status, err = exit.ExitCode(), nil
	}
	if err != nil || status != i.exit {
		return fmt.Errorf("agwire exec: %w, status %d for a program of %d: %s", err, status, i.exit, said.Bytes())
	}
	return isStored(said.Bytes(), i)
}

// uploading is plain HTTP by a client with a bad connection: it is cut at any byte, asks where to go on, and sometimes sends
// again what is stored. The last request ends the invoke.
func uploading(ctx context.Context, ingest string, i invoke, pace time.Duration) error {
	stored := int64(0)
	base := ingest + "/v1/threads/" + url.PathEscape(i.thread) + "/invokes/" + url.PathEscape(i.id) + "/frames"
	total, due := int64(len(i.rec.frames)), time.Now().Add(pace)
	for cuts := 0; ; {
		at := max(0, stored-rand.Int64N(3)) // a frame or two again
		rest := i.rec.frames[at:]
		body := paced(rest, max(0, time.Until(due)))
		if cuts < 3 && len(rest) > 1 {
			cuts++
			body = &cutReader{r: body, left: 1 + rand.Int64N(int64(len(ndjson(rest)))/2)}
		}
		st, err := request(ctx, http.MethodPost, base+"?framework="+i.rec.framework+"&from="+strconv.FormatInt(at, 10), body)
		if err == nil && st.Stored == total && st.Ended {
			return nil
		}
		if err == nil {
			return fmt.Errorf("ingest took all frames and says %+v of %d", st, total)
		}
		// Whatever went wrong: ask, and go on from there.
		for {
			if st, err = request(ctx, http.MethodGet, base, nil); err == nil {
				break
			}
			if ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
			pause(100 * time.Millisecond)
		}
		if st.Stored < stored {
			return fmt.Errorf("ingest had stored %d frames and now says %d", stored, st.Stored)
		}
		if stored = st.Stored; st.Ended {
			if stored != total {
				return fmt.Errorf("the invoke ended with %d frames of %d", stored, total)
			}
			return nil
		}
	}
}

// cutReader fails after so many bytes.
type cutReader struct {
	r    io.ReadCloser
	left int64
}

func (c *cutReader) Close() error { return c.r.Close() }

var errCut = errors.New("the line was cut")

func (c *cutReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errCut
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// storedState is ingest's answer.
type storedState struct {
	Stored int64
	Ended  bool
}

// request makes one request to ingest; any answer but 200 is an error.
func request(ctx context.Context, method, target string, body io.Reader) (storedState, error) {
	var st storedState
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return st, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return st, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return st, err
	}
	if resp.StatusCode != http.StatusOK {
		return st, fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(data))
	}
	return st, json.Unmarshal(data, &st)
}

// agwire is a command of the binary under test.
func agwire(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, built.agwire, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs a command to its end and returns its standard output.
func run(cmd *exec.Cmd) ([]byte, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args[:2], " "), err, said.Bytes())
	}
	return out.Bytes(), nil
}

// isStored checks the last word of push and exec.
func isStored(out []byte, i invoke) error {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	var st storedState
	if err := json.Unmarshal(lines[len(lines)-1], &st); err != nil {
		return fmt.Errorf("%s: the last line is no state: %w", i.id, err)
	}
	if want := int64(len(i.stored())); !st.Ended || st.Stored != want {
		return fmt.Errorf("%s: %d frames stored of %d, ended %v", i.id, st.Stored, want, st.Ended)
	}
	return nil
}
