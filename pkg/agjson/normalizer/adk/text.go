package adk

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"

	"github.com/agwire/agwire/pkg/agjson"
)

// stream is a text or reasoning block that is being streamed.
type stream struct {
	thought bool
	id      string
	message string
	signed  bool
	over    bool // the model has stopped; only the whole event may go on with it
}

// segment is what partial events have streamed into one block and no whole event has said again yet.
type segment struct {
	thought bool
	text    []byte
	stream  *stream
}

// textPart maps a part with text. A partial one goes on with the block before it, if that is of its kind; a signature ends it.
func (f *facet) textPart(l *lane, ev *event, i int, part agjson.Value) (fresh bool) {
	said, thought := part.Get("text").Str(), part.Get("thought").Bool()
	sig := part.Get("thoughtSignature")
	if !ev.partial {
		if said == "" && l.kept(part) {
			return false
		}
		return f.wholeText(l, i, said, thought, sig)
	}
	if said == "" && !sig.Exists() {
		return false
	}
	if l.open == nil || l.open.thought != thought || l.open.over {
		f.startStream(l, thought, sig)
	}
	l.moveOn()
	if said != "" {
		f.delta(l.open, said)
		l.remember(said)
	}
	if sig.Exists() {
		f.sign(l, sig)
	}
	if said == "" {
		l.keep(part)
	}
	return true
}

// wholeText maps a part of an event that is not partial: only what was not streamed before is said.
func (f *facet) wholeText(l *lane, i int, said string, thought bool, sig agjson.Value) (fresh bool) {
	rest, before := l.repeated(thought, said)
	switch {
	case said == "" && !sig.Exists():
		return false
	case before == nil || said == "":
		f.startStream(l, thought, sig)
	case rest == "":
		f.lateSign(l, before, sig)
		if l.open == before {
			f.sign(l, agjson.Value{})
		}
		return false
	case l.open != before: // it goes on after its block has ended
		f.startStream(l, thought, sig)
		said = rest
	default:
		said = rest
	}
	if said != "" {
		f.delta(l.open, said)
	}
	f.endStreamAt(l, i, sig)
	return true
}

func (f *facet) delta(s *stream, said string) {
	if s.thought {
		f.ReasoningDelta(s.id, s.message, said)
	} else {
		f.TextDelta(s.id, s.message, said)
	}
}

// startStream opens the next block of the message.
func (f *facet) startStream(l *lane, thought bool, sig agjson.Value) {
	f.endStream(l)
	message := f.room(l)
	s := &stream{thought: thought, message: message}
	if thought {
		s.id = f.Derive(message, "reasoning")
		f.ReasoningStart(s.id, message, nil)
	} else {
		s.id = f.Derive(message, "text")
		f.TextStart(s.id, message, &agjson.TextStart{ProviderMetadata: signature(sig)})
	}
	l.open = s
}

// endStream ends the block that deltas go to, without more to say of it.
func (f *facet) endStream(l *lane) { f.sign(l, agjson.Value{}) }

func (f *facet) sign(l *lane, sig agjson.Value) { f.endStreamAt(l, -1, sig) }

// endStreamAt ends the block that deltas go to, which is part i of its event, with the signature of its last part (SPEC §8 item 8).
func (f *facet) endStreamAt(l *lane, i int, sig agjson.Value) {
	s := l.open
	if s == nil {
		return
	}
	l.open, s.signed = nil, sig.Exists()
	if s.thought {
		f.ReasoningEnd(s.id, s.message, &agjson.ReasoningEnd{Provider: new(vendor)})
		f.opaque(s, sig)
		return
	}
	f.TextEnd(s.id, s.message, &agjson.TextEnd{ProviderMetadata: signature(sig), Citations: l.cited(i)})
}

func (f *facet) opaque(s *stream, sig agjson.Value) {
	if sig.Exists() {
		f.ReasoningOpaque(s.id, s.message, &agjson.ReasoningOpaque{
			Kind: agjson.OpaqueKindSignature, Value: agjson.Secret(sig.Str()), Provider: new(vendor),
		})
	}
}

// lateSign keeps a signature that only the whole event has: on its block, or, where that has ended, beside it.
func (f *facet) lateSign(l *lane, s *stream, sig agjson.Value) {
	switch {
	case !sig.Exists() || s.signed:
	case l.open == s:
		f.sign(l, sig)
	case s.thought:
		s.signed = true
		f.opaque(s, sig)
	default:
		s.signed = true
		f.ProviderRaw(f.room(l), vendor, object1("thoughtSignature", sig.Raw()))
	}
}

// signature is a text block's providerMetadata, the signature byte for byte; nil without one.
func signature(sig agjson.Value) agjson.Opaque {
	if !sig.Exists() {
		return nil
	}
	return agjson.Opaque(object1(vendor, object1("thoughtSignature", sig.Raw())))
}

// object1 is a JSON object of one member.
func object1(name string, value json.RawMessage) json.RawMessage {
	out := append(agjson.AppendString([]byte{'{'}, name), ':')
	return append(append(out, value...), '}')
}

// remember keeps what was streamed into the open block.
func (l *lane) remember(said string) {
	if n := len(l.said); n == 0 || l.said[n-1].stream != l.open {
		l.said = append(l.said, segment{thought: l.open.thought, stream: l.open})
	}
	s := &l.said[len(l.said)-1]
	s.text = join(s.text, said)
}

// join appends text; two halves of a surrogate pair that meet become the character.
func join(dst []byte, s string) []byte {
	if n := len(dst); n >= 3 && len(s) >= 3 {
		if r := utf16.DecodeRune(surrogate(dst[n-3:]), surrogate([]byte(s[:3]))); r != '\uFFFD' {
			return append(append(dst[:n-3], string(r)...), s[3:]...)
		}
	}
	return append(dst, s...)
}

// surrogate is the one that three bytes of WTF-8 stand for; 0 for anything else.
func surrogate(b []byte) rune {
	if b[0] != 0xED || b[1] < 0xA0 {
		return 0
	}
	return 0xD000 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F)
}

// repeated finds a whole part in what was streamed: the block it ends in, and what it says beyond that. An aggregate may join
// segments with others between them, and segments may be left over of a call that was never said whole. Segments that are
// found, and those of the kind before them, are forgotten.
func (l *lane) repeated(thought bool, whole string) (rest string, in *stream) {
	for i := range l.said {
		if l.said[i].thought == thought {
			if rest, in = l.match(i, thought, whole); in != nil {
				return rest, in
			}
		}
	}
	return whole, nil
}

func (l *lane) match(from int, thought bool, whole string) (string, *stream) {
	rest := []byte(whole)
	var in *stream
	end, cut := len(l.said), 0
scan:
	for j := from; j < len(l.said); j++ {
		s := &l.said[j]
		if s.thought != thought {
			continue
		}
		switch {
		case len(rest) == 0:
			end = j
			break scan
		case bytes.HasPrefix(rest, s.text):
			rest, in = rest[len(s.text):], s.stream
		case bytes.HasPrefix(s.text, rest):
			end, cut, in, rest = j, len(rest), s.stream, nil
			break scan
		default:
			return "", nil
		}
	}
	if in == nil {
		return "", nil
	}
	kept := l.said[:0]
	for j, s := range l.said {
		if s.thought != thought || j >= end {
			if j == end {
				s.text = s.text[cut:]
			}
			kept = append(kept, s)
		}
	}
	l.said = kept
	return string(rest), in
}
