package agjson_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agwire/agwire/pkg/agjson"
)

// opaques are values that a general codec changes; each must survive byte for byte (SPEC §0.1, §13.2).
var opaques = []string{
	"1" + strings.Repeat("0", 400), // 10^400
	"9007199254740993",             // 2^53+1
	"-0", "-0.0", "1.0", "1.50", "1E+2", "1e-400", "0.1000000000000000055511151231257827",
	`"\u00e9\/\u0041\ud83d\ude00"`, `"\ud800"`, `"\uDC00\uD800"`, `"<>&\u2028"`, `""`,
	`{"b":1,"a":2,"":3}`, `{"a":1,"a":2,"\u0061":3}`, `{"k" : [ 1 , 2 ] }`, `[]`, `{}`, `null`, `true`,
	strings.Repeat("[", 900) + strings.Repeat("]", 900),
}

func TestOpaqueValuesSurviveByteForByte(t *testing.T) {
	places := []string{
		`{"type":"state.snapshot","seq":0,"snapshot":%s}`,
		`{"type":"state.delta","seq":0,"patch":%s}`,
		`{"type":"memory.write","seq":0,"scope":"thread","value":%s}`,
		`{"type":"tool.args.assembled","seq":0,"toolCallId":"c","input":%s}`,
		`{"type":"tool.done","seq":0,"toolCallId":"c","content":[],"structuredContent":%[1]s,"uiData":%[1]s,"sideData":%[1]s}`,
		`{"type":"text.delta","seq":0,"id":"b","_meta":{"k":%s},"delta":"x"}`,
		`{"type":"text.delta","seq":0,"id":"b","delta":"x","providerMetadata":{"k":%s}}`,
		`{"type":"content.block","seq":0,"block":{"type":"data","name":"d","data":%s}}`,
		`{"type":"content.block","seq":0,"block":{"type":"provider-raw","vendor":"v","raw":%s}}`,
		`{"type":"content.block","seq":0,"block":{"type":"reasoning","providerDetails":%s}}`,
		`{"type":"ui.surface.start","seq":0,"surfaceId":"s","catalogId":"c","surfaceProperties":%[1]s,"components":%[1]s,"dataModel":%[1]s}`,
		`{"type":"ui.surface.update","seq":0,"surfaceId":"s","components":%s}`,
		`{"type":"ui.data-model","seq":0,"surfaceId":"s","path":"/","value":%s}`,
		`{"type":"ext.acme.frame","seq":0,"frame":%s}`,
		`{"type":"turn.later","seq":0,"new":%s}`,
		`{"type":"turn.abort","seq":0,"unknown":%s}`,
	}
	for _, place := range places {
		for _, v := range opaques {
			in := fmt.Sprintf(place, v)
			ev, err := agjson.Decode([]byte(in))
			if err != nil {
				t.Errorf("%.90s…: %v", in, err)
				continue
			}
			if out := string(agjson.AppendEvent(nil, &ev)); out != in {
				t.Errorf("re-encoded\n%.200s\nas\n%.200s", in, out)
			}
		}
	}
}

// SPEC §13.1, §13.2: what a provider must get back byte-identical is so, and shows in no log.
func TestReplayBlobsRoundTripAndDoNotPrint(t *testing.T) {
	for _, in := range []string{
		`{"type":"reasoning.opaque","seq":0,"id":"r","kind":"signature","value":"s3cret/+=="}`,
		`{"type":"reasoning.opaque.delta","seq":0,"id":"r","delta":"s3cret"}`,
		`{"type":"content.block","seq":0,"block":{"type":"search-result","opaque":{"kind":"ciphertext","value":"s3cret"}}}`,
		`{"type":"content.block","seq":0,"block":{"type":"compaction","opaque":{"kind":"encrypted","value":"s3cret"}}}`,
		`{"type":"tool.args.assembled","seq":0,"toolCallId":"c","input":{},"signature":"s3cret"}`,
		`{"type":"tool.done","seq":0,"toolCallId":"c","content":[],"outcome":"input_required","pendingInput":{"requestState":"s3cret"}}`,
		`{"type":"hitl.ask","seq":0,"askId":"a","kind":"form","requestState":"s3cret","token":"s3cret"}`,
		`{"type":"text.delta","seq":0,"id":"b","delta":"x","providerMetadata":{"k":"s3cret"}}`,
	} {
		ev, err := agjson.Decode([]byte(in))
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if out := string(agjson.AppendEvent(nil, &ev)); out != in {
			t.Errorf("re-encoded\n%s\nas\n%s", in, out)
		}
		for _, shown := range secretsShown(ev) {
			if strings.Contains(shown, "s3cret") {
				t.Errorf("%s shows as %s", in, shown)
			}
		}
	}
}

// secretsShown prints what of the event has a secret in it.
func secretsShown(ev agjson.Event) []string {
	var out []string
	show := func(v any) { out = append(out, fmt.Sprintf("%v %+v %#v %s %q %x", v, v, v, v, v, v)) }
	switch b := ev.Body.(type) {
	case *agjson.ReasoningOpaque:
		show(*b)
	case *agjson.ReasoningOpaqueDelta:
		show(*b)
	case *agjson.ContentBlock:
		switch b := b.Block.(type) {
		case *agjson.SearchResultBlock:
			show(*b.Opaque)
		case *agjson.CompactionBlock:
			show(*b.Opaque)
		}
	case *agjson.ToolArgsAssembled:
		show(*b.Signature)
	case *agjson.ToolDone:
		show(*b.PendingInput.RequestState)
	case *agjson.HitlAsk:
		show(*b.RequestState)
		show(*b.Token)
	case *agjson.TextDelta:
		show(*b)
	}
	return out
}

// A lone surrogate is a value like another, and a pair that two strings were split over joins when they are appended.
func TestSurrogates(t *testing.T) {
	high, err := agjson.Unescaped([]byte(`"a\ud83d"`))
	if err != nil {
		t.Fatal(err)
	}
	low, err := agjson.Unescaped([]byte(`"\uDE00b"`))
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]string{
		high: `"a\ud83d"`, low: `"\ude00b"`, high + low: `"a😀b"`, low + high: `"\ude00ba\ud83d"`, high + high + low: `"a\ud83da😀b"`,
		high[1:] + high[1:] + low: `"\ud83d😀b"`,
	} {
		if got := string(agjson.AppendString(nil, s)); got != want {
			t.Errorf("%q is written %s, want %s", s, got, want)
		}
	}
}

// bombs are texts that cost a careless reader far more than their length. Each is refused, soon.
func TestBombsAreRefused(t *testing.T) {
	deep := strings.Repeat("[", 50<<20)
	block := func(depth int) string {
		return strings.Repeat(`{"type":"tool-result","toolCallId":"c","content":[`, depth) + strings.Repeat(`]}`, depth)
	}
	late := func(depth int) string {
		return strings.Repeat(`{"toolCallId":"c","content":[`, depth) + strings.Repeat(`],"type":"tool-result"}`, depth)
	}
	longName := strings.Repeat("n", 64<<10)
	for _, c := range []struct{ name, schema, text, path string }{
		{"deep lists", "JsonValue", deep, ""},
		{"deep lists in an opaque value", "AgEvent", `{"type":"state.snapshot","seq":0,"snapshot":` + deep, "/snapshot"},
		{"deep objects", "JsonValue", strings.Repeat(`{"":`, 10<<20), ""},
		{"just too deep", "JsonValue", strings.Repeat("[", 1001) + strings.Repeat("]", 1001), ""},
		{"blocks in blocks", "AgBlock", block(65), strings.Repeat("/content/0", 64)},
		{"blocks in blocks, their type last", "AgBlock", late(65), strings.Repeat("/content/0", 64)},
		{"usage in usage", "AgUsage", strings.Repeat(`{"byModel":{"`+longName[:100]+`":`, 1000), strings.Repeat("/byModel/"+longName[:100], 500)},
		{"many items", "AgReduceResult", `{"messages":[],"artifacts":[],"memory":[],"turns":[{"turnId":"t","threadId":"h","sourceIds":[` + strings.Repeat(`"",`, 1<<20) + `""]}]}`, "/turns/0/sourceIds/1048576"},
		{"many unknown members", "AgEvent", `{"type":"turn.later","seq":0` + manyMembers(1<<20+1) + `}`, "/m1048576"},
		{"too long", "JsonValue", `"` + strings.Repeat("x", agjson.MaxSize) + `"`, ""},
	} {
		start := time.Now()
		err := agjson.Check(c.schema, agjson.Consumer, []byte(c.text))
		if c.schema == "AgEvent" {
			_, err = agjson.Decode([]byte(c.text))
		}
		refused(t, c.name, err, c.schema, c.path)
		if err != nil && len(err.Error()) > 600 {
			t.Errorf("%s: an error of %d bytes", c.name, len(err.Error()))
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: refused after %v", c.name, d)
		}
	}
	if err := agjson.Check("AgBlock", agjson.Producer, []byte(block(32))); err != nil {
		t.Errorf("32 blocks in each other: %v", err)
	}
}

func manyMembers(n int) string {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":0`, i)
	}
	return b.String()
}

// Memory is bounded by the text: the most that a value of the dearest small items costs.
func TestMemoryIsBoundedByTheText(t *testing.T) {
	text := []byte(`{"turnId":"t","threadId":"h","handoffs":[` + strings.Repeat(`{},`, 200_000) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := agjson.Check("AgTurnRecord", agjson.Producer, text); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if per := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(text)); per > 160 {
		t.Errorf("%.0f bytes allocated for a byte of text", per)
	}
}
