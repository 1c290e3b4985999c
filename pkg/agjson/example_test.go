package agjson_test

import (
	"errors"
	"fmt"

	"github.com/agwire/agwire/pkg/agjson"
)

func ExampleDecode() {
	ev, err := agjson.Decode([]byte(`{"type":"text.delta","seq":4,"id":"b-1","delta":"Grüße","later":true}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	switch b := ev.Body.(type) {
	case *agjson.TextDelta:
		fmt.Println(ev.Seq, ev.ID, b.Delta)
	case *agjson.Unknown:
		fmt.Println("skipped:", b.Type())
	}
	fmt.Println(string(agjson.AppendEvent(nil, &ev)))
	// Output:
	// 4 b-1 Grüße
	// {"type":"text.delta","seq":4,"id":"b-1","delta":"Grüße","later":true}
}

func ExampleDecode_malformed() {
	_, err := agjson.Decode([]byte(`{"type":"tool.done","seq":4,"toolCallId":"c","content":[{"type":"text"}]}`))
	var where *agjson.DecodeError
	if errors.As(err, &where) && errors.Is(err, agjson.ErrMalformed) {
		fmt.Println(where.Path, where.Why)
	}
	// Output: /content/0/text missing
}

func ExampleAppendEvent() {
	ev := agjson.Event{Seq: 7, TurnID: "t-1", MessageID: "m-1", Body: &agjson.ToolStart{ToolCallID: "c-1", Name: "search", Index: "0"}}
	fmt.Println(string(agjson.AppendEvent(nil, &ev)))
	// Output: {"type":"tool.start","seq":7,"turnId":"t-1","messageId":"m-1","toolCallId":"c-1","name":"search","index":0}
}

func ExampleCheck() {
	block := []byte(`{"type":"text","text":"hi","color":"red"}`)
	fmt.Println(agjson.Check("AgBlock", agjson.Consumer, block))
	fmt.Println(agjson.Check("AgBlock", agjson.Producer, block))
	// Output:
	// <nil>
	// agjson: AgBlock at /color: unknown member
}

func ExampleProfileOf() {
	ev, err := agjson.Decode([]byte(`{"type":"tool.done","seq":9,"toolCallId":"c","content":[],"outcome":"ok","uiData":{"rows":3}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(agjson.ProfileOf(&ev))
	fmt.Println(agjson.ProfileCORE.Admit(&ev))
	// Output:
	// ADVANCED
	// agjson: ADVANCED needed at /uiData
}
