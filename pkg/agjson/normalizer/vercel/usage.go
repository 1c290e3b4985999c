package vercel

import "github.com/agwire/agwire/pkg/agjson"

// usage is the SDK's LanguageModelUsage; nil when it counts nothing, which is how a step without a finish of the model looks.
// The SDK's usage is per step, or the sum of the steps: never a running total (SPEC §5 INV-DELTA).
func usage(u agjson.Value) *agjson.Usage {
	in, out := u.Get("inputTokenDetails"), u.Get("outputTokenDetails")
	got := agjson.Usage{
		InputTokens:      u.Get("inputTokens").Number(),
		OutputTokens:     u.Get("outputTokens").Number(),
		TotalTokens:      u.Get("totalTokens").Number(),
		CacheReadTokens:  first(in.Get("cacheReadTokens"), u.Get("cachedInputTokens")),
		CacheWriteTokens: in.Get("cacheWriteTokens").Number(),
		ReasoningTokens:  first(out.Get("reasoningTokens"), u.Get("reasoningTokens")),
	}
	if got.InputTokens == "" && got.OutputTokens == "" && got.TotalTokens == "" &&
		got.CacheReadTokens == "" && got.CacheWriteTokens == "" && got.ReasoningTokens == "" {
		return nil
	}
	return &got
}

// first is the first number of the two: version 7 nests the details that version 5 and 6 (also) have flat.
func first(a, b agjson.Value) agjson.Number {
	if n := a.Number(); n != "" {
		return n
	}
	return b.Number()
}

// finishReason is the SDK's reason in the words of SPEC §4; a reason that the SDK does not have today is unknown.
func finishReason(reason string) agjson.FinishReason {
	switch reason {
	case "stop":
		return agjson.FinishReasonStop
	case "length":
		return agjson.FinishReasonTokenLimit
	case "content-filter":
		return agjson.FinishReasonSafetyBlocked
	case "tool-calls":
		return agjson.FinishReasonToolCall
	case "other", "error", "interrupted":
		return agjson.FinishReasonOther
	}
	return agjson.FinishReasonUnknown
}
