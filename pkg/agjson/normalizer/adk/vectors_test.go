package adk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/agtest"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/adk"
)

type objects = []agtest.Object

// rules are those of testdata/departures.txt; each takes one kind of departure away, and only that.
var rules = map[string]agtest.Rule{
	"turnid": agtest.OwnersAdded,
	// block ids are unique within a fold
	"blockid": func(want, got objects) (objects, objects) {
		times, now := map[string]int{}, map[string]string{}
		for _, o := range want {
			id, _ := o["id"].(string)
			typ, _ := o["type"].(string)
			if !strings.HasPrefix(typ, "text.") && !strings.HasPrefix(typ, "reasoning.") {
				continue
			}
			if strings.HasSuffix(typ, ".start") {
				times[id]++
				now[id] = fmt.Sprintf("%s~%d", id, times[id])
			}
			o["id"] = now[id]
		}
		return want, got
	},
	// a message is sealed before its turn ends
	"sealed": func(want, got objects) (objects, objects) {
		if n := len(want); n > 1 && want[n-1]["type"] == "message.end" && want[n-2]["type"] == "turn.abort" {
			want[n-1], want[n-2] = want[n-2], want[n-1]
		}
		return agtest.NoSeq(want, got)
	},
	// what goes on with a block is in that block
	"joined": func(want, got objects) (objects, objects) {
		var kept objects
		for i, o := range want {
			ends := o["type"] == "text.end" && i+1 < len(want) && want[i+1]["type"] == "text.start" && want[i+1]["id"] == o["id"]
			if n := len(kept); n > 0 && o["type"] == "text.start" && i > 0 && want[i-1]["type"] == "text.end" && want[i-1]["id"] == o["id"] || ends {
				continue
			}
			kept = append(kept, o)
		}
		return agtest.NoSeq(kept, got)
	},
	// the block of a partial event goes on with the next one, and a flush does not end it
	"goes-on": func(want, got objects) (objects, objects) {
		var kept objects
		for _, o := range want {
			if o["type"] != "text.end" {
				kept = append(kept, o)
			}
		}
		return agtest.NoSeq(kept, got)
	},
	// an error is no success
	"honest": func(want, got objects) (objects, objects) {
		w, g := want[len(want)-1], got[len(got)-1]
		if o, ok := g["outcome"].(agtest.Object); ok && o["type"] == "error" {
			g["outcome"] = w["outcome"]
		}
		return want, got
	},
	// an ext event names its turn as every event does
	"shadow": func(want, got objects) (objects, objects) {
		for _, o := range want {
			if strings.HasPrefix(fmt.Sprint(o["type"]), "ext.") {
				delete(o, "shadowed")
			}
		}
		return want, got
	},
}

// TestVectors: the same events as the public SDK's, but for what testdata/departures.txt lists.
func TestVectors(t *testing.T) {
	cases, ok := agtest.NormalizeCases(t, "adk")
	if !ok {
		return
	}
	agtest.ReadDepartures(t, "testdata/departures.txt").Check(t, rules, cases, func(c agtest.Case) []agtest.Object {
		events := agtest.Run(adk.New(normalizer.Host{}), c.Frames)
		agtest.CheckStream(t, events)
		return agtest.Objects(events)
	})
}
