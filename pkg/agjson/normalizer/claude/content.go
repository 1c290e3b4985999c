package claude

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// contentOf maps the content of a tool result: a text, or blocks.
func contentOf(content agjson.Value) []agjson.Block {
	out := []agjson.Block{}
	if content.Kind() == agjson.KindObject { // a server tool's result is one object
		return append(out, contentBlock(content))
	}
	for _, b := range blocksOf(content) {
		out = append(out, contentBlock(b))
	}
	return out
}

// contentBlock maps one block of the Messages API to a block; what has no home of its own is a provider-raw.
func contentBlock(b agjson.Value) agjson.Block {
	switch b.Get("type").Str() {
	case "text":
		if t := b.Get("text"); t.Kind() == agjson.KindString {
			cited, uncited := citationsOf(b.Get("citations"))
			return &agjson.TextBlock{Text: t.Str(), Citations: cited, ProviderMetadata: uncited}
		}
	case "image":
		if s := sourceOf(b.Get("source")); s != nil {
			return &agjson.ImageBlock{Source: s}
		}
		if d, mime := b.Get("data"), b.Get("mimeType"); d.Kind() == agjson.KindString && mime.Kind() == agjson.KindString { // as MCP spells it
			return &agjson.ImageBlock{Source: &agjson.Base64Source{MediaType: mime.Str(), Data: d.Str()}}
		}
	case "document":
		if s := sourceOf(b.Get("source")); s != nil {
			d := &agjson.DocumentBlock{Source: s, Title: b.Get("title").StrPtr()}
			if c := b.Get("context").RawSet(); c != nil {
				d.ProviderMetadata = agjson.Opaque(objectWith("context", c))
			}
			return d
		}
	case "web_search_result":
		r := &agjson.SearchResultBlock{URL: b.Get("url").StrPtr(), Title: b.Get("title").StrPtr(), PageAge: b.Get("page_age").StrPtr()}
		if enc := b.Get("encrypted_content").Str(); enc != "" {
			r.Opaque = &agjson.OpaqueBlob{Kind: agjson.OpaqueKindCiphertext, Value: agjson.Secret(enc), Provider: new(vendor)}
		}
		return r
	case "resource":
		if r := b.Get("resource"); r.Get("uri").Kind() == agjson.KindString {
			return &agjson.ResourceBlock{Resource: agjson.EmbeddedResource{
				URI: r.Get("uri").Str(), MimeType: r.Get("mimeType").StrPtr(), Text: r.Get("text").StrPtr(), Blob: r.Get("blob").StrPtr(), Meta: objectOf(r.Get("_meta")),
			}}
		}
	case "resource_link":
		if u := b.Get("uri"); u.Kind() == agjson.KindString && b.Len() <= 3 {
			return &agjson.ResourceLinkBlock{URI: u.Str(), MimeType: b.Get("mimeType").StrPtr()}
		}
	case "code_execution_result", "bash_code_execution_result":
		return codeResult(b)
	default:
		if b.Kind() == agjson.KindString {
			return &agjson.TextBlock{Text: b.Str()}
		}
	}
	return &agjson.ProviderRawBlock{Vendor: vendor, Raw: b.Raw()}
}

func codeResult(b agjson.Value) agjson.Block {
	r := &agjson.CodeResultBlock{Outcome: agjson.CodeOutcomeOk, Output: b.Get("stdout").Str() + b.Get("stderr").Str()}
	if code, ok := b.Get("return_code").Int(); ok && code != 0 {
		r.Outcome = agjson.CodeOutcomeFailed
	}
	return r
}

func sourceOf(s agjson.Value) agjson.Source {
	media := s.Get("media_type")
	switch s.Get("type").Str() {
	case "base64":
		if media.Kind() == agjson.KindString && s.Get("data").Kind() == agjson.KindString {
			return &agjson.Base64Source{MediaType: media.Str(), Data: s.Get("data").Str()}
		}
	case "url":
		if s.Get("url").Kind() == agjson.KindString {
			return &agjson.URLSource{URL: s.Get("url").Str(), MediaType: media.StrPtr()}
		}
	case "file":
		if s.Get("file_id").Kind() == agjson.KindString {
			return &agjson.FileSource{FileID: s.Get("file_id").Str(), MediaType: media.StrPtr()}
		}
	}
	return nil
}

// serverResult lands the result of a tool that the provider ran; it is a block of the message that made the call.
func (f *facet) serverResult(m *message, b agjson.Value) {
	c := b.Get("content")
	d := &agjson.ToolDone{ToolCallID: b.Get("tool_use_id").Str(), Content: contentOf(c), Outcome: agjson.ToolOutcomeOk, IsError: new(b.Get("is_error").Bool())}
	switch typ := c.Get("type").Str(); {
	case strings.HasSuffix(typ, "_error") && c.Get("error_code").Str() != "":
		d.Content, d.ErrorCode = []agjson.Block{}, c.Get("error_code").StrPtr()
		d.Outcome, d.IsError = agjson.ToolOutcomeError, new(true)
		d.ErrorText = c.Get("error_message").StrPtr()
		if d.ErrorText == nil {
			d.ErrorText = d.ErrorCode
		}
	case typ == "code_execution_result" || typ == "bash_code_execution_result":
		d.StructuredContent = c.Raw()
	}
	if b.Get("is_error").Bool() {
		d.Outcome, d.ErrorText = agjson.ToolOutcomeError, new(textOf(c))
	}
	for _, s := range m.blocks {
		if s.kind == toolKind && s.id == d.ToolCallID {
			f.finish(m, s)
		}
	}
	f.ToolDone(m.lane.turn, m.id, d)
}
