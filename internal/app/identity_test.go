package app_test

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/app"
)

func TestEachLineHasOneService(t *testing.T) {
	var out bytes.Buffer
	log, err := app.NewLogger(&out, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	up := log.With(zap.String("svc", "up"))
	reduce := up.With(zap.String("worker", "w1"), zap.Int("shard", 3)).With(zap.String("svc", "reduce"))
	for _, tc := range []struct {
		say  func()
		want string
	}{
		{func() { log.Info("m") }, `"msg":"m"}`},
		{func() { up.Info("m", zap.Int("n", 1)) }, `"msg":"m","svc":"up","n":1}`},
		{func() { reduce.Info("m") }, `"msg":"m","shard":3,"svc":"reduce","worker":"w1"}`},
		{func() { reduce.Info("m", zap.String("svc", "x"), zap.String("worker", "w2")) }, `"msg":"m","shard":3,"svc":"x","worker":"w2"}`},
		{func() { up.Info("again") }, `"msg":"again","svc":"up"}`},
		{func() { reduce.Debug("m") }, ``},
	} {
		out.Reset()
		tc.say()
		if got := strings.TrimSpace(out.String()); !strings.HasSuffix(got, tc.want) || tc.want == "" && got != "" {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}
