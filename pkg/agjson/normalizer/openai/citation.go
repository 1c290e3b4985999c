package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// citations maps the annotations of a text. Files become sources of the turn, to which offset citations refer (SPEC §5 citation
// attachment key). Those of another kind come back as they are, as a list; nil when there is none.
func (f *facet) citations(r *round, list agjson.Value, whole string) (out []agjson.Citation, rest json.RawMessage) {
	for _, a := range list.Items {
		c, source, ok := citation(a, whole)
		if !ok {
			if rest == nil {
				rest = json.RawMessage{'['}
			} else {
				rest = append(rest, ',')
			}
			rest = append(rest, a.Raw()...)
			continue
		}
		if source != nil && !slices.Contains(r.sources, source.SourceID) {
			r.sources = append(r.sources, strings.Clone(source.SourceID))
			f.Emit(agjson.Event{TurnID: r.turn, Body: source})
		}
		out = append(out, c)
	}
	if rest != nil {
		rest = append(rest, ']')
	}
	return out, rest
}

// citation maps one annotation; false for one of another kind, or without what its kind needs.
func citation(a agjson.Value, whole string) (agjson.Citation, *agjson.SourceEvent, bool) {
	c := agjson.Citation{IndexFrame: agjson.IndexFrameResponse}
	kind := a.Get("type").Str()
	if in := a.Get(kind); in.Kind() == agjson.KindObject { // Chat Completions nests it
		a = in
	}
	start, end := a.Get("start_index"), a.Get("end_index")
	switch kind {
	case "url_citation":
		url := a.Get("url")
		c.Title, c.CitedText = a.Get("title").StrPtr(), slice(whole, start, end)
		c.Body = &agjson.URLCitation{URL: url.Str(), StartIndex: start.Number(), EndIndex: end.Number()}
		return c, nil, url.Kind() == agjson.KindString
	case "file_citation", "container_file_citation", "file_path":
		id := a.Get("file_id").Str()
		if !start.Exists() {
			start, end = a.Get("index"), a.Get("index") // where in the text it stands
		}
		c.Title, c.Source, c.CitedText = a.Get("filename").StrPtr(), new(id), slice(whole, start, end)
		c.Body = &agjson.OffsetCitation{
			StartIndex: start.Number(), EndIndex: end.Number(), SourceIDs: []string{id},
			Unit: agjson.IndexUnitChar, Bounds: agjson.IndexBoundsHalfOpen,
		}
		source := &agjson.SourceEvent{
			SourceID: id, Source: &agjson.DocumentGrounding{Title: c.Title, Filename: c.Title},
			ProviderMetadata: agjson.Opaque(normalizer.Object(
				agjson.Member{Name: "type", Value: agjson.Quote(kind)},
				agjson.Member{Name: "container_id", Value: text(a.Get("container_id"))})),
		}
		return c, source, id != "" && start.Number() != "" && end.Number() != ""
	}
	return c, nil, false
}

// slice is the text between two indices, which count characters; "" when they are none of it.
func slice(s string, start, end agjson.Value) string {
	from, ok := start.Int()
	to, ok2 := end.Int()
	if !ok || !ok2 || from < 0 || to < from || to > len(s) {
		return ""
	}
	begin, n := -1, 0
	for i := range s {
		if n == from {
			begin = i
		}
		if n == to {
			return s[begin:i]
		}
		n++
	}
	if n != to || begin < 0 {
		return ""
	}
	return s[begin:]
}
