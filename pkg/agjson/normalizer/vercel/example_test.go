package vercel_test

import (
	"fmt"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/vercel"
)

func Example() {
	n := vercel.New(normalizer.Host{ThreadID: "t1", TurnID: "turn-7"})
	var events []agjson.Event
	for _, frame := range []string{
		`{"type":"start-step"}`,
		`{"type":"text-start","id":"0"}`,
		`{"type":"text-delta","id":"0","delta":"Hello"}`,
		`{"type":"text-end","id":"0"}`,
		`{"type":"finish-step"}`,
		`{"type":"finish","finishReason":"stop"}`,
	} {
		events = append(events, n.Push([]byte(frame))...)
	}
	events = append(events, n.Flush()...)
	for _, ev := range events {
		fmt.Println(ev.Body.Type())
	}
	// Output:
	// turn.start
	// step.start
	// message.start
	// text.start
	// text.delta
	// text.end
	// message.end
	// step.done
	// turn.done
}
