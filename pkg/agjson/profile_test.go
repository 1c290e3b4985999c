package agjson_test

import (
	"errors"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

// SPEC §9, row by row: the smallest profile that has an event, and the place that asks for it.
func TestProfileOf(t *testing.T) {
	for _, c := range []struct {
		event string
		want  agjson.Profile
		path  string
	}{
		{`{"type":"text.delta","seq":0,"id":"b","delta":"x"}`, "CORE", ""},
		{`{"type":"message.remove","seq":0,"id":"m"}`, "CORE", ""},
		{`{"type":"ext.acme.frame","seq":0}`, "CORE", ""},
		{`{"type":"reasoning.delta","seq":0,"id":"b","delta":"x"}`, "EXTENDED", ""},
		{`{"type":"memory.write","seq":0,"scope":"user","value":1}`, "EXTENDED", ""},
		{`{"type":"state.delta","seq":0,"patch":[]}`, "ADVANCED", ""},
		{`{"type":"ui.data-model","seq":0,"surfaceId":"s"}`, "ADVANCED", ""},
		{`{"type":"text.later","seq":0}`, "", ""},
		{`{"type":"turn.done","seq":0,"turnId":"t","outcome":{"type":"success"},"finishReason":"stop"}`, "CORE", ""},
		{`{"type":"turn.done","seq":0,"turnId":"t","outcome":{"type":"success"},"finishReason":"pause_turn"}`, "EXTENDED", "/finishReason"},
		{`{"type":"turn.done","seq":0,"turnId":"t","outcome":{"type":"paused","asks":[]},"finishReason":"stop"}`, "EXTENDED", "/outcome"},
		{`{"type":"turn.done","seq":0,"turnId":"t","outcome":{"type":"parked"},"finishReason":"stop"}`, "", "/outcome"},
		{`{"type":"turn.done","seq":0,"turnId":"t","outcome":{"type":"success"},"finishReason":"stop","usage":{}}`, "EXTENDED", "/usage"},
		{`{"type":"turn.done","seq":0,"turnId":"t","outcome":{"type":"success"},"finishReason":"stop","safety":[]}`, "EXTENDED", "/safety"},
		{`{"type":"turn.error","seq":0,"message":"m","usage":{}}`, "EXTENDED", "/usage"},
		{`{"type":"message.end","seq":0,"id":"m","usage":{}}`, "EXTENDED", "/usage"},
		{`{"type":"text.end","seq":0,"id":"b","citations":[]}`, "EXTENDED", "/citations"},
		{`{"type":"content.block","seq":0,"block":{"type":"tool-call","toolCallId":"c","name":"n","input":1}}`, "CORE", ""},
		{`{"type":"content.block","seq":0,"block":{"type":"resource","resource":{"uri":"ui://a"}}}`, "EXTENDED", "/block"},
		{`{"type":"content.block","seq":0,"block":{"type":"text","text":"t","citations":[]}}`, "EXTENDED", "/block/citations"},
		{`{"type":"content.block","seq":0,"block":{"type":"hologram"}}`, "", "/block"},
		{`{"type":"tool.done","seq":0,"messageId":"m","toolCallId":"c","content":[{"type":"text","text":"t"}],"outcome":"ok"}`, "CORE", ""},
		{`{"type":"tool.done","seq":0,"toolCallId":"c","content":[{"type":"text","text":"t"},{"type":"code","language":"go","code":""}]}`, "EXTENDED", "/content/1"},
		{`{"type":"tool.done","seq":0,"toolCallId":"c","content":[],"isError":true}`, "EXTENDED", "/isError"},
		{`{"type":"tool.done","seq":0,"toolCallId":"c","content":[],"more":true}`, "EXTENDED", "/more"},
		{`{"type":"tool.done","seq":0,"toolCallId":"c","content":[],"uiData":null}`, "ADVANCED", "/uiData"},
		{`{"type":"tool.done","seq":0,"toolCallId":"c","content":[],"sideData":1,"isError":true}`, "ADVANCED", "/sideData"},
		{`{"type":"tool.done","seq":0,"toolCallId":"c","content":[],"structuredContent":1}`, "ADVANCED", "/structuredContent"},
		{`{"type":"content.block","seq":0,"block":{"type":"tool-result","toolCallId":"c","content":[{"type":"tool-result","toolCallId":"d","content":[],"uiData":1}]}}`, "ADVANCED", "/block/content/0/uiData"},
		{`{"type":"messages.snapshot","seq":0,"messages":[{"id":"m","role":"user","content":[{"type":"image","source":{"type":"url","url":"u"}}]}],"turns":[{"turnId":"t","threadId":"h"}],"artifacts":[],"memory":[]}`, "CORE", ""},
		{`{"type":"messages.snapshot","seq":0,"messages":[{"id":"m","role":"user","content":[{"type":"reasoning"}]}]}`, "EXTENDED", "/messages/0/content/0"},
		{`{"type":"messages.snapshot","seq":0,"messages":[{"id":"m","role":"user","content":[],"usage":{}}]}`, "EXTENDED", "/messages/0/usage"},
		{`{"type":"messages.snapshot","seq":0,"messages":[],"turns":[{"turnId":"t","threadId":"h"},{"turnId":"u","parentTurnId":"t","threadId":"h"}]}`, "EXTENDED", "/turns/1/parentTurnId"},
		{`{"type":"messages.snapshot","seq":0,"messages":[],"turns":[{"turnId":"t","threadId":"h","asks":[{"askId":"a","kind":"url"}],"displayRequired":[{"provider":"p","html":"h"}]}]}`, "ADVANCED", "/turns/0/displayRequired"},
		{`{"type":"messages.snapshot","seq":0,"messages":[],"memory":[{"scope":"user","value":1}]}`, "EXTENDED", "/memory/0"},
		{`{"type":"messages.snapshot","seq":0,"messages":[],"artifacts":[{"artifactId":"a","turnId":"t","threadId":"h","parts":[]}]}`, "ADVANCED", "/artifacts/0"},
	} {
		ev, err := agjson.Decode([]byte(c.event))
		if err != nil {
			t.Fatalf("%s: %v", c.event, err)
		}
		if got := agjson.ProfileOf(&ev); got != c.want {
			t.Errorf("%s: %q, want %q", c.event, got, c.want)
		}
		var pe *agjson.ProfileError
		switch err := agjson.ProfileCORE.Admit(&ev); {
		case c.want == agjson.ProfileCORE:
			if err != nil {
				t.Errorf("%s: CORE refuses: %v", c.event, err)
			}
		case !errors.As(err, &pe), pe.Need != c.want, pe.Path != c.path:
			t.Errorf("%s: CORE says %v, want %s at %q", c.event, err, c.want, c.path)
		}
		if err := agjson.ProfileADVANCED.Admit(&ev); (err == nil) != (c.want != "") {
			t.Errorf("%s: ADVANCED says %v", c.event, err)
		}
		// The other half of refuse-or-passthrough: nothing of it is lost.
		if out := string(agjson.AppendEvent(nil, &ev)); out != c.event {
			t.Errorf("%s passes through as %s", c.event, out)
		}
	}
}

func TestEveryTypeHasAProfile(t *testing.T) {
	for _, name := range agjson.Types() {
		if p := agjson.TypeProfile(name); !agjson.ProfileADVANCED.Covers(p) {
			t.Errorf("%s is of profile %q", name, p)
		}
	}
	core := 0
	for _, name := range agjson.BlockTypes() {
		switch p := agjson.BlockProfile(name); p {
		case agjson.ProfileCORE:
			core++
		case agjson.ProfileEXTENDED:
		default:
			t.Errorf("block %s is of profile %q", name, p)
		}
	}
	if core != 4 {
		t.Errorf("%d blocks in CORE, SPEC §9 has 4", core)
	}
}
