package adk

import (
	"encoding/json"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// rejected is what ADK says as the result of a call that a person has refused.
const rejected = "This tool call is rejected."

// result maps what a tool answered: content as MCP has it, a text that the SDK has wrapped, an error that it has caught, or data.
func (f *facet) result(ev *event, id, name string, fr, resp agjson.Value) *agjson.ToolDone {
	d := &agjson.ToolDone{ToolCallID: id, Content: []agjson.Block{}, Outcome: agjson.ToolOutcomeOk}
	if ev.actions.Get("skipSummarization").Bool() {
		d.SkipSummarization = new(true)
	}
	failed, said := resp.Get("error"), resp.Get("result")
	switch {
	case resp.Get("content").Kind() == agjson.KindList:
		for _, c := range resp.Get("content").Items {
			d.Content = append(d.Content, contentBlock(c))
		}
		d.StructuredContent = resp.Get("structuredContent").RawSet()
		if resp.Get("isError").Bool() {
			d.Outcome = agjson.ToolOutcomeError
		}
		d.ProviderMetadata = googleBag(without(resp, "content", "structuredContent", "isError", "_meta"))
		if m := resp.Get("_meta"); m.Set() && m.Kind() != agjson.KindObject {
			d.ProviderMetadata = googleBag([]agjson.Member{{Name: "_meta", Value: m.Raw()}})
		}
	case resp.Len() == 1 && failed.Kind() == agjson.KindString:
		d.Outcome, d.ErrorText, d.IsError = agjson.ToolOutcomeError, new(failed.Str()), new(true)
		if failed.Str() == rejected {
			d.Outcome, d.ErrorText, d.IsError = agjson.ToolOutcomeDenied, nil, nil
		}
		d.Content = append(d.Content, &agjson.TextBlock{Text: failed.Str()})
	case resp.Len() == 1 && said.Kind() == agjson.KindString:
		d.Content = append(d.Content, &agjson.TextBlock{Text: said.Str()})
	case resp.Set():
		d.Content = append(d.Content, &agjson.DataBlock{Name: name, Data: resp.Raw()})
	}
	for _, p := range fr.Get("parts").Items {
		b := agjson.Block(&agjson.ProviderRawBlock{Vendor: vendor, Raw: p.Raw()})
		if p.Get("inlineData").Set() || p.Get("fileData").Set() {
			if m := blockOf(p); m != nil {
				b = m
			}
		}
		d.Content = append(d.Content, b)
	}
	if more := without(fr, "id", "name", "response", "parts", "willContinue"); len(more) > 0 && d.ProviderMetadata == nil {
		d.ProviderMetadata = googleBag(more)
	}
	return d
}

// googleBag is providerMetadata of Google's; nil without members.
func googleBag(list []agjson.Member) agjson.Opaque {
	if raw := normalizer.Object(list...); raw != nil {
		return agjson.Opaque(object1(vendor, raw))
	}
	return nil
}

// contentBlock maps one item of MCP content; what has no block is a provider-raw.
func contentBlock(c agjson.Value) agjson.Block {
	mime, data := c.Get("mimeType"), c.Get("data")
	base64 := mime.Kind() == agjson.KindString && data.Kind() == agjson.KindString && len(without(c, "type", "mimeType", "data")) == 0
	switch typ := c.Get("type").Str(); {
	case typ == "text" && c.Get("text").Kind() == agjson.KindString && len(without(c, "type", "text", "_meta")) == 0:
		return &agjson.TextBlock{Text: c.Get("text").Str(), Meta: objectOf(c.Get("_meta"))}
	case typ == "image" && base64:
		return &agjson.ImageBlock{Source: &agjson.Base64Source{MediaType: mime.Str(), Data: data.Str()}}
	case typ == "audio" && base64:
		return &agjson.AudioBlock{Source: &agjson.Base64Source{MediaType: mime.Str(), Data: data.Str()}}
	case typ == "resource" && c.Path("resource", "uri").Kind() == agjson.KindString && len(without(c, "type", "resource", "_meta")) == 0:
		r := c.Get("resource")
		return &agjson.ResourceBlock{Meta: objectOf(c.Get("_meta")), Resource: agjson.EmbeddedResource{
			URI: r.Get("uri").Str(), MimeType: r.Get("mimeType").StrPtr(), Text: r.Get("text").StrPtr(), Blob: r.Get("blob").StrPtr(), Meta: objectOf(r.Get("_meta")),
		}}
	case typ == "resource_link" && c.Get("uri").Kind() == agjson.KindString && len(without(c, "type", "uri", "mimeType", "_meta")) == 0:
		return &agjson.ResourceLinkBlock{URI: c.Get("uri").Str(), MimeType: mime.StrPtr(), Meta: objectOf(c.Get("_meta"))}
	}
	return &agjson.ProviderRawBlock{Vendor: vendor, Raw: c.Raw()}
}

func objectOf(v agjson.Value) json.RawMessage {
	if v.Kind() != agjson.KindObject {
		return nil
	}
	return v.Raw()
}
