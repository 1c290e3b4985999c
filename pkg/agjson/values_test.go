package agjson_test

import (
	"bytes"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

// TestDecoder: a Decoder reads what Decode reads; what is no delta keeps no hold on the text; a delta costs no allocation.
func TestDecoder(t *testing.T) {
	var x agjson.Decoder
	for _, in := range []string{
		`{"type":"text.delta","seq":3,"id":"b","delta":"a\ud800","zz":[1e400,{"b":1,"a":2}]}`,
		`{"seq":4,"id":"b","delta":"plain","type":"text.delta"}`,
		`{"type":"text.delta","seq":5,"id":"b","delta":"x","providerMetadata":{"a":1},"messageId":"m"}`,
		`{"type":"reasoning.delta","seq":5,"id":"b","delta":"x","partIndex":2}`,
		`{"type":"tool.args.delta","seq":5,"toolCallId":"c","delta":"{"}`,
		`{"type":"reasoning.opaque.delta","seq":5,"id":"b","delta":"x"}`,
		`{"type":"text.start","seq":5,"id":"b","_meta":{"k":"v"}}`,
		`{"type":"text.later","seq":0,"id":"b","new":{"x":"\u00e9"}}`,
		`{"type":"tool.done","seq":5,"messageId":"c:result","toolCallId":"c","content":[{"type":"text","text":"<&>"}],"outcome":"ok"}`,
		`{"type":"text.delta","seq":3,"id":"b"}`,
		`{"type":"text.delta","seq":3,"id":"b","delta":"x"} x`,
		`{"type":"text.delta","type":"text.delta","seq":3,"id":"b","delta":"x"}`,
		`{"seq":3}`, `[`, ``, `{"type":5}`,
	} {
		want, wantErr := agjson.Decode([]byte(in))
		data := []byte(in)
		got, err := x.Decode(data)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%s: %v, want %v", in, err, wantErr)
			continue
		}
		if err != nil {
			continue
		}
		switch got.Body.(type) {
		case *agjson.TextDelta, *agjson.ReasoningDelta, *agjson.ToolArgsDelta, *agjson.ReasoningOpaqueDelta:
		default:
			clear(data)
		}
		if a, b := agjson.AppendEvent(nil, &got), agjson.AppendEvent(nil, &want); !bytes.Equal(a, b) {
			t.Errorf("%s: reads\n%s\nnot\n%s", in, a, b)
		}
	}
	line := []byte(`{"type":"text.delta","seq":5,"id":"b","turnId":"t","messageId":"m","delta":"some words"}`)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := x.Decode(line); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("a delta costs %v allocations", n)
	}
}
