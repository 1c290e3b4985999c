package embednats_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/agwire/agwire/internal/embednats"
)

// A server over the store of one that was killed warns once, however many streams it recovers, and has every message.
func TestUncleanStopIsOneWarning(t *testing.T) {
	o := embednats.Options{Dir: filepath.Join(t.TempDir(), "a")}
	streams := []string{"A", "B", "C"}
	publish := func(s *embednats.Server) {
		nc, err := nats.Connect(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		js, err := nc.JetStream()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range streams {
			if _, err := js.AddStream(&nats.StreamConfig{Name: name, Subjects: []string{name}}); err != nil {
				t.Fatal(err)
			}
			if _, err := js.Publish(name, []byte("kept")); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := start(t, o)
	publish(s)
	s.Stop() // writes the index
	s = start(t, o)
	publish(s) // the index does not know of it
	killed := filepath.Join(t.TempDir(), "b")
	if err := os.CopyFS(killed, os.DirFS(o.Dir)); err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.InfoLevel)
	again, err := embednats.Start(context.Background(), embednats.Options{Dir: killed, Log: zap.New(core)})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Stop()
	warned := logs.FilterLevelExact(zap.WarnLevel).All()
	if len(warned) != 1 || warned[0].Message != "recovering the log after an unclean stop" {
		t.Errorf("warned of %+v", warned)
	}
	nc, err := nats.Connect(again.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range streams {
		info, err := js.StreamInfo(name)
		if err != nil || info.State.Msgs != 2 {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		if logs.FilterLevelExact(zap.InfoLevel).Filter(func(e observer.LoggedEntry) bool { return strings.Contains(e.Message, "Filestore ["+name+"]") }).Len() == 0 {
			t.Errorf("nothing is told of %s", name)
		}
	}
}
