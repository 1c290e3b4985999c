package vercel

import (
	"encoding/json"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// grounding is a source part's payload: of source-url, source-document, or the fullStream's source. Nil when it is neither.
func grounding(part agjson.Value) agjson.SourcePayload {
	kind := part.Get("sourceType").Str()
	switch part.Get("type").Str() {
	case "source-url":
		kind = "url"
	case "source-document":
		kind = "document"
	}
	switch url := part.Get("url").StrPtr(); {
	case kind == "url" && url != nil:
		return &agjson.LinkGrounding{URL: *url, Title: part.Get("title").StrPtr()}
	case kind == "document":
		return &agjson.DocumentGrounding{
			MediaType: part.Get("mediaType").StrPtr(),
			Title:     part.Get("title").StrPtr(),
			Filename:  part.Get("filename").StrPtr(),
		}
	}
	return nil
}

// fileBlock is a file as a block of its media type. The UI stream has a URL, which may be a data: URL; the fullStream has the
// bytes in base64. Nil when there are neither.
func fileBlock(part agjson.Value) agjson.Block {
	file, mediaType := part, part.Get("mediaType").StrPtr()
	if nested := part.Get("file"); nested.Kind() == agjson.KindObject {
		file, mediaType = nested, nested.Get("mediaType").StrPtr()
	}
	src := fileSource(file, mediaType)
	if src == nil {
		return nil
	}
	var meta json.RawMessage
	if kind := part.Get("type"); kind.Str() != "file" {
		meta = note("part", kind.Raw()) // a reasoning-file
	}
	return mediaBlock(src, mediaType, part.Get("filename").StrPtr(), bag(part.Get("providerMetadata")), meta)
}

func fileSource(file agjson.Value, mediaType *string) agjson.Source {
	data := file.Get("base64Data").StrPtr()
	if data == nil {
		data = file.Get("base64").StrPtr()
	}
	url := file.Get("url").StrPtr()
	switch {
	case data != nil && mediaType != nil:
		return &agjson.Base64Source{MediaType: *mediaType, Data: *data}
	case url == nil:
		return nil
	}
	if src := dataURL(*url, mediaType); src != nil {
		return src
	}
	return &agjson.URLSource{URL: *url, MediaType: mediaType}
}

// dataURL is the content of a base64 data: URL whose media type is the part's own; nil for every other URL, which then stays
// a URL and loses nothing.
func dataURL(url string, mediaType *string) *agjson.Base64Source {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return nil
	}
	head, data, ok := strings.Cut(rest, ",")
	if !ok {
		return nil
	}
	kind, ok := strings.CutSuffix(head, ";base64")
	if !ok || kind == "" || mediaType != nil && kind != *mediaType {
		return nil
	}
	return &agjson.Base64Source{MediaType: kind, Data: data}
}

func mediaBlock(src agjson.Source, mediaType, filename *string, provider agjson.Opaque, meta json.RawMessage) agjson.Block {
	kind := ""
	if mediaType != nil {
		kind, _, _ = strings.Cut(*mediaType, "/")
	}
	switch {
	case kind == "image" && filename == nil:
		return &agjson.ImageBlock{Source: src, ProviderMetadata: provider, Meta: meta}
	case kind == "audio" && filename == nil:
		return &agjson.AudioBlock{Source: src, ProviderMetadata: provider, Meta: meta}
	}
	return &agjson.FileBlock{Source: src, Filename: filename, ProviderMetadata: provider, Meta: meta}
}

// citations are those of a text-end (version 7), and whether all of them have a home in SPEC §2 AgCitation.
func citations(list agjson.Value) (out []agjson.Citation, all bool) {
	all = true
	for _, c := range list.Items {
		if got := citation(c); got != nil {
			out = append(out, *got)
		} else {
			all = false
		}
	}
	return out, all
}

// citation has offsets in UTF-16 units, as JavaScript counts.
func citation(c agjson.Value) *agjson.Citation {
	source := c.Get("source")
	start, end := offset(c.Get("startIndex")), offset(c.Get("endIndex"))
	got := agjson.Citation{
		CitedText:  c.Get("citedText").Str(),
		Title:      source.Get("title").StrPtr(),
		IndexFrame: agjson.IndexFrameResponse,
	}
	spanned := start != "" && end != ""
	switch url, id := source.Get("url").StrPtr(), source.Get("id").StrPtr(); {
	case url != nil:
		body := &agjson.URLCitation{URL: *url, StartIndex: start, EndIndex: end}
		if spanned {
			body.Unit, body.Bounds = agjson.IndexUnitUtf16, agjson.IndexBoundsHalfOpen
		}
		got.Body = body
	case id != nil && spanned:
		got.Body = &agjson.OffsetCitation{
			StartIndex: start, EndIndex: end, SourceIDs: []string{*id},
			Unit: agjson.IndexUnitUtf16, Bounds: agjson.IndexBoundsHalfOpen,
		}
	default:
		return nil
	}
	return &got
}

// offset is a whole number that is not negative; "" for anything else.
func offset(v agjson.Value) agjson.Number {
	if n, ok := v.Int(); ok && n >= 0 {
		return agjson.IntNumber(int64(n))
	}
	return ""
}
