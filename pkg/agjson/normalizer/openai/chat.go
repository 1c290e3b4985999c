package openai

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// chat is a response that Chat Completions streams. The SDK's own events say its text and its end; its chunks say the rest.
type chat struct {
	on     bool
	finish string // the last finish_reason
	calls  []*chatCall
}

// chatCall is a tool call whose pieces come by index (SPEC §8 item 10).
type chatCall struct {
	index    int
	id, name string
	args     strings.Builder // that came before the call could be said
	item     *item
}

// chunk maps a chunk of Chat Completions.
func (f *facet) chunk(ev agjson.Value) {
	id := ev.Get("id").Str()
	r := f.round
	switch {
	case r != nil && r.ended && id == r.id && id != "":
		f.Carry("chat.completion.chunk", ev)
		return
	case r == nil || r.ended:
		r = f.begin(id, ev.Get("model").StrPtr())
	}
	r.chat.on = true
	for i, c := range ev.Get("choices").Items {
		if n, ok := c.Get("index").Int(); ok && n != 0 || i > 0 { // the SDK leaves it out
			f.Carry("chat.completion.chunk", ev)
			return
		}
		if s := c.Get("finish_reason").Str(); s != "" {
			r.chat.finish = strings.Clone(s)
		}
		f.chatDelta(r, c.Get("delta"))
	}
}

func (f *facet) chatDelta(r *round, d agjson.Value) {
	thought := false
	for _, name := range []string{"reasoning", "reasoning_content"} { // some servers say the same under both names
		if s := d.Get(name).Str(); s != "" && !thought {
			thought = true
			f.think(r, f.thought(r, r.keyed(reasoningItem, name), 0, true), s)
		}
	}
	if s := d.Get("refusal").Str(); s != "" {
		f.say(r, f.textPart(r, r.item(messageItem, r.id), 0, true), s)
	}
	for _, t := range d.Get("tool_calls").Items {
		f.chatCall(r, t)
	}
}

// chatCall says a piece of a tool call, once its id and name are known.
func (f *facet) chatCall(r *round, t agjson.Value) {
	index, _ := t.Get("index").Int()
	c := r.chatCall(index)
	if s := t.Get("id").Str(); c.id == "" && s != "" {
		c.id = strings.Clone(s)
	}
	fn := t.Get("function")
	if c.item == nil {
		c.name += fn.Get("name").Str()
	}
	args := fn.Get("arguments").Str()
	if c.item == nil && c.id != "" && c.name != "" && r.callOf(c.id) == nil && !f.HasCall(c.id) {
		c.item = &item{kind: callItem, call: c.id}
		r.items = append(r.items, c.item)
		r.calls = append(r.calls, c.id)
		f.ToolStart(r.message, &agjson.ToolStart{ToolCallID: c.id, Name: c.name})
		args = c.args.String() + args
	}
	switch {
	case args == "":
	case c.item == nil:
		c.args.WriteString(args)
	case !c.item.hasArgs:
		c.item.args.WriteString(args)
		f.ToolArgsDelta(c.id, args)
	}
}

func (r *round) chatCall(index int) *chatCall {
	for _, c := range r.chat.calls {
		if c.index == index {
			return c
		}
	}
	c := &chatCall{index: index}
	r.chat.calls = append(r.chat.calls, c)
	return c
}
