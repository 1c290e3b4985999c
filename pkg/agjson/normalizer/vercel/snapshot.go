package vercel

import (
	"strconv"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// whole is what the frames of readUIMessageStream have shown so far. Each frame is the whole message; what is new in it is
// said as if it had come in chunks.
type whole struct {
	started  bool
	metadata string
	parts    []seen
}

// seen is one part of the message as it was shown last.
type seen struct {
	kind string
	id   string // of a text or reasoning part, in the step
	over bool   // a text or reasoning part that was ended
	args string // arguments of a tool call so far
	said string // what the part was when it was said
}

func (f *facet) snapshot(v agjson.Value) {
	if v.Get("role").Str() != "assistant" {
		f.Carry("message", v)
		return
	}
	w := &f.whole
	f.OpenTurn("", nil)
	if !w.started {
		w.started = true
		if id := v.Get("id"); id.Str() != "" {
			f.addMetadata("message", v, normalizer.Object(agjson.Member{Name: "messageId", Value: id.Raw()}))
		}
	}
	if meta := v.Get("metadata"); meta.Set() && string(meta.Raw()) != w.metadata {
		w.metadata = string(meta.Raw())
		f.addMetadata("message", v, asObject("messageMetadata", meta))
	}
	parts := v.Get("parts")
	f.shrink(v, parts)
	for i, p := range parts.Items {
		if i == len(w.parts) {
			w.parts = append(w.parts, seen{kind: strings.Clone(p.Get("type").Str())})
		}
		f.grow(&w.parts[i], i, p)
	}
}

// shrink takes back the step of which parts have gone (reset-step).
func (f *facet) shrink(v, parts agjson.Value) {
	w := &f.whole
	keep := 0 // up to the last step
	for i := range w.parts {
		if w.parts[i].kind == "step-start" {
			keep = i + 1
		}
	}
	gone := parts.Len() < len(w.parts)
	for i, p := range parts.Items {
		gone = gone || i < len(w.parts) && w.parts[i].kind != p.Get("type").Str()
	}
	if gone && len(w.parts) > keep {
		f.resetStep(v)
		w.parts = w.parts[:keep]
	}
}

// grow says what is new in a part.
func (f *facet) grow(s *seen, i int, p agjson.Value) {
	kind := p.Get("type").Str()
	switch {
	case kind != s.kind:
		if raw := string(p.Raw()); raw != s.said {
			s.said = raw
			f.Carry(kind, p) // a part of a past step has changed
		}
	case kind == "step-start":
		if s.said == "" {
			s.said = kind
			f.startStep(agjson.Value{})
		}
	case kind == "text" || kind == "reasoning":
		f.growText(s, i, p, kind == "reasoning")
	case strings.HasPrefix(kind, "tool-") || kind == "dynamic-tool":
		f.growTool(s, p)
	case string(p.Raw()) != s.said:
		s.said = string(p.Raw())
		f.part(kind, p)
	}
}

func (f *facet) growText(s *seen, i int, p agjson.Value, reasoning bool) {
	if s.over {
		return
	}
	if s.id == "" {
		s.id = "part" + strconv.Itoa(i)
		b := f.open(reasoning, s.id)
		if reasoning {
			f.ReasoningStart(b.id, b.message, nil)
		} else {
			f.TextStart(b.id, b.message, nil)
		}
	}
	b := f.find(reasoning, s.id)
	if b == nil {
		return // its step is over
	}
	s.over = p.Get("state").Str() != "streaming"
	total := p.Get("text").Str()
	if !s.over {
		total = settled(total)
	}
	say := f.TextSoFar
	if reasoning {
		say = f.ReasoningSoFar
	}
	if total != s.said && !say(b.id, b.message, total) {
		f.Carry(s.kind, p) // it took back what it had said
	}
	s.said = total
	if !s.over {
		return
	}
	meta := p.Get("providerMetadata")
	if reasoning {
		sealed := unseal(meta)
		f.ReasoningEnd(b.id, b.message, &agjson.ReasoningEnd{ProviderMetadata: sealed.rest})
		f.opaques(b, sealed)
	} else {
		f.TextEnd(b.id, b.message, &agjson.TextEnd{ProviderMetadata: bag(meta)})
	}
	f.drop(b)
}

// settled is text without a surrogate that still waits for its other half.
func settled(s string) string {
	if n := len(s); n >= 3 && s[n-3] == 0xED && s[n-2] >= 0xA0 && s[n-2] <= 0xAF {
		return s[:n-3]
	}
	return s
}

func (f *facet) growTool(s *seen, p agjson.Value) {
	id := callID(p)
	if id == "" {
		if raw := string(p.Raw()); raw != s.said {
			s.said = raw
			f.Unparsed(p)
		}
		return
	}
	if f.tools[id] == nil {
		name := p.Get("toolName").Str()
		if name == "" {
			name = strings.TrimPrefix(s.kind, "tool-")
		}
		f.openCall(id, name, p, p.Get("callProviderMetadata"))
	}
	state := p.Get("state").Str()
	if args := settled(p.Get("rawInput").Str()); state == "input-streaming" && args != s.args && !f.tools[id].assembled {
		if !f.ToolArgsSoFar(id, args) {
			f.Carry(s.kind, p) // it took back what it had said
		}
		s.args = args
	}
	if string(p.Raw()) == s.said || state == "input-streaming" {
		return
	}
	s.said = string(p.Raw())
	if t := f.tools[id]; !t.assembled {
		f.assemble(p)
	}
	switch state {
	case "approval-requested", "approval-responded":
		f.growApproval(id, p)
	case "output-available":
		f.toolResult(p)
	case "output-error":
		f.toolError(p)
	case "output-denied":
		f.toolDenied(p)
	}
}

// growApproval has the request, and later the answer, in `approval`.
func (f *facet) growApproval(call string, p agjson.Value) {
	a := p.Get("approval")
	id := idOf(a.Get("id"))
	if id == "" {
		return
	}
	if _, asked := f.approvals[id]; !asked {
		f.ask(id, call, a)
	}
	if a.Get("approved").Set() {
		f.settle(id, a)
		f.Carry("tool-approval-response", p)
	}
}
