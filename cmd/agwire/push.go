package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nuid"

	"github.com/agwire/agwire/internal/config"
	"github.com/agwire/agwire/internal/framing"
	"github.com/agwire/agwire/internal/push"
)

// uploadSettings are those of push and exec.
func uploadSettings(o *push.Options, url *config.URL, token *config.Secret) []config.Setting {
	return []config.Setting{
		&config.URLVar{Name: "ingest-url", To: url, Default: "http://127.0.0.1:8080", Schemes: []string{"http", "https"}, Required: true,
			Help: "where ingest is"},
		&config.SecretVar{Name: "ingest-token", To: token, Help: "bearer token for ingest"},
		&config.StringVar{Name: "thread", To: &o.Thread, Required: true, FlagOnly: true, Kind: "id", Help: "thread of the frames"},
		&config.StringVar{Name: "invoke", To: &o.Invoke, FlagOnly: true, Kind: "id",
			Help: "id of the invoke, unique in its thread; the same id again goes on where it was; without one a new id is made"},
		&config.StringVar{Name: "framework", To: &o.Framework, Required: true, FlagOnly: true, Kind: "name", Help: "framework of the frames"},
		&config.StringVar{Name: "turn", To: &o.Turn, FlagOnly: true, Kind: "id", Help: "id that the turn is to have"},
		&config.DurationVar{Name: "give-up", To: &o.GiveUp, Default: 2 * time.Minute, Min: time.Second, Max: 24 * time.Hour,
			Help: "how long an ingest that is away is tried again"},
	}
}

// complete fills what the flags leave open.
func complete(o push.Options, url config.URL, token config.Secret) push.Options {
	o.URL, o.Token = url.Reveal(), token.Reveal()
	if o.Invoke == "" {
		o.Invoke = "invoke-" + nuid.Next()
	}
	return o
}

// uploadFault is what push and exec say of an error, on one line, with what to do where ingest cannot be reached.
func uploadFault(err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "push: ") // the command's name stands before it
	}
	text := strings.Join(lines, "; ")
	var unreached *net.OpError
	if errors.As(err, &unreached) && unreached.Op == "dial" {
		text += "; is agwire up running? --ingest-url names another address"
	}
	return &uploadError{text, err}
}

// uploadError is an error in other words.
type uploadError struct {
	text string
	err  error
}

func (e *uploadError) Error() string { return e.text }
func (e *uploadError) Unwrap() error { return e.err }

func pushCommand() command {
	return command{
		name: "push", args: "[FILE]", maxArgs: 1, summary: "send a file of native frames, or standard input, as one invoke",
		long: "The frames are NDJSON or SSE. What is stored already, by an earlier push under the same --invoke, is not sent again.\n" +
			"At the end one line tells what is stored.",
		signals: true,
		setup: func(set *config.Set) runFunc {
			var o push.Options
			var url config.URL
			var token config.Secret
			set.Add("Push", uploadSettings(&o, &url, &token)...)
			return func(ctx context.Context, p *process, args []string) error {
				in := p.stdin
				if len(args) == 1 && args[0] != "-" {
					f, err := os.Open(args[0])
					if err != nil {
						return err
					}
					defer f.Close()
					in = f
				}
				return uploadFault(pushFrames(ctx, p.stdout, in, complete(o, url, token)))
			}
		},
	}
}

// pushFrames sends all frames of in and ends the invoke.
func pushFrames(ctx context.Context, out io.Writer, in io.Reader, o push.Options) error {
	have, err := push.Get(ctx, o)
	if err != nil {
		return err
	}
	u, err := push.New(ctx, o, have.Stored)
	if err != nil {
		return err
	}
	r := framing.NewReader(in, framing.Options{})
	for i := int64(0); ; i++ {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && i >= have.Stored {
			err = u.Send(ctx, bytes.Clone(f.Data))
		}
		if err != nil {
			u.Abandon()
			return err
		}
	}
	st, err := u.End(ctx, 0)
	if err != nil {
		return err
	}
	return printStored(out, o, st)
}

// printStored is push's and exec's last word.
func printStored(out io.Writer, o push.Options, st push.State) error {
	line, err := json.Marshal(map[string]any{"thread": o.Thread, "invoke": o.Invoke, "stored": st.Stored, "ended": st.Ended})
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", line)
	}
	return err
}
