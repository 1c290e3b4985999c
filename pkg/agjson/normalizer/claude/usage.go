package claude

import (
	"strconv"

	"github.com/agwire/agwire/pkg/agjson"
)

// usageOf maps a usage of the Messages API: running totals, verbatim (SPEC §8 item 4). nil when there is none.
func usageOf(u agjson.Value) *agjson.Usage {
	if u.Kind() != agjson.KindObject {
		return nil
	}
	return &agjson.Usage{
		InputTokens: u.Get("input_tokens").Number(), OutputTokens: u.Get("output_tokens").Number(),
		CacheReadTokens: u.Get("cache_read_input_tokens").Number(), CacheWriteTokens: u.Get("cache_creation_input_tokens").Number(),
		ReasoningTokens: positive(u.Path("output_tokens_details", "thinking_tokens")), Cumulative: new(true),
	}
}

// positive is a number, or absent when it is 0: the API says 0 thinking tokens for models that do not think.
func positive(v agjson.Value) agjson.Number {
	if n, ok := v.Int(); ok && n == 0 {
		return ""
	}
	return v.Number()
}

// turnUsage is the usage of a result frame: the main loop's tokens, the query's running cost, and all models' totals.
func turnUsage(v agjson.Value) *agjson.Usage {
	u := usageOf(v.Get("usage"))
	if u == nil {
		if !v.Get("modelUsage").Set() && !v.Get("total_cost_usd").Set() {
			return nil
		}
		u = &agjson.Usage{Cumulative: new(true)}
	}
	u.ServerToolRequests = serverRequests(v.Path("usage", "server_tool_use"))
	u.CostUSD = v.Get("total_cost_usd").Number()
	for model, m := range v.Get("modelUsage").Members {
		if m.Kind() != agjson.KindObject {
			continue
		}
		if u.ByModel == nil {
			u.ByModel = map[string]agjson.Usage{}
		}
		u.ByModel[model] = agjson.Usage{
			InputTokens: m.Get("inputTokens").Number(), OutputTokens: m.Get("outputTokens").Number(),
			CacheReadTokens: m.Get("cacheReadInputTokens").Number(), CacheWriteTokens: m.Get("cacheCreationInputTokens").Number(),
			ReasoningTokens: positive(m.Get("thinkingTokens")), CostUSD: m.Get("costUSD").Number(),
			ServerToolRequests: m.Get("webSearchRequests").Number(), Cumulative: new(true),
		}
	}
	return u
}

// serverRequests counts the requests to all server tools.
func serverRequests(v agjson.Value) agjson.Number {
	if v.Kind() != agjson.KindObject {
		return ""
	}
	total := 0
	for _, m := range v.Members {
		n, ok := m.Int()
		if !ok && m.Set() {
			return ""
		}
		total += n
	}
	return agjson.Number(strconv.Itoa(total))
}

// spent says whether a usage counts anything.
func spent(u *agjson.Usage) bool {
	if u == nil {
		return false
	}
	for _, n := range []agjson.Number{u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.CostUSD} {
		if f, err := n.Float64(); err == nil && f != 0 {
			return true
		}
	}
	return len(u.ByModel) > 0
}
