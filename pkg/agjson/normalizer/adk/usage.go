package adk

import "github.com/agwire/agwire/pkg/agjson"

// tally counts tokens: those of a model call, or their sum.
type tally struct {
	in, out, cached, thought, tools, total count
}

type count struct {
	n   int64
	set bool
}

// most is what a count goes up to, so that sums stay whole numbers everywhere.
const most = 1<<53 - 1

func (c *count) add(x count) {
	c.set = c.set || x.set
	c.n = min(c.n+x.n, most)
}

func (c count) number() agjson.Number {
	if !c.set {
		return ""
	}
	return agjson.IntNumber(c.n)
}

func counted(v agjson.Value) count {
	n, ok := v.Int()
	return count{int64(min(max(n, 0), most)), ok}
}

func (t *tally) add(x tally) {
	t.in.add(x.in)
	t.out.add(x.out)
	t.cached.add(x.cached)
	t.thought.add(x.thought)
	t.tools.add(x.tools)
	t.total.add(x.total)
}

// count takes an event's usage. Within a model call it is cumulative, and the aggregate says it again, as may an empty event after
// the results; from call to call it starts anew, and the turn's is the sum.
func (l *lane) count(f *facet, ev *event, fresh bool) {
	u := ev.usage
	raw := string(u.Raw())
	if u.Exists() && (fresh || raw != l.nowRaw) {
		if l.counted && (fresh || l.answered) {
			f.total.add(l.now)
			l.counted, l.answered = false, false
		}
		out := u.Get("candidatesTokenCount")
		if !out.Exists() {
			out = u.Get("responseTokenCount") // as the live API spells it
		}
		l.nowRaw = raw
		l.now = tally{
			in: counted(u.Get("promptTokenCount")), out: counted(out), cached: counted(u.Get("cachedContentTokenCount")),
			thought: counted(u.Get("thoughtsTokenCount")), tools: counted(u.Get("toolUsePromptTokenCount")), total: counted(u.Get("totalTokenCount")),
		}
	}
	l.counted = l.counted || ev.finish != "" || ev.responses > 0 || ev.turnComplete
}

// spent is the usage of the turn so far; nil when nothing was counted.
func (f *facet) spent() *agjson.Usage {
	t := f.total
	for _, l := range f.lanes {
		t.add(l.now)
	}
	if t == (tally{}) {
		return nil
	}
	return &agjson.Usage{
		InputTokens: t.in.number(), OutputTokens: t.out.number(), CacheReadTokens: t.cached.number(), ReasoningTokens: t.thought.number(),
		ToolUseInputTokens: t.tools.number(), TotalTokens: t.total.number(), Cumulative: new(false),
	}
}
