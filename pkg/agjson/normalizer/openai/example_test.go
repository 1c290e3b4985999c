package openai_test

import (
	"fmt"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/openai"
)

func Example() {
	n := openai.New(normalizer.Host{ThreadID: "t1", TurnID: "turn-7"})
	var events []agjson.Event
	for _, frame := range []string{
		`{"type":"raw_model_stream_event","data":{"type":"response_started","providerData":{"response":{"id":"resp_1"}}}}`,
		`{"type":"raw_model_stream_event","data":{"type":"output_text_delta","itemId":"msg_1","delta":"Hello"}}`,
		`{"type":"raw_model_stream_event","data":{"type":"response_done","response":{"id":"resp_1","output":[]}}}`,
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
	// text.end
	// message.end
	// turn.done
}
