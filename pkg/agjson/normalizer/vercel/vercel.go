package vercel

import (
	"bytes"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// Normalizer is one invoke of the AI SDK (SPEC §8.0). Not safe for concurrent use.
type Normalizer struct {
	*normalizer.Runner
	parser agjson.Parser
}

// New is the normalizer of one invoke.
func New(host normalizer.Host) *Normalizer {
	return &Normalizer{Runner: normalizer.Run(&facet{Engine: normalizer.NewEngine("vercel", host)})}
}

// Push maps one frame: a JSON object, or a line of the SSE body, bare or as a JSON string. Comments, empty lines and the [DONE]
// that ends the body say nothing.
func (n *Normalizer) Push(native []byte) []agjson.Event {
	line := bytes.TrimSpace(native)
	if len(line) == 0 || line[0] == '{' {
		return n.Runner.Push(native)
	}
	if line[0] == '"' {
		v, err := n.parser.Parse(line)
		if err != nil {
			return n.Runner.Push(native)
		}
		text := strings.TrimSpace(v.Str())
		if data, ok := field(text); ok {
			return n.Runner.Push([]byte(data))
		}
		return n.Runner.Push(native)
	}
	if data, ok := field(string(line)); ok {
		return n.Runner.Push([]byte(data))
	}
	return n.Runner.Push(native)
}

// field is the frame in a line of SSE, "" when the line holds none, and whether it is one.
func field(line string) (data string, ok bool) {
	if line == "[DONE]" || strings.HasPrefix(line, ":") {
		return "", true
	}
	name, value, found := strings.Cut(line, ":")
	switch {
	case line == "":
		return "", true
	case !found:
		return "", false
	case name == "event" || name == "id" || name == "retry":
		return "", true
	case name != "data":
		return "", false
	}
	if value = strings.TrimSpace(value); value == "[DONE]" {
		value = ""
	}
	return value, true
}

type facet struct {
	*normalizer.Engine
	run
	gone map[string]bool // calls that were taken back
}

// Frame maps one frame.
func (f *facet) Frame(v agjson.Value) {
	kind := v.Get("type")
	switch {
	case kind.Kind() == agjson.KindString:
		f.part(kind.Str(), v)
	case v.Get("parts").Kind() == agjson.KindList && v.Get("role").Str() != "":
		f.snapshot(v)
	default:
		f.Unparsed(v)
	}
}

// part maps a chunk of the UI stream or a part of the fullStream. Where the two give one type different members, the methods
// take either.
func (f *facet) part(kind string, v agjson.Value) {
	switch kind {
	case "start":
		f.start(v)
	case "start-step":
		f.startStep(v)
	case "finish-step":
		f.finishStep(v)
	case "reset-step":
		f.resetStep(v)
	case "finish":
		f.finish(v)
	case "abort":
		f.abort(v)
	case "error":
		f.failed(v)
	case "text-start", "reasoning-start":
		f.blockStart(v, kind == "reasoning-start")
	case "text-delta", "reasoning-delta":
		f.blockDelta(v, kind == "reasoning-delta")
	case "text-end", "reasoning-end":
		f.blockEnd(v, kind == "reasoning-end")
	case "tool-input-start":
		f.toolStart(v)
	case "tool-input-delta":
		f.toolDelta(v)
	case "tool-input-end":
		f.toolInputEnd(v)
	case "tool-input-available", "tool-call":
		f.toolCall(v)
	case "tool-input-error":
		f.toolInputError(v)
	case "tool-output-available", "tool-result":
		f.toolResult(v)
	case "tool-output-error", "tool-error":
		f.toolError(v)
	case "tool-output-denied":
		f.toolDenied(v)
	case "tool-approval-request":
		f.approvalRequest(v)
	case "tool-approval-response":
		f.approvalResponse(v)
	case "source", "source-url", "source-document":
		f.source(v)
	case "file", "reasoning-file":
		f.file(kind, v)
	case "custom":
		f.custom(v)
	case "steering-message":
		f.steering(v)
	case "message-metadata":
		f.messageMetadata(v)
	case "ping":
	default:
		if name, ok := strings.CutPrefix(kind, "data-"); ok && v.Get("data").Exists() {
			f.data(name, v)
			return
		}
		f.Carry(kind, v)
	}
}
