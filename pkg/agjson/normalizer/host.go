package normalizer

import (
	"slices"

	"github.com/agwire/agwire/pkg/agjson"
)

// hostErrorType marks the frame by which a host reports what the framework threw instead of streaming (SPEC §8.0 host
// obligation 1): {"type":"__host_error__","code":…,"message":…,"usage":…?}, of one shape for every framework.
const hostErrorType = "__host_error__"

// HostError is a host terminal.
type HostError struct {
	Code    string // "" when the host gave none
	Message string
	Usage   *agjson.Usage // nil when the host gave none, or none that is an AgUsage
	Raw     agjson.Value  // the frame
}

func decodeHostError(v agjson.Value) HostError {
	h := HostError{Code: v.Get("code").Str(), Message: v.Get("message").Str(), Raw: v}
	if h.Message == "" {
		h.Message = h.Code
	}
	if h.Message == "" {
		h.Message = "the host reported an error"
	}
	if u := v.Get("usage"); u.Set() && agjson.Check("AgUsage", agjson.Producer, u.Raw()) == nil {
		h.Usage = usageOf(u)
	}
	return h
}

// HostError ends what is open: nested turns as aborted, the top-level one in turn.error with the host's code. Where the framework
// itself has ended the turn before, the two are one end (SPEC §5 INV-TURN): the host's word is carried as
// ext.<vendor>.host-error.
func (e *Engine) HostError(h HostError) {
	t := e.rootOpen()
	if t == nil && e.last != nil {
		e.Ext("host-error", Object(
			agjson.Member{Name: "code", Value: h.Raw.Get("code").Raw()},
			agjson.Member{Name: "message", Value: agjson.Quote(h.Message)},
			agjson.Member{Name: "usage", Value: h.Raw.Get("usage").Raw()},
		))
		return
	}
	if t == nil {
		t = e.openRoot("", nil)
	}
	for _, n := range slices.Backward(slices.Clone(e.stack)) {
		if n.nested {
			e.CloseTurn(n.id, &agjson.TurnAbort{Reason: new("parent-ended")})
			e.SubagentDone(n.id, nil)
		}
	}
	end := &agjson.TurnError{Message: h.Message, Usage: h.Usage}
	if h.Code != "" {
		end.Code = new(h.Code)
	}
	e.CloseTurn(t.id, end)
}

// usageOf reads an AgUsage.
func usageOf(v agjson.Value) *agjson.Usage {
	u := &agjson.Usage{
		InputTokens: v.Get("inputTokens").Number(), OutputTokens: v.Get("outputTokens").Number(),
		CacheReadTokens: v.Get("cacheReadTokens").Number(), CacheWriteTokens: v.Get("cacheWriteTokens").Number(),
		ReasoningTokens: v.Get("reasoningTokens").Number(), ToolUseInputTokens: v.Get("toolUseInputTokens").Number(),
		TotalTokens: v.Get("totalTokens").Number(), CostUSD: v.Get("costUsd").Number(),
		ServerToolRequests: v.Get("serverToolRequests").Number(), Cumulative: v.Get("cumulative").BoolPtr(),
	}
	for model, m := range v.Get("byModel").Members {
		if u.ByModel == nil {
			u.ByModel = map[string]agjson.Usage{}
		}
		u.ByModel[model] = *usageOf(m)
	}
	return u
}
