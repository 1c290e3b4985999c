package app_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"go.uber.org/zap"

	"github.com/agwire/agwire/internal/app"
)

// clock is a service that answers HTTP.
type clock struct{ stop context.CancelFunc }

func (c clock) Ready() bool { return true }

func (c clock) Routes() map[string]http.Handler {
	return map[string]http.Handler{"GET /v1/time": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "late")
	})}
}

func (c clock) Run(ctx context.Context) error {
	c.stop() // stands in for a signal
	<-ctx.Done()
	return nil
}

func Example() {
	ctx, stop := app.SignalContext(context.Background(), os.Exit)
	defer stop()
	a, err := app.New(app.DefaultConfig("127.0.0.1:0"), app.Deps{Log: zap.NewNop(), Metrics: app.NewRegistry("v1.0.0")})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := a.Add("clock", clock{stop}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Run(ctx))
	// Output: <nil>
}
