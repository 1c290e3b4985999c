package claude

import "github.com/agwire/agwire/pkg/agjson"

// citationsOf maps the citations of a text; absent, null and none are the same (SPEC §8 item 13). Those of another kind come back
// as they are, as a providerMetadata; nil when there is none.
func citationsOf(list agjson.Value) (out []agjson.Citation, rest agjson.Opaque) {
	for _, c := range list.Items {
		if m, ok := citationOf(c); ok {
			out = append(out, m)
			continue
		}
		if rest != nil {
			rest = append(rest, ',')
		}
		rest = append(rest, c.Raw()...)
	}
	if rest != nil {
		rest = append(append(agjson.Opaque(`{"citations":[`), rest...), `]}`...)
	}
	return out, rest
}

// citationOf maps one citation; false for one of another kind, or without what its kind needs.
func citationOf(c agjson.Value) (agjson.Citation, bool) {
	cited := c.Get("cited_text")
	out := agjson.Citation{CitedText: cited.Str(), Title: c.Get("document_title").StrPtr(), IndexFrame: agjson.IndexFrameSource}
	if cited.Kind() != agjson.KindString {
		return out, false
	}
	if fileID := c.Get("file_id").StrPtr(); fileID != nil {
		out.Source = fileID
	}
	doc := c.Get("document_index").Number()
	switch c.Get("type").Str() {
	case "char_location":
		b := &agjson.CharCitation{DocumentIndex: doc, StartCharIndex: c.Get("start_char_index").Number(), EndCharIndex: c.Get("end_char_index").Number()}
		out.Body = b
		return out, doc != "" && b.StartCharIndex != "" && b.EndCharIndex != ""
	case "page_location":
		b := &agjson.PageCitation{DocumentIndex: doc, StartPage: c.Get("start_page_number").Number(), EndPage: c.Get("end_page_number").Number()}
		out.Body = b
		return out, doc != "" && b.StartPage != "" && b.EndPage != ""
	case "content_block_location":
		b := &agjson.BlockCitation{DocumentIndex: doc, StartBlockIndex: c.Get("start_block_index").Number(), EndBlockIndex: c.Get("end_block_index").Number()}
		out.Body = b
		return out, doc != "" && b.StartBlockIndex != "" && b.EndBlockIndex != ""
	case "search_result_location":
		b := &agjson.BlockCitation{DocumentIndex: c.Get("search_result_index").Number(), StartBlockIndex: c.Get("start_block_index").Number(), EndBlockIndex: c.Get("end_block_index").Number()}
		out.Body, out.Title, out.Source = b, c.Get("title").StrPtr(), c.Get("source").StrPtr()
		return out, b.DocumentIndex != "" && b.StartBlockIndex != "" && b.EndBlockIndex != ""
	case "web_search_result_location":
		url := c.Get("url")
		out.Body, out.Title, out.IndexFrame = &agjson.URLCitation{URL: url.Str()}, c.Get("title").StrPtr(), agjson.IndexFrameResponse
		out.EncryptedIndex = c.Get("encrypted_index").StrPtr()
		return out, url.Kind() == agjson.KindString
	}
	return out, false
}
