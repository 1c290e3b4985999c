package claude_test

import (
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson/agtest"
)

type objects = []agtest.Object

// rules are those of testdata/departures.txt; each takes one kind of departure away, and only that.
var rules = map[string]agtest.Rule{
	"turnid": agtest.OwnersAdded,
	// a turn that takes or ends something is opened first, and therefore closed
	"opened": noSeq(func(want, got objects) (objects, objects) {
		return want, unless(want, got, "turn.start", "subagent.start", "turn.abort")
	}),
	// the same, where the SDK opens the turn only later
	"early": noSeq(func(want, got objects) (objects, objects) {
		start := func(o agtest.Object) bool { return o["type"] == "turn.start" }
		return slices.DeleteFunc(want, start), slices.DeleteFunc(got, start)
	}),
	// a nested turn ends with a terminal of its own before subagent.done
	"nested-done": noSeq(func(want, got objects) (objects, objects) {
		for i := 1; i < len(got); i++ {
			if got[i]["type"] == "subagent.done" && got[i-1]["type"] == "turn.done" && got[i-1]["turnId"] == got[i]["turnId"] {
				got = slices.Delete(got, i-1, i)
			}
		}
		return want, got
	}),
	// a nested turn is open until its call's result; a truncated one is no success
	"nested-flush": noSeq(func(want, got objects) (objects, objects) {
		nested := map[any]bool{}
		for _, o := range got {
			nested[o["turnId"]] = nested[o["turnId"]] || o["type"] == "subagent.start"
		}
		want = slices.DeleteFunc(want, func(o agtest.Object) bool { return o["type"] == "subagent.done" })
		return want, slices.DeleteFunc(got, func(o agtest.Object) bool { return o["type"] == "turn.abort" && nested[o["turnId"]] })
	}),
	// parentTurnId is the turn of the spawning call, not a label
	"parent": func(want, got objects) (objects, objects) {
		opened := map[any]bool{}
		for _, o := range got {
			opened[o["turnId"]] = opened[o["turnId"]] || o["type"] == "turn.start"
			if opened[o["parentTurnId"]] {
				delete(o, "parentTurnId")
			}
		}
		for _, o := range want {
			if p, ok := o["parentTurnId"].(string); ok && strings.HasPrefix(p, "turn_toolu_") {
				delete(o, "parentTurnId")
			}
		}
		return want, got
	},
	// a query has one thread, whatever session its frames name
	"thread": func(want, got objects) (objects, objects) {
		for i := range min(len(want), len(got)) {
			if got[i]["type"] == "message.start" && got[i]["threadId"] == got[0]["threadId"] {
				delete(want[i], "threadId")
				delete(got[i], "threadId")
			}
		}
		return want, got
	},
	// the input of a denied call is said
	"input": noSeq(func(want, got objects) (objects, objects) { return want, unless(want, got, "tool.args.assembled") }),
	// a refused run is no success
	"honest": func(want, got objects) (objects, objects) {
		w, g := want[len(want)-1], got[len(got)-1]
		if o, ok := g["outcome"].(agtest.Object); ok && o["type"] == "error" && w["finishReason"] == "refusal" {
			g["outcome"] = w["outcome"]
		}
		return want, got
	},
	// frames that the SDK drops are carried
	"carried": noSeq(func(want, got objects) (objects, objects) { return want, unless(want, got, "ext.anthropic.frame") }),
	// members of the result frame that the SDK drops are carried
	"rest": noSeq(func(want, got objects) (objects, objects) {
		for _, o := range got {
			if o["type"] == "ext.anthropic.result-meta" {
				delete(o, "rest")
			}
		}
		return want, unless(want, got, "ext.anthropic.result-meta")
	}),
	// usage is the stream's last word
	"usage": func(want, got objects) (objects, objects) {
		for _, list := range []objects{want, got} {
			for _, o := range list {
				if o["type"] == "message.end" {
					delete(o, "usage")
				}
			}
		}
		return want, got
	},
	// a flush ends no block
	"flush": noSeq(func(want, got objects) (objects, objects) { return unless(got, want, "text.end"), got }),
	// a tool's own display name and metadata are said
	"title": func(want, got objects) (objects, objects) {
		for _, o := range got {
			if o["type"] == "tool.args.assembled" {
				delete(o, "title")
				delete(o, "toolMetadata")
			}
		}
		return want, got
	},
	// what a tool says beside its result is said
	"twin": func(want, got objects) (objects, objects) {
		for _, o := range got {
			delete(o, "sideData")
		}
		return want, got
	},
}

// unless leaves out of list what is of one of the types and has no counterpart in the other list.
func unless(other, list objects, types ...string) objects {
	var out objects
	for _, o := range list {
		typ, _ := o["type"].(string)
		if slices.Contains(types, typ) && (len(out) >= len(other) || other[len(out)]["type"] != typ || typ == "ext.anthropic.frame" && !agtest.Equal(other[len(out)]["frame"], o["frame"])) {
			continue
		}
		out = append(out, o)
	}
	return out
}

func noSeq(r agtest.Rule) agtest.Rule {
	return func(want, got objects) (objects, objects) { return agtest.NoSeq(r(want, got)) }
}
