package openai_test

import (
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson/agtest"
)

type objects = []agtest.Object

// rules are those of testdata/departures.txt; each takes one kind of departure away, and only that.
var rules = map[string]agtest.Rule{
	"turnid": agtest.OwnersAdded,
	// a message says which model made it
	"model": func(want, got objects) (objects, objects) {
		for _, o := range got {
			if o["type"] == "message.start" {
				delete(o, "model")
			}
		}
		return want, got
	},
	// a message says which agent made it
	"agent": noSeq(func(want, got objects) (objects, objects) {
		for _, o := range got {
			if o["type"] == "message.start" {
				delete(o, "agentName")
			}
		}
		return want, without(got, "message.metadata")
	}),
	// the phase of a text is said where the text ends
	"phase": noSeq(func(want, got objects) (objects, objects) {
		for _, o := range got {
			if bag, ok := o["providerMetadata"].(agtest.Object); ok && o["type"] == "text.end" && bag["phase"] != nil {
				delete(o, "providerMetadata")
			}
		}
		return without(want, "ext.openai.late-phase"), got
	}),
	// a flush ends no block
	"flush": noSeq(func(want, got objects) (objects, objects) { return without(want, "text.end"), got }),
	// what a refusal says is said
	"refusal": noSeq(func(want, got objects) (objects, objects) {
		return want, without(got, "text.start", "text.delta", "text.end")
	}),
	// a refused run is no success
	"honest": func(want, got objects) (objects, objects) {
		w, g := want[len(want)-1], got[len(got)-1]
		if o, ok := g["outcome"].(agtest.Object); ok && o["type"] == "error" && g["finishReason"] == "refusal" {
			g["outcome"] = w["outcome"]
		}
		return want, got
	},
	// what the SDK throws ends the turn that it comes in, which is not a success before
	"thrown": noSeq(func(want, got objects) (objects, objects) {
		n := len(want) - 1 // … message.end, turn.done, turn.start, message.start, message.end, turn.error
		want[n]["turnId"] = want[n-4]["turnId"]
		return append(want[:n-4:n-4], want[n]), got
	}),
	// reasoning that comes after the response is still reasoning
	"late": noSeq(func(want, got objects) (objects, objects) {
		return without(want, "ext.openai.late-reasoning"), without(got, "reasoning.start", "reasoning.delta", "reasoning.end", "reasoning.opaque")
	}),
	// a handoff is recorded on a turn that is open
	"edge": noSeq(func(want, got objects) (objects, objects) {
		at := slices.IndexFunc(want, func(o agtest.Object) bool { return o["type"] == "handoff" })
		end := slices.IndexFunc(want, func(o agtest.Object) bool { return o["type"] == "message.end" })
		h := want[at]
		return slices.Insert(slices.Delete(want, at, at+1), end, h), got
	}),
	// a handoff opens no nested turn
	"nested": noSeq(func(want, got objects) (objects, objects) {
		return without(want, "subagent.start", "subagent.done"), got
	}),
	// the call that asks for a handoff is a call
	"transfer": noSeq(func(want, got objects) (objects, objects) {
		return want, without(got, "tool.start", "tool.args.delta", "tool.args.assembled", "tool.done")
	}),
	// a handoff says who hands over
	"from": func(want, got objects) (objects, objects) {
		for _, o := range got {
			delete(o, "fromAgentId")
		}
		return want, got
	},
	// a compaction keeps its item's id and author
	"meta": func(want, got objects) (objects, objects) {
		for _, o := range got {
			if b, ok := o["block"].(agtest.Object); ok {
				delete(b, "_meta")
			}
		}
		return want, got
	},
	// a run that waits for an approval is paused
	"paused": func(want, got objects) (objects, objects) {
		w, g := want[len(want)-1], got[len(got)-1]
		if o, ok := g["outcome"].(agtest.Object); ok && o["type"] == "paused" {
			g["outcome"], g["finishReason"] = w["outcome"], w["finishReason"]
		}
		return want, got
	},
	// the answer to an ask goes on with the run
	"resume": func(want, got objects) (objects, objects) {
		for _, o := range got {
			delete(o, "continuation")
		}
		return want, got
	},
	// a hosted tool is the provider's
	"hosted": func(want, got objects) (objects, objects) {
		for _, o := range got {
			delete(o, "providerExecuted")
		}
		return want, got
	},
	// a response that comes again says nothing
	"again": noSeq(func(want, got objects) (objects, objects) {
		for i, o := range want {
			if id, _ := o["turnId"].(string); o["type"] == "turn.start" && strings.HasPrefix(id, "turn_openai_") {
				return want[:i], got
			}
		}
		return want, got
	}),
}

// without leaves out what is of one of the types.
func without(list objects, types ...string) objects {
	return slices.DeleteFunc(list, func(o agtest.Object) bool {
		typ, _ := o["type"].(string)
		return slices.Contains(types, typ)
	})
}

func noSeq(r agtest.Rule) agtest.Rule {
	return func(want, got objects) (objects, objects) { return agtest.NoSeq(r(want, got)) }
}
