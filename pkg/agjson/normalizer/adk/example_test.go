package adk_test

import (
	"fmt"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/adk"
)

func Example() {
	n := adk.New(normalizer.Host{ThreadID: "t1", TurnID: "turn-7"})
	var events []agjson.Event
	for _, frame := range []string{
		`{"invocationId":"e-1","author":"support","content":{"role":"model","parts":[{"text":"Hel"}]},"partial":true}`,
		`{"invocationId":"e-1","author":"support","content":{"role":"model","parts":[{"text":"lo"}]},"partial":true,"finishReason":"STOP"}`,
		`{"invocationId":"e-1","author":"support","content":{"role":"model","parts":[{"text":"Hello"}]},"partial":false,"finishReason":"STOP"}`,
	} {
		events = append(events, n.Push([]byte(frame))...)
	}
	events = append(events, n.Flush()...)
	for _, ev := range events {
		fmt.Println(ev.Body.Type())
	}
	// Output:
	// turn.start
	// message.start
	// text.start
	// text.delta
	// text.delta
	// text.end
	// message.end
	// turn.done
}
