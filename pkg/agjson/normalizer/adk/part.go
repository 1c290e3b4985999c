package adk

import (
	"encoding/json"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// parts maps the content of an event, and says whether any of it is new. Partial events stream; what is not partial repeats what
// was streamed, in another order, cut otherwise, with other ids and without signatures, and holds much that never was partial
// (SPEC §8 item 3). So each part is held against what was said before.
func (f *facet) parts(l *lane, ev *event) (fresh bool) {
	for i, p := range ev.parts.Items {
		if p.Kind() != agjson.KindObject {
			f.Unparsed(p)
			fresh = true
			continue
		}
		if f.part(l, ev, i, p) {
			fresh = true
		}
	}
	if ev.partial && ev.finish != "" && l.open != nil {
		l.open.over = true
	}
	if !ev.partial && ev.finish != "" && ev.parts.Len() > 0 {
		l.said = nil
	}
	return fresh
}

func (f *facet) part(l *lane, ev *event, i int, p agjson.Value) (fresh bool) {
	homeless := unmapped(p)
	if raw := normalizer.Object(homeless...); raw != nil && !(!ev.partial && l.keptRaw(string(raw))) {
		f.ProviderRaw(f.room(l), vendor, raw)
		if ev.partial {
			l.keepRaw(string(raw))
		}
		fresh = true
	}
	if t := p.Get("text"); t.Kind() == agjson.KindString {
		fresh = f.textPart(l, ev, i, p) || fresh
	}
	for name, m := range p.Members {
		if m.Kind() != agjson.KindObject {
			continue
		}
		switch name {
		case "functionCall":
			fresh = f.call(l, ev, i, p, m) || fresh
		case "functionResponse":
			fresh = f.response(l, ev, p, m) || fresh
		case "inlineData", "fileData", "executableCode", "codeExecutionResult":
			fresh = f.wholePart(l, ev, p) || fresh
		}
	}
	return fresh
}

// unmapped are the members of a part that have no block of their own (SPEC §8 item 23).
func unmapped(p agjson.Value) (list []agjson.Member) {
	housed := false
	for name, m := range p.Members {
		known := false
		switch name {
		case "text":
			known = m.Kind() == agjson.KindString
			housed = housed || known
		case "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult":
			known = m.Kind() == agjson.KindObject
			housed = housed || known
		case "thought":
			known = m.BoolPtr() != nil
		case "thoughtSignature":
			known = m.Kind() == agjson.KindString
		}
		if !known && m.Set() {
			list = append(list, agjson.Member{Name: name, Value: m.Raw()})
		}
	}
	if sig := p.Get("thoughtSignature"); !housed && sig.Kind() == agjson.KindString {
		list = append(list, agjson.Member{Name: "thoughtSignature", Value: sig.Raw()})
	}
	return list
}

// wholePart maps a part that comes in one piece.
func (f *facet) wholePart(l *lane, ev *event, p agjson.Value) (fresh bool) {
	if !ev.partial && l.kept(p) {
		return false
	}
	if ev.partial {
		l.keep(p)
	}
	f.endStream(l)
	block := blockOf(p)
	if block == nil {
		block = &agjson.ProviderRawBlock{Vendor: vendor, Raw: p.Raw()}
	}
	f.ContentBlock(f.room(l), block)
	return true
}

// keep remembers a part that a partial event had; kept forgets it again, and says whether there was one.
func (l *lane) keep(p agjson.Value) { l.keepRaw(string(p.Raw())) }

func (l *lane) keepRaw(raw string) {
	if l.whole == nil {
		l.whole = map[string]int{}
	}
	l.whole[raw]++
}

func (l *lane) kept(p agjson.Value) bool { return len(l.whole) > 0 && l.keptRaw(string(p.Raw())) }

func (l *lane) keptRaw(raw string) bool {
	if l.whole[raw] == 0 {
		return false
	}
	l.whole[raw]--
	return true
}

// blockOf is the block of a part that comes in one piece; nil where it lacks what the block needs.
func blockOf(p agjson.Value) agjson.Block {
	sig := p.Get("thoughtSignature")
	if sig.Kind() != agjson.KindString {
		sig = agjson.Value{}
	}
	if d := p.Get("inlineData"); d.Set() {
		mime, data := d.Get("mimeType"), d.Get("data")
		if mime.Kind() != agjson.KindString || data.Kind() != agjson.KindString {
			return nil
		}
		return media(&agjson.Base64Source{MediaType: mime.Str(), Data: data.Str()}, mime.Str(), d, sig)
	}
	if d := p.Get("fileData"); d.Set() {
		uri := d.Get("fileUri")
		if uri.Kind() != agjson.KindString {
			return nil
		}
		mime := d.Get("mimeType")
		return media(&agjson.URLSource{URL: uri.Str(), MediaType: mime.StrPtr()}, mime.Str(), d, sig)
	}
	if c := p.Get("executableCode"); c.Set() {
		return &agjson.CodeBlock{
			Language: strings.ToLower(c.Get("language").Str()), Code: c.Get("code").Str(),
			Meta: beside(c, sig, "language", "code"),
		}
	}
	c := p.Get("codeExecutionResult")
	b := &agjson.CodeResultBlock{Output: c.Get("output").Str(), Meta: beside(c, sig, "outcome", "output")}
	switch c.Get("outcome").Str() {
	case "OUTCOME_OK":
		b.Outcome = agjson.CodeOutcomeOk
	case "OUTCOME_DEADLINE_EXCEEDED":
		b.Outcome = agjson.CodeOutcomeDeadlineExceeded
	case "OUTCOME_FAILED":
		b.Outcome = agjson.CodeOutcomeFailed
	default:
		b.Outcome, b.Meta = agjson.CodeOutcomeFailed, beside(c, sig, "output")
	}
	return b
}

// media is the block of a media type. A file of a given name stays a file.
func media(src agjson.Source, mime string, d, sig agjson.Value) agjson.Block {
	kind, _, _ := strings.Cut(mime, "/")
	name, meta, provider := d.Get("displayName").StrPtr(), beside(d, agjson.Value{}, "mimeType", "data", "fileUri", "displayName"), signature(sig)
	switch {
	case kind == "image" && name == nil:
		return &agjson.ImageBlock{Source: src, ProviderMetadata: provider, Meta: meta}
	case kind == "audio" && name == nil:
		return &agjson.AudioBlock{Source: src, ProviderMetadata: provider, Meta: meta}
	}
	return &agjson.FileBlock{Source: src, Filename: name, ProviderMetadata: provider, Meta: meta}
}

// beside is the `_meta` of a block: what its part has beyond the members told, and a signature for which the block has no place.
func beside(p, sig agjson.Value, told ...string) json.RawMessage {
	var list []agjson.Member
	for _, m := range without(p, told...) {
		list = append(list, agjson.Member{Name: "google/" + m.Name, Value: m.Value})
	}
	if sig.Exists() {
		list = append(list, agjson.Member{Name: "google/thoughtSignature", Value: sig.Raw()})
	}
	return normalizer.Object(list...)
}

// without are the members of an object that are set, but for those of the names told.
func without(o agjson.Value, told ...string) (list []agjson.Member) {
next:
	for name, m := range o.Members {
		for _, t := range told {
			if name == t {
				continue next
			}
		}
		if m.Set() {
			list = append(list, agjson.Member{Name: name, Value: m.Raw()})
		}
	}
	return list
}
