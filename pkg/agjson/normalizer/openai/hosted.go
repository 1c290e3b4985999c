package openai

import (
	"encoding/json"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// isHosted says that a tool call is one that the provider executes, within the response.
func isHosted(kind string) bool {
	switch kind {
	case "hosted_tool_call", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
		"mcp_list_tools", "mcp_approval_request":
		return true
	}
	return false
}

// hosted says a hosted call and its result together, for there is no output of its own (SPEC §8 item 20).
func (f *facet) hosted(r *round, it *item, v agjson.Value) {
	if it.done {
		return
	}
	it.done = true
	kind := callName(v)
	input, ok := hostedInput(kind, v)
	if !ok {
		f.unparsedArgs(it.id, member(v, "arguments"))
	}
	f.wholeArgs(it, input)
	if kind == "mcp_approval_request" { // it waits for an approval; the call itself is another item
		return
	}
	d := &agjson.ToolDone{ToolCallID: it.call, Content: hostedContent(kind, v), Outcome: agjson.ToolOutcomeOk}
	failure := member(v, "error")
	status := orElse(v.Path("providerData", "status").Str(), v.Get("status").Str())
	if failure.Set() || status == "failed" || status == "incomplete" {
		d.Outcome, d.IsError = agjson.ToolOutcomeError, new(true)
		message := failure.Str()
		for _, name := range []string{"content", "message"} {
			message = orElse(message, failure.Get(name).Str())
		}
		if message == "" && failure.Set() {
			message = string(failure.Raw())
		}
		d.ErrorText = new(orElse(message, status))
		if code := failure.Get("type").StrPtr(); code != nil {
			d.ErrorCode = code
		}
	}
	f.ToolDone(r.turn, "", d)
}

// hostedInput is what a hosted tool was asked. It answers false where the arguments are no JSON.
func hostedInput(kind string, v agjson.Value) (json.RawMessage, bool) {
	if args := member(v, "arguments"); args.Kind() == agjson.KindString {
		return arguments(args)
	}
	var names []string
	switch kind {
	case "web_search_call":
		var list []agjson.Member
		for name, m := range member(v, "action").Members {
			if name != "sources" { // are its result
				list = append(list, agjson.Member{Name: name, Value: m.Raw()})
			}
		}
		return orNone(normalizer.Object(list...)), true
	case "file_search_call":
		names = []string{"queries"}
	case "code_interpreter_call":
		names = []string{"code", "container_id"}
	case "image_generation_call":
		names = []string{"action", "revised_prompt", "size", "quality", "background", "output_format"}
	}
	var list []agjson.Member
	for _, name := range names {
		list = append(list, agjson.Member{Name: name, Value: member(v, name).RawSet()})
	}
	return orNone(normalizer.Object(list...)), true
}

// hostedContent is what a hosted tool gave.
func hostedContent(kind string, v agjson.Value) []agjson.Block {
	out := []agjson.Block{}
	data := func(name, from string) {
		if list := member(v, from); list.Set() {
			out = append(out, &agjson.DataBlock{Name: name, Data: list.Raw()})
		}
	}
	switch kind {
	case "image_generation_call":
		image := either(v, "output", "result")
		if s := image.Str(); s != "" {
			return append(out, &agjson.ImageBlock{Source: picture(s, imageType(member(v, "output_format").Str()))})
		}
		return out
	case "web_search_call":
		for _, s := range member(v, "action").Get("sources").Items {
			if url := s.Get("url").StrPtr(); url != nil {
				out = append(out, &agjson.SearchResultBlock{URL: url, Title: s.Get("title").StrPtr()})
			} else {
				out = append(out, &agjson.DataBlock{Name: "web_search_source", Data: s.Raw()})
			}
		}
	case "file_search_call":
		data("file_search_results", "results")
	case "mcp_list_tools":
		data("mcp_tools", "tools")
	case "code_interpreter_call":
		for _, o := range member(v, "outputs").Items {
			out = append(out, codeOutput(o))
		}
	}
	return append(out, outputContent(v.Get("output"))...)
}

func codeOutput(o agjson.Value) agjson.Block {
	switch o.Get("type").Str() {
	case "logs":
		if s := o.Get("logs").StrPtr(); s != nil {
			return &agjson.CodeResultBlock{Outcome: agjson.CodeOutcomeOk, Output: *s}
		}
	case "image":
		if s := o.Get("url").StrPtr(); s != nil {
			return &agjson.ImageBlock{Source: picture(*s, "image/png")}
		}
	}
	return &agjson.ProviderRawBlock{Vendor: vendor, Raw: o.Raw()}
}

// partialImage shows an image that is still being made; the whole one comes as the call's result.
func (f *facet) partialImage(ev agjson.Value) {
	r := f.receiving()
	s := ev.Get("partial_image_b64").Str()
	if s == "" {
		f.Carry("response.image_generation_call.partial_image", ev)
		return
	}
	f.Emit(agjson.Event{TurnID: r.turn, Body: &agjson.ContentBlock{
		Transient: new(true), Block: &agjson.ImageBlock{Source: picture(s, imageType(ev.Get("output_format").Str()))},
	}})
}

// imageType is the media type of an image format of the provider's.
func imageType(format string) string { return "image/" + orElse(format, "png") }
