package openai

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// picture is where an image is: in a data URL, at a URL, or, as bare base64, of the media type given.
func picture(s, mediaType string) agjson.Source {
	switch src := location(s); {
	case src != nil:
		return src
	default:
		return &agjson.Base64Source{MediaType: mediaType, Data: s}
	}
}

// location is the source that a URL names, a data URL included; nil when it is no URL.
func location(s string) agjson.Source {
	if rest, ok := strings.CutPrefix(s, "data:"); ok {
		if head, data, ok := strings.Cut(rest, ","); ok {
			if mediaType, ok := strings.CutSuffix(head, ";base64"); ok && mediaType != "" {
				return &agjson.Base64Source{MediaType: mediaType, Data: data}
			}
		}
	}
	for _, scheme := range []string{"https:", "http:", "data:", "sandbox:"} {
		if strings.HasPrefix(s, scheme) {
			return &agjson.URLSource{URL: s}
		}
	}
	return nil
}

// source is where a part's bytes are, in any shape of the SDK's or the Responses API's; nil when it does not say. A string that is no
// URL is base64 when bare is a media type, else the id of a file.
func source(v agjson.Value, bare string) agjson.Source {
	mediaType := v.Get("mediaType")
	if v.Kind() == agjson.KindString {
		if s := location(v.Str()); s != nil || v.Str() == "" {
			return s
		}
		if bare != "" && !strings.HasPrefix(v.Str(), "file_") && !strings.HasPrefix(v.Str(), "file-") {
			return &agjson.Base64Source{MediaType: bare, Data: v.Str()}
		}
		return &agjson.FileSource{FileID: v.Str()}
	}
	if s := v.Get("data").Str(); s != "" {
		if mediaType.Str() != "" {
			bare = mediaType.Str()
		}
		return picture(s, orElse(bare, "application/octet-stream"))
	}
	for _, name := range []string{"url", "image_url", "file_url"} {
		if s := v.Get(name).Str(); s != "" {
			return picture(s, orElse(bare, "application/octet-stream"))
		}
	}
	if s := v.Get("file_data").Str(); s != "" {
		return picture(s, "application/octet-stream")
	}
	for _, name := range []string{"fileId", "file_id", "id"} {
		if s := v.Get(name).Str(); s != "" {
			return &agjson.FileSource{FileID: s, MediaType: mediaType.StrPtr()}
		}
	}
	return nil
}

// imageBlock maps an image of a message or a result; nil when it has none.
func imageBlock(p agjson.Value) agjson.Block {
	v := p.Get("image")
	if !v.Set() {
		v = p // the Responses API's
	}
	src := source(v, "image/png")
	if src == nil {
		return nil
	}
	return &agjson.ImageBlock{Source: src, ProviderMetadata: agjson.Opaque(normalizer.Object(
		agjson.Member{Name: "detail", Value: text(p.Get("detail"))}))}
}

// fileBlock maps a file of a result; nil when it has none.
func fileBlock(p agjson.Value) agjson.Block {
	v := p.Get("file")
	if !v.Set() {
		v = p
	}
	src := source(v, "")
	if src == nil {
		return nil
	}
	name := v.Get("filename").StrPtr()
	if name == nil {
		name = p.Get("filename").StrPtr()
	}
	return &agjson.FileBlock{Source: src, Filename: name}
}

// audioBlock maps the audio of a message; nil when it has none.
func audioBlock(p agjson.Value) agjson.Block {
	v := p.Get("audio")
	if !v.Set() {
		v = p
	}
	format := orElse(member(p, "format").Str(), "wav")
	src := source(v, "audio/"+format)
	if src == nil {
		return nil
	}
	return &agjson.AudioBlock{Source: src, ProviderMetadata: agjson.Opaque(normalizer.Object(
		agjson.Member{Name: "transcript", Value: text(member(p, "transcript"))},
		agjson.Member{Name: "id", Value: text(p.Path("providerData", "id"))},
		agjson.Member{Name: "expires_at", Value: p.Path("providerData", "expires_at").RawSet()}))}
}
