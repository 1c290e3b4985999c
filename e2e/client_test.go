package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agwire/agwire/pkg/client"
)

// follower is one client of pkg/client, behind a line that can be cut, and what it is told.
type follower struct {
	name string
	line *proxy
	subs []*observer
	from []string // of each

	mu    sync.Mutex
	codes []int // with which its connections were closed
}

// closed are the codes with which its connections were closed so far; one that was cut has none.
func (f *follower) closed() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.codes)
}

// follow runs the client until ctx ends; why it ended sooner is an error.
func (f *follower) follow(ctx context.Context) error {
	o := client.Options{
		URL: "http://" + f.line.addr(), MinBackoff: 50 * time.Millisecond, MaxBackoff: 500 * time.Millisecond,
		OnState: func(st client.State) {
			if st.Code != 0 {
				f.mu.Lock()
				f.codes = append(f.codes, st.Code)
				f.mu.Unlock()
			}
		},
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	c, err := client.Dial(ctx, o)
	for err != nil {
		if ctx.Err() != nil {
			return nil
		}
		pause(100 * time.Millisecond)
		c, err = client.Dial(ctx, o)
	}
	defer c.Close()
	var subs group
	for n, o := range f.subs {
		sub, err := c.Subscribe(o.thread, f.from[n])
		if err != nil {
			return err
		}
		subs.run(o.thread, func(context.Context) error {
			for b, err := range sub.Batches(ctx) {
				if err != nil {
					return err
				}
				if b.Reset != "" {
					o.reset(b.Reset)
				}
				o.batch(b.Reset != "", b.Events, b.Cursor)
			}
			return nil
		})
	}
	<-ctx.Done()
	if err := subs.join(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// fleet starts a client for each thread, which follows it and two others, the one in the middle from now on and the others from
// their start. Each begins within the time given.
func (s *system) fleet(ctx context.Context, t testing.TB, run *group, threads []string, spread time.Duration) []*follower {
	t.Helper()
	var all []*follower
	for i := range threads {
		f := &follower{name: fmt.Sprintf("client %d", i), line: startProxy(t, strings.TrimPrefix(s.url("fanout"), "http://"))}
		f.add(threads[i], client.Start)
		f.add(threads[(i+17)%len(threads)], client.Now)
		f.add(threads[(i+31)%len(threads)], client.Start)
		all = append(all, f)
		run.run(f.name, func(context.Context) error {
			pause(rand.N(spread))
			return f.follow(ctx)
		})
	}
	return all
}

// add has the client follow a thread from a place.
func (f *follower) add(thread, from string) {
	next := int64(-1)
	if from == client.Start {
		next = 0
	}
	f.subs = append(f.subs, observe(f.name+", from "+from+",", thread, next))
	f.from = append(f.from, from)
}

// cutThrice cuts the client's line three times within about the time given, each time while it has one.
func (f *follower) cutThrice(ctx context.Context, over time.Duration) error {
	for range 3 {
		pause(over/8 + rand.N(over/5))
		for f.line.cut() == 0 {
			if ctx.Err() != nil {
				return errors.New("there is no line to be cut")
			}
			pause(20 * time.Millisecond)
		}
	}
	return nil
}
