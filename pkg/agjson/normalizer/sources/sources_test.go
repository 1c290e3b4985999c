package sources_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/sources"
)

func TestNew(t *testing.T) {
	for _, name := range sources.Names() {
		n, err := sources.New(name, normalizer.Host{})
		switch built := slices.Contains(sources.Built(), name); {
		case built && (err != nil || n == nil):
			t.Errorf("%s: %v", name, err)
		case !built && (!errors.Is(err, sources.ErrNotBuilt) || !strings.Contains(err.Error(), "claude")):
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sources.New("klaude", normalizer.Host{}); !errors.Is(err, sources.ErrUnknown) {
		t.Errorf("klaude: %v", err)
	}
}
