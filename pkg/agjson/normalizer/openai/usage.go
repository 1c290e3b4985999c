package openai

import "github.com/agwire/agwire/pkg/agjson"

// usage maps the usage of one response, of the Responses API's shape or the SDK's; nil when there is none. It is never a running total
// (SPEC §5 INV-DELTA), and says so.
func usage(u agjson.Value) *agjson.Usage {
	if u.Kind() != agjson.KindObject {
		return nil
	}
	in, out := either(u, "input_tokens_details", "inputTokensDetails"), either(u, "output_tokens_details", "outputTokensDetails")
	return &agjson.Usage{
		Cumulative:       new(false),
		InputTokens:      either(u, "input_tokens", "inputTokens").Number(),
		OutputTokens:     either(u, "output_tokens", "outputTokens").Number(),
		TotalTokens:      either(u, "total_tokens", "totalTokens").Number(),
		CacheReadTokens:  in.Get("cached_tokens").Number(),
		CacheWriteTokens: in.Get("cache_write_tokens").Number(),
		ReasoningTokens:  out.Get("reasoning_tokens").Number(),
		CostUSD:          u.Get("cost").Number(), // OpenRouter's
	}
}

// either is the member of one name or the other.
func either(v agjson.Value, a, b string) agjson.Value {
	if m := v.Get(a); m.Exists() {
		return m
	}
	return v.Get(b)
}
