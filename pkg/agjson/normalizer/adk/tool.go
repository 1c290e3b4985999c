package adk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

// call is one call of a tool, however often the events make it.
type call struct {
	id     string
	name   string
	args   string // JSON on one line; "" while they are streamed
	signed bool
	bare   bool   // the model gave it no id, and neither did the SDK
	long   bool   // it runs on after its first result
	frame  int    // that made it last
	in     string // message that it is in
	home   string // message that its result is in

	orphan   bool            // it has only a result: an earlier invocation made it
	partial  bool            // only partial events have made it
	answered bool            // has a result
	final    bool            // has one that stays
	result   json.RawMessage // the last
	held     *agjson.Event   // its last result, should that turn out to be the final one
}

// call maps a call. Partial events and the whole one that follows make the same call, under one id or several; each is said once.
func (f *facet) call(l *lane, ev *event, i int, p, fc agjson.Value) (fresh bool) {
	id, name := fc.Get("id").Str(), fc.Get("name").Str()
	sig := p.Get("thoughtSignature")
	if sig.Kind() != agjson.KindString {
		sig = agjson.Value{}
	}
	streamed := fc.Get("partialArgs").Set()
	if streamed || name == "" {
		// Fragments are not put together here: the aggregate has the arguments whole, and cut ones must not run.
		f.Carry("functionCall", p)
		if name == "" {
			return true
		}
	}
	if !ev.partial && f.requested(id, name, fc) {
		return false
	}
	args := ""
	if a := fc.Get("args"); a.Set() {
		args = compact(a.Raw())
	} else if !streamed && !fc.Get("willContinue").Bool() {
		args = "{}"
	}
	c := f.known[id]
	if c == nil || c.orphan {
		if c = f.again(l, ev, id, name, args); c == nil {
			f.newCall(l, ev, i, id, name, args, sig, fc)
			return true
		}
	}
	return f.repeat(l, ev, c, args, sig, p)
}

// newCall says a call that was not said before.
func (f *facet) newCall(l *lane, ev *event, i int, id, name, args string, sig, fc agjson.Value) {
	f.endStream(l)
	c := &call{id: strings.Clone(id), name: name, args: args, bare: id == "", long: ev.long(id), frame: f.frame, partial: ev.partial}
	start := &agjson.ToolStart{Name: name, Index: agjson.IntNumber(int64(i))}
	var provider []agjson.Member
	if c.bare {
		c.id = f.Derive(f.turn, "call")
		provider = append(provider, agjson.Member{Name: "providerCallIndex", Value: json.RawMessage(start.Index)})
	}
	if args == "" && sig.Exists() {
		provider = append(provider, agjson.Member{Name: "thoughtSignature", Value: sig.Raw()})
	}
	start.ProviderMetadata = googleBag(provider)
	if old := f.known[c.id]; old != nil { // its result came before it
		c.answered, c.final, c.result = true, true, old.result
	}
	if c.long {
		start.LongRunning = new(true)
	}
	start.ToolCallID = c.id
	f.calls, f.known[c.id] = append(f.calls, c), c
	if c.partial {
		l.partial = append(l.partial, c)
	}
	at := agjson.Event{TurnID: l.turn, Body: start}
	if c.in = f.room(l); l.behind {
		at.MessageID = c.in
	}
	f.Emit(at)
	if args != "" {
		f.ToolArgsDelta(c.id, args)
		f.ToolArgs(f.assembled(c, sig))
	}
	if c.long && !ev.partial {
		f.askLong(l, c, c.id, fc.Get("args"))
	}
}

// assembled are the whole arguments, with the signature byte for byte (SPEC §8 item 8).
func (f *facet) assembled(c *call, sig agjson.Value) *agjson.ToolArgsAssembled {
	b := &agjson.ToolArgsAssembled{ToolCallID: c.id, Input: json.RawMessage(c.args)}
	if sig.Exists() {
		b.Signature = new(agjson.Secret(sig.Str()))
		c.signed = true
	}
	return b
}

// again finds the call that an event makes once more under another id, or under none: one that only partial events have made, of
// that name and those arguments. Within one event no two calls are the same; a partial event makes one anew once the other
// has run.
func (f *facet) again(l *lane, ev *event, id, name, args string) *call {
	l.partial = slices.DeleteFunc(l.partial, func(c *call) bool { return !c.partial })
	for _, c := range l.partial {
		switch {
		case c.name != name || c.frame == f.frame:
		case c.args != args && c.args != "":
		case ev.partial && (c.answered || c.bare != (id == "")):
		default:
			return c
		}
	}
	return nil
}

// moveOn forgets partial calls that have run: the model has gone on without making them whole.
func (l *lane) moveOn() {
	if len(l.partial) > 0 {
		l.partial = slices.DeleteFunc(l.partial, func(c *call) bool { return c.answered })
	}
}

// repeat maps a call that was made before: it says only what is new about it.
func (f *facet) repeat(l *lane, ev *event, c *call, args string, sig, p agjson.Value) (fresh bool) {
	if c.name != p.Path("functionCall", "name").Str() || !f.MessageOpen(c.in) {
		f.Carry("functionCall", p) // another call under a taken id, or one that has no place any more
		return true
	}
	id := p.Path("functionCall", "id").Str()
	c.frame = f.frame
	if !ev.partial && c.partial {
		c.partial = false
		if c.long = c.long || ev.long(id); c.long {
			f.askLong(l, c, cmp.Or(id, c.id), p.Path("functionCall", "args"))
		}
	}
	changed := args != "" && args != c.args
	if changed && c.args == "" {
		f.ToolArgsDelta(c.id, args)
	}
	if changed {
		c.args = args
	}
	alias := id != "" && f.known[id] != c
	if alias {
		f.known[strings.Clone(id)] = c
	}
	if c.args == "" || !changed && !alias && (c.signed || !sig.Exists()) {
		return changed
	}
	b := f.assembled(c, sig)
	if alias { // the id by which the SDK knows the call from now on
		b.ProviderMetadata = agjson.Opaque(object1(vendor, object1("functionCallId", agjson.Quote(id))))
	}
	f.ToolArgs(b)
	return changed
}

// response maps a result. It is for the call of its id, or, without one, for the first call of its name that has none
// (SPEC §8 item 2). That of a call for which the same event asks is none yet: it only says that the call waits, and a later
// invocation brings the result, which could not take its place. A call has one final result.
func (f *facet) response(l *lane, ev *event, p, fr agjson.Value) (fresh bool) {
	id, name, resp := fr.Get("id").Str(), fr.Get("name").Str(), fr.Get("response")
	l.answered = true
	c := f.known[id]
	if id == "" {
		c = f.waiting(name)
	}
	switch {
	case id == "" && c == nil:
		f.Ext("unparsed", object1("functionResponse", fr.Raw()))
		return true
	case f.answersRequest(id, name), ev.asks(id):
		f.Carry("functionResponse", p)
		return true
	case c == nil: // of an earlier invocation's call
		c = &call{id: strings.Clone(id), name: name, orphan: true}
		f.known[c.id] = c
	case c.final || c.answered && !f.MessageOpen(c.home):
		if bytes.Equal(c.result, resp.Raw()) {
			return false
		}
		f.Carry("functionResponse", p)
		return true
	}
	if name == "" {
		name = c.name
	}
	f.endStream(l)
	done := agjson.Event{Body: f.result(ev, c.id, name, fr, resp)}
	if c.orphan {
		done.TurnID = l.turn
	}
	if resp.Get("content").Kind() == agjson.KindList {
		done.Meta = objectOf(resp.Get("_meta"))
	}
	if !c.answered {
		c.home = f.room(l)
	}
	f.land(c, done, resp.Raw(), fr.Get("willContinue").Bool())
	if c.final {
		f.settle(c.id)
	}
	return true
}

// land says a result. That of a call which only partial events have made is preliminary: the SDK runs the tool again for the
// whole call, and the model is told that result. So is the first one of a long-running tool.
func (f *facet) land(c *call, ev agjson.Event, raw json.RawMessage, more bool) {
	done := ev.Body.(*agjson.ToolDone)
	first := !c.answered
	c.answered, c.result, c.held = true, raw, nil
	switch {
	case more, c.long && first:
	case c.partial:
		final := *done
		c.held = &agjson.Event{Meta: ev.Meta, Body: &final}
	default:
		c.final = true
		f.Emit(ev)
		return
	}
	done.More, done.Preliminary = new(true), new(true)
	f.Emit(ev)
}

// confirm makes the results final that were not said again.
func (f *facet) confirm() {
	for _, c := range f.calls {
		if c.held != nil && !c.final && f.MessageOpen(c.home) {
			c.final = true
			f.Emit(*c.held)
			c.held = nil
		}
	}
}

// waiting is the first call of a name that has no result, those without an id first.
func (f *facet) waiting(name string) *call {
	var other *call
	for _, c := range f.calls {
		switch {
		case c.name != name || c.final || c.answered && (c.held == nil || c.partial):
		case c.bare:
			return c
		case other == nil:
			other = c
		}
	}
	return other
}

// compact is JSON text without white space, its numbers and escapes as they came.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
