package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// isOutput says that an item is the result of a call.
func isOutput(kind string) bool {
	switch kind {
	case "function_call_result", "function_call_output", "custom_tool_call_output", "shell_call_output", "local_shell_call_output",
		"apply_patch_call_output", "computer_call_result", "computer_call_output", "program_output", "tool_search_output":
		return true
	}
	return false
}

// notApproved is what the SDK tells the model in place of a result when a person has refused the call, unless the host has other words.
const notApproved = "Tool execution was not approved."

// failures are how the SDK's own words begin when a function failed, had arguments that are no JSON, or does not exist: it has no flag
// for any of them.
var failures = [...]string{
	"An error occurred while running the tool. Please try again.",
	"An error occurred while parsing tool arguments.",
	"Error: Tool ",
	"Tool '",
}

// output lands the result of a call. wrapper is the run item around it; absent when the provider gave it. It answers false
// when it does not say whose result it is.
func (f *facet) output(v, wrapper agjson.Value) bool {
	call := f.outputID(v)
	if call == "" {
		return false
	}
	if f.CallDone(call) {
		return true
	}
	var d *agjson.ToolDone
	switch v.Get("type").Str() {
	case "shell_call_output", "local_shell_call_output":
		d = shellResult(v, wrapper)
	case "computer_call_result", "computer_call_output":
		d = computerResult(v)
	case "tool_search_output":
		d = &agjson.ToolDone{Content: []agjson.Block{&agjson.DataBlock{Name: "tool_search_results", Data: orList(v.Get("tools"))}}, Outcome: agjson.ToolOutcomeOk}
	case "program_output":
		d = &agjson.ToolDone{Content: outputContent(either(v, "output", "result"))}
	case "apply_patch_call_output":
		d = &agjson.ToolDone{Content: outputContent(v.Get("output"))}
		if v.Get("output").Str() == notApproved {
			d.Outcome = agjson.ToolOutcomeDenied
		}
	default:
		d = f.functionResult(v, wrapper)
	}
	d.ToolCallID = call
	f.land(d, v, wrapper)
	return true
}

// land says a result, with what stands beside it.
func (f *facet) land(d *agjson.ToolDone, v, wrapper agjson.Value) {
	if d.Outcome == "" {
		switch v.Get("status").Str() {
		case "failed", "incomplete":
			d.Outcome = agjson.ToolOutcomeError
		default:
			d.Outcome = agjson.ToolOutcomeOk
		}
	}
	if v.Get("type").Str() != "tool_search_output" {
		d.IsError = new(d.Outcome == agjson.ToolOutcomeError)
	}
	mark := wrapper.Get("executionStatus")
	f.marked = f.marked || mark.Set()
	bag := []agjson.Member{
		{Name: "caller", Value: caller(v.Get("caller"))},
		{Name: "executionStatus", Value: text(mark)},
	}
	if id := v.Get("id"); v.Get("type").Str() == "tool_search_output" && id.Str() != d.ToolCallID {
		bag = append(bag, agjson.Member{Name: "itemId", Value: text(id)})
	}
	if v.Get("type").Str() == "shell_call_output" {
		bag = append(bag, agjson.Member{Name: "status", Value: text(v.Get("status"))}, agjson.Member{Name: "maxOutputLength", Value: either(v, "maxOutputLength", "max_output_length").RawSet()})
	}
	d.ProviderMetadata = agjson.Opaque(normalizer.Object(bag...))
	f.structure(d, wrapper)
	f.answer(d.ToolCallID)
	if f.RootTurn() == "" && f.round == nil {
		f.OpenTurn("", nil) // a resumed run begins with the results of its calls
	}
	f.ToolDone("", "", d)
}

// outputID is the call whose result an output is.
func (f *facet) outputID(v agjson.Value) string {
	if v.Get("type").Str() != "tool_search_output" {
		call := either(v, "callId", "call_id").Str()
		if call == "" && f.round != nil && v.Get("type").Str() == "local_shell_call_output" {
			if it := f.round.known(callItem, v.Get("id").Str()); it != nil { // it names the call's item
				call = it.call
			}
		}
		return call
	}
	id := v.Get("id").Str()
	if call, ok := f.found[id]; ok {
		return call
	}
	call := searchID(v)
	if call != id || f.HasCall(call) {
		f.searches = slices.DeleteFunc(f.searches, func(s string) bool { return s == call })
		return call
	}
	if len(f.searches) == 0 {
		return ""
	}
	call = f.searches[0] // the last resort of the SDK's chain (SPEC §8 item 20)
	f.searches = f.searches[1:]
	if id != "" {
		if f.found == nil {
			f.found = map[string]string{}
		}
		f.found[strings.Clone(id)] = call
	}
	return call
}

func orList(v agjson.Value) json.RawMessage {
	if v.Set() {
		return v.Raw()
	}
	return json.RawMessage("[]")
}

// functionResult maps the result of a function. That a call was not executed shows by a missing mark, in streams that have marks:
// where the SDK gives no other reason, a person or a guardrail has refused it.
func (f *facet) functionResult(v, wrapper agjson.Value) *agjson.ToolDone {
	d := &agjson.ToolDone{Content: outputContent(v.Get("output"))}
	if v.Get("status").Str() == "incomplete" {
		return d
	}
	executed := wrapper.Get("executionStatus").Set()
	switch said := blockText(d.Content); {
	case !executed && said == notApproved:
		d.Outcome = agjson.ToolOutcomeDenied
	case isFailure(said, executed):
		d.Outcome, d.ErrorText = agjson.ToolOutcomeError, new(said)
	case !executed && f.marked && wrapper.Exists():
		d.Outcome = agjson.ToolOutcomeDenied
	}
	return d
}

func isFailure(said string, executed bool) bool {
	for i, words := range failures {
		if strings.HasPrefix(said, words) {
			return i == 0 || !executed && (i == 1 || strings.HasSuffix(said, "' not found.") || strings.Contains(said, "was not executed."))
		}
	}
	return false
}

// shellResult maps the output of commands. It is an error when one of them failed.
func shellResult(v, wrapper agjson.Value) *agjson.ToolDone {
	d := &agjson.ToolDone{Content: []agjson.Block{}}
	list := v.Get("output")
	if list.Kind() != agjson.KindList {
		d.Content = outputContent(list)
		return d
	}
	d.StructuredContent = list.Raw()
	for _, o := range list.Items {
		for _, name := range []string{"stdout", "stderr"} {
			if s := o.Get(name).Str(); s != "" {
				d.Content = append(d.Content, &agjson.TextBlock{Text: s})
			}
		}
		code := either(o.Get("outcome"), "exitCode", "exit_code")
		if n, ok := code.Int(); !ok || n != 0 {
			d.Outcome = agjson.ToolOutcomeError
		}
		if said := o.Get("stderr").Str(); code.Kind() == agjson.KindNull && list.Len() == 1 && o.Get("stdout").Str() == "" &&
			(said == notApproved || said != "" && said == wrapper.Get("output").Str()) { // how the SDK says that a person has refused it
			d.Outcome = agjson.ToolOutcomeDenied
		}
	}
	return d
}

// computerResult maps a screenshot.
func computerResult(v agjson.Value) *agjson.ToolDone {
	d := &agjson.ToolDone{Content: []agjson.Block{}}
	out := v.Get("output")
	if src := source(either(out, "data", "image_url"), "image/png"); src != nil {
		d.Content = append(d.Content, &agjson.FileBlock{Source: src, Filename: new("screenshot.png")})
	} else if src := source(out, "image/png"); src != nil {
		d.Content = append(d.Content, &agjson.FileBlock{Source: src})
	} else if out.Set() {
		d.Content = append(d.Content, &agjson.ProviderRawBlock{Vendor: vendor, Raw: out.Raw()})
	}
	if pd := out.Get("providerData"); pd.Get("approvalStatus").Str() == "rejected" {
		d.Outcome = agjson.ToolOutcomeDenied
		if s := pd.Get("message").Str(); s != "" {
			d.Content = append(d.Content, &agjson.TextBlock{Text: s})
		}
	}
	if v.Path("providerData", "status").Str() == "incomplete" {
		d.Outcome = agjson.ToolOutcomeError
	}
	return d
}

// outputContent maps what a tool gave: a text, a part, or a list of parts.
func outputContent(v agjson.Value) []agjson.Block {
	out := []agjson.Block{}
	switch v.Kind() {
	case agjson.KindAbsent, agjson.KindNull:
	case agjson.KindString:
		if s := v.Str(); s != "" {
			out = append(out, &agjson.TextBlock{Text: s})
		}
	case agjson.KindList:
		for _, p := range v.Items {
			out = append(out, outputPart(p))
		}
	default:
		out = append(out, outputPart(v))
	}
	return out
}

func outputPart(p agjson.Value) agjson.Block {
	var b agjson.Block
	switch p.Get("type").Str() {
	case "text", "input_text", "output_text":
		if s := p.Get("text").StrPtr(); s != nil {
			return &agjson.TextBlock{Text: *s}
		}
	case "image", "input_image":
		b = imageBlock(p)
	case "file", "input_file":
		b = fileBlock(p)
	}
	if b != nil {
		return b
	}
	if p.Kind() == agjson.KindString {
		return &agjson.TextBlock{Text: p.Str()}
	}
	return &agjson.ProviderRawBlock{Vendor: vendor, Raw: p.Raw()}
}

// blockText is all the text of blocks.
func blockText(list []agjson.Block) string {
	var s strings.Builder
	for _, b := range list {
		if t, ok := b.(*agjson.TextBlock); ok {
			s.WriteString(t.Text)
		}
	}
	return s.String()
}

// structure takes a result's structured form from where a host puts it: customData, or the tool's own output (SPEC §2.1 neutral
// carrier). What else customData holds is for the application alone.
func (f *facet) structure(d *agjson.ToolDone, wrapper agjson.Value) {
	custom := either(wrapper, "customData", "custom_data")
	out := wrapper.Get("output")
	if s := out.Str(); strings.Contains(s, "structuredContent") {
		if v, err := agjson.ParseValue([]byte(s)); err == nil {
			out = v
		}
	}
	switch in := custom.Get("structuredContent"); {
	case in.Exists():
		d.StructuredContent = in.Raw()
	case out.Get("structuredContent").Exists():
		d.StructuredContent = oneLine(out.Get("structuredContent").Raw())
	}
	if custom.Len() > 1 || custom.Set() && !custom.Get("structuredContent").Exists() {
		d.SideData = custom.Raw()
	}
}
