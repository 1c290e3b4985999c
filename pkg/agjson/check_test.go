package agjson_test

import (
	"slices"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

// SPEC §12: an envelope of another major version is refused, one of the same is taken, whatever its minor, patch and tag.
func TestAcceptsVersion(t *testing.T) {
	for v, want := range map[string]bool{
		agjson.Version: true, "1.0.0": true, "1.9.3": true, "1.0.0-draft.2": true, "1": true, "1.2": true,
		"2.0.0": false, "0.9.0": false, "10.0.0": false, "": false, "v1.0.0": false, "1-draft": false, "one": false,
	} {
		if got := agjson.AcceptsVersion(v); got != want {
			t.Errorf("%q: %v", v, got)
		}
	}
}

func TestSchemaNames(t *testing.T) {
	names := agjson.SchemaNames()
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %q", names)
	}
	for _, want := range []string{"AgEvent", "AgClosedEvent", "AgInput", "AgInputEnvelope", "AgInputToolResult", "AgReduceResult", "AgA2uiError", "JsonValue"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among them", want)
		}
	}
}
