package adk

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// transcript is the text of what one side is saying in a live session.
type transcript struct {
	block   string // "" between utterances
	message string
	said    []byte
	user    bool
}

// transcribe maps a transcription. It may say all so far or only what is new; either way what is new is said.
func (f *facet) transcribe(t *transcript, ev *event) {
	l := f.lanes[0] // a live session has one
	v, role := ev.outputText, `{"agjson/transcription":{"role":"output","kind":"transcription"}}`
	t.user = t == &f.heard
	if t.user {
		v, role = ev.inputText, `{"agjson/transcription":{"role":"input","kind":"transcription"}}`
	}
	if !v.Exists() {
		return
	}
	l.active = true
	said := v.Get("text").Str()
	if t.block == "" && (said != "" || !v.Get("finished").Bool()) {
		t.said = t.said[:0]
		if t.user {
			l.behind = true
			t.message = f.OpenMessage(l.turn, f.Derive("msg_"+f.turn, "user"), &agjson.MessageStart{Role: agjson.RoleUser})
		} else {
			f.endStream(l)
			f.speaker(l, ev)
			t.message = l.message
		}
		t.block = f.Derive(t.message, "transcript")
		f.Emit(agjson.Event{ID: t.block, MessageID: t.message, Meta: []byte(role), Body: &agjson.TextStart{}})
	}
	if rest, ok := strings.CutPrefix(said, string(t.said)); ok {
		said = rest
	}
	if said != "" {
		t.said = join(t.said, said)
		f.TextDelta(t.block, t.message, said)
	}
	if more := without(v, "text", "finished"); len(more) > 0 {
		f.Carry("transcription", ev.raw)
	}
	if v.Get("finished").Bool() {
		t.close(f)
	}
}

// close ends the utterance.
func (t *transcript) close(f *facet) {
	if t.block == "" {
		return
	}
	f.TextEnd(t.block, t.message, nil)
	if t.user {
		f.CloseMessage(t.message, nil)
	}
	t.block = ""
}
