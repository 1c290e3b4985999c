package vercel_test

import (
	"testing"

	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/vercel"
)

// rules make one kind of departure from the public SDK go away; testdata/departures.txt says where and why.
var rules = map[string]agtest.Rule{
	"turnid":   agtest.OwnersAdded,
	"itemid":   added("itemId"),
	"provider": added("providerMetadata"),
	"tool":     added("toolMetadata"),
	"flush":    flush,
}

// added is the rule for a member that ours has and the SDK's drops, in the event or in its metadata.
func added(name string) agtest.Rule {
	return func(want, got []agtest.Object) (newWant, newGot []agtest.Object) {
		for i := range min(len(want), len(got)) {
			prune(name, want[i], got[i])
			w, okW := want[i]["metadata"].(agtest.Object)
			g, okG := got[i]["metadata"].(agtest.Object)
			if okW && okG {
				prune(name, w, g)
			}
		}
		return want, got
	}
}

func prune(name string, want, got agtest.Object) {
	if _, has := want[name]; !has {
		delete(got, name)
	}
}

// flush leaves out the ends that the SDK says at flush for blocks and steps.
func flush(want, got []agtest.Object) (newWant, newGot []agtest.Object) {
	for _, o := range want {
		if typ := o["type"]; typ != "text.end" && typ != "step.done" {
			newWant = append(newWant, o)
		}
	}
	return agtest.NoSeq(newWant, got)
}

// TestVectors: the same events as the public SDK's, but for what testdata/departures.txt lists.
func TestVectors(t *testing.T) {
	cases, ok := agtest.NormalizeCases(t, "vercel")
	if !ok {
		return
	}
	agtest.ReadDepartures(t, "testdata/departures.txt").Check(t, rules, cases, func(c agtest.Case) []agtest.Object {
		events := agtest.Run(vercel.New(normalizer.Host{}), c.Frames)
		agtest.CheckStream(t, events)
		return agtest.Objects(events)
	})
}
