package adk

import (
	"strconv"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// citation waits for its text block to end.
type citation struct {
	part int // of its event; -1 for the block that is being streamed
	agjson.Citation
}

// cite takes the citations of an event, before its text. It says whether the grounding is one that was not said before: the
// aggregate repeats that of the last partial event.
func (f *facet) cite(l *lane, ev *event) bool {
	if !ev.grounding.Exists() || string(ev.grounding.Raw()) == l.ground {
		return false
	}
	l.ground = string(ev.grounding.Raw())
	last := -1
	for i, p := range ev.parts.Items {
		if cites(p) {
			last = i
		}
	}
	for _, s := range ev.grounding.Get("groundingSupports").Items {
		c, ok := f.citation(s)
		if !ok || len(without(s, "segment", "groundingChunkIndices", "confidenceScores")) > 0 {
			ev.uncited = true
		}
		if !ok {
			continue
		}
		c.part = -1
		if !ev.partial {
			c.part = last
			if i, ok := s.Path("segment", "partIndex").Int(); ok && cites(ev.parts.Item(i)) {
				c.part = i
			}
		}
		l.cites = append(l.cites, c)
	}
	return true
}

// cites says whether a part can have citations.
func cites(p agjson.Value) bool {
	return p.Get("text").Kind() == agjson.KindString && !p.Get("thought").Bool()
}

// citation is one support; false where it says not where it stands. Offsets count bytes of UTF-8.
func (f *facet) citation(s agjson.Value) (c citation, ok bool) {
	seg := s.Get("segment")
	start, end := offset(seg.Get("startIndex")), offset(seg.Get("endIndex"))
	if start == "" {
		start = "0" // which the API leaves out
	}
	if end == "" {
		return c, false
	}
	body := &agjson.OffsetCitation{
		StartIndex: start, EndIndex: end, PartIndex: offset(seg.Get("partIndex")), SourceIDs: []string{},
		Unit: agjson.IndexUnitByte, Bounds: agjson.IndexBoundsHalfOpen,
	}
	for _, i := range s.Get("groundingChunkIndices").Items {
		if n, ok := i.Int(); ok && n >= 0 {
			body.SourceIDs = append(body.SourceIDs, f.sourceID(n))
		}
	}
	c.Citation = agjson.Citation{
		CitedText: seg.Get("text").Str(), ConfidenceScores: []agjson.Number{}, IndexFrame: agjson.IndexFrameResponse, Body: body,
	}
	for _, x := range s.Get("confidenceScores").Items {
		if n := x.Number(); n != "" {
			c.ConfidenceScores = append(c.ConfidenceScores, n)
		}
	}
	return c, true
}

func (f *facet) sourceID(chunk int) string { return "grounding_" + strconv.Itoa(f.sources+chunk) }

// offset is a whole number that is not negative; "" for anything else.
func offset(v agjson.Value) agjson.Number {
	if n, ok := v.Int(); ok && n >= 0 {
		return agjson.IntNumber(int64(n))
	}
	return ""
}

// cited are the citations for the block that part i ends, -1 being one that was streamed.
func (l *lane) cited(i int) (list []agjson.Citation) {
	kept := l.cites[:0]
	for _, c := range l.cites {
		if i < 0 || c.part == i || c.part < 0 {
			list = append(list, c.Citation)
		} else {
			kept = append(kept, c)
		}
	}
	l.cites = kept
	return list
}

// ground says the sources of a new grounding, in their order, what must be displayed, and the rest. Supports that found no text
// block to stand on are kept beside it.
func (f *facet) ground(l *lane, ev *event, fresh bool) {
	if !fresh {
		return
	}
	g := ev.grounding
	n := 0
	for i, chunk := range g.Get("groundingChunks").Items {
		n = i + 1
		f.Emit(agjson.Event{TurnID: l.turn, Body: source(f.sourceID(i), chunk)})
	}
	f.sources += n
	told := []string{"groundingChunks", "groundingSupports", "searchEntryPoint"}
	entry := g.Get("searchEntryPoint")
	if html := entry.Get("renderedContent"); html.Kind() == agjson.KindString {
		f.Emit(agjson.Event{TurnID: l.turn, Body: &agjson.DisplayRequired{Provider: vendor, HTML: html.Str()}})
	}
	rest := without(g, told...)
	if more := normalizer.Object(without(entry, "renderedContent")...); more != nil {
		rest = append(rest, agjson.Member{Name: "searchEntryPoint", Value: more})
	}
	if ev.uncited || len(l.cites) > 0 && (l.open == nil || l.open.thought || !ev.partial) {
		rest = append(rest, agjson.Member{Name: "groundingSupports", Value: g.Get("groundingSupports").Raw()})
		l.cites = nil
	}
	if raw := normalizer.Object(rest...); raw != nil {
		f.ProviderRaw(f.room(l), vendor, object1("groundingMetadata", raw))
	}
}

// source is a grounding chunk: a page, or a document. What the source has no member for is its providerMetadata.
func source(id string, chunk agjson.Value) *agjson.SourceEvent {
	out := &agjson.SourceEvent{SourceID: id}
	more := chunk.Len() != 1
	for _, c := range chunk.Members {
		uri := c.Get("uri")
		if !uri.Set() {
			uri = c.Get("sourceUri")
		}
		if uri.Kind() == agjson.KindString {
			out.Source = &agjson.LinkGrounding{URL: uri.Str(), Title: c.Get("title").StrPtr()}
		} else if out.Source == nil {
			out.Source = &agjson.DocumentGrounding{Title: c.Get("title").StrPtr()}
		}
		more = more || len(without(c, "uri", "title")) > 0
	}
	if out.Source == nil {
		out.Source = &agjson.DocumentGrounding{}
	}
	if more {
		out.ProviderMetadata = agjson.Opaque(object1(vendor, chunk.Raw()))
	}
	return out
}

// blocked says that the prompt was refused.
func (f *facet) blocked(l *lane, ev *event) {
	reason := ev.feedback.Get("blockReason")
	if reason.Kind() != agjson.KindString {
		if ev.feedback.Len() > 0 {
			ev.rest = append(ev.rest, agjson.Member{Name: "promptFeedback", Value: ev.feedback.Raw()})
		}
		return
	}
	b := &agjson.PromptBlocked{Reason: blockReason(reason.Str())}
	for _, r := range ev.feedback.Get("safetyRatings").Items {
		s := agjson.Safety{
			Category: r.Get("category").Str(), Score: r.Get("score").Number(), Probability: r.Get("probability").StrPtr(), Blocked: r.Get("blocked").BoolPtr(),
		}
		if s.Score == "" {
			s.Score = r.Get("probabilityScore").Number()
		}
		b.Safety = append(b.Safety, s)
	}
	f.Emit(agjson.Event{TurnID: l.turn, Body: b})
	if more := without(ev.feedback, "blockReason", "safetyRatings"); len(more) > 0 || b.Reason == agjson.BlockReasonOther && reason.Str() != "OTHER" {
		ev.rest = append(ev.rest, agjson.Member{Name: "promptFeedback", Value: ev.feedback.Raw()})
	}
}

// blockReason is Gemini's reason for refusing a prompt in the words of SPEC §4.
func blockReason(reason string) agjson.BlockReason {
	switch reason {
	case "SAFETY", "IMAGE_SAFETY":
		return agjson.BlockReasonSafety
	case "BLOCKLIST":
		return agjson.BlockReasonBlocklist
	case "PROHIBITED_CONTENT":
		return agjson.BlockReasonProhibited
	}
	return agjson.BlockReasonOther
}

// blocks says whether an error's code is one for which Gemini refuses a prompt.
func blocks(code string) bool {
	switch code {
	case "SAFETY", "IMAGE_SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "OTHER", "MODEL_ARMOR", "JAILBREAK", "BLOCKED_REASON_UNSPECIFIED":
		return true
	}
	return false
}
