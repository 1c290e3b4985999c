package normalizer_test

import (
	"fmt"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// echo maps frames such as {"say":"hi"}, of a framework that has neither turns nor messages.
type echo struct{ *normalizer.Engine }

func (f echo) Frame(v agjson.Value) {
	if say := v.Get("say"); say.Kind() == agjson.KindString {
		f.TextDelta("text", "", say.Str())
		return
	}
	f.Unparsed(v)
}

func (f echo) End() {}

func Example() {
	n := normalizer.Run(echo{normalizer.NewEngine("acme", normalizer.Host{ThreadID: "thread", TurnID: "turn"})})
	events := append(n.Push([]byte(`{"say":"hi"}`)), n.Push([]byte(`{"hum":1}`))...)
	for _, ev := range append(events, n.Flush()...) {
		fmt.Printf("%s\n", agjson.AppendEvent(nil, &ev))
	}
	// Output:
	// {"type":"turn.start","seq":0,"turnId":"turn","threadId":"thread"}
	// {"type":"message.start","seq":1,"id":"turn:message:0","turnId":"turn","role":"assistant","threadId":"thread"}
	// {"type":"text.start","seq":2,"id":"text","turnId":"turn","messageId":"turn:message:0"}
	// {"type":"text.delta","seq":3,"id":"text","turnId":"turn","delta":"hi"}
	// {"type":"ext.acme.unparsed","seq":4,"turnId":"turn","native":{"hum":1}}
	// {"type":"message.end","seq":5,"id":"turn:message:0","turnId":"turn"}
	// {"type":"turn.abort","seq":6,"turnId":"turn","reason":"stream-truncated"}
}
