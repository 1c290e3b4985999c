package sources

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson/normalizer"
	"github.com/agwire/agwire/pkg/agjson/normalizer/adk"
	"github.com/agwire/agwire/pkg/agjson/normalizer/claude"
	"github.com/agwire/agwire/pkg/agjson/normalizer/openai"
	"github.com/agwire/agwire/pkg/agjson/normalizer/vercel"
)

// ErrUnknown is a name that is no source; ErrNotBuilt one whose facet does not exist yet.
var (
	ErrUnknown  = errors.New("unknown source")
	ErrNotBuilt = errors.New("source is not built yet")
)

type source struct {
	name string
	make func(normalizer.Host) normalizer.Normalizer // nil: not built yet
}

func list() []source {
	return []source{
		{"claude", func(h normalizer.Host) normalizer.Normalizer { return claude.New(h) }},
		{"openai", func(h normalizer.Host) normalizer.Normalizer { return openai.New(h) }},
		{"adk", func(h normalizer.Host) normalizer.Normalizer { return adk.New(h) }},
		{"vercel", func(h normalizer.Host) normalizer.Normalizer { return vercel.New(h) }},
		{"langgraph", nil},
		{"pydantic-ai", nil},
		{"a2a", nil},
		{"mcp", nil},
		{"mastra", nil},
		{"agui", nil},
		{"anthropic", nil},
		{"openai-responses", nil},
		{"openai-chat", nil},
		{"gemini", nil},
		{"bedrock", nil},
		{"agjson", nil},
	}
}

// New makes the normalizer of one invoke of the named source. The error is an ErrUnknown or an ErrNotBuilt and lists the names
// that are built.
func New(name string, host normalizer.Host) (normalizer.Normalizer, error) {
	all := list()
	i := slices.IndexFunc(all, func(s source) bool { return s.name == name })
	switch {
	case i < 0:
		return nil, fmt.Errorf("%w %q, want one of %s", ErrUnknown, name, strings.Join(Built(), ", "))
	case all[i].make == nil:
		return nil, fmt.Errorf("%w: %q, want one of %s", ErrNotBuilt, name, strings.Join(Built(), ", "))
	}
	return all[i].make(host), nil
}

// Names are all sources, built or not.
func Names() []string { return names(func(source) bool { return true }) }

// Built are the sources that New makes.
func Built() []string { return names(func(s source) bool { return s.make != nil }) }

func names(keep func(source) bool) []string {
	var out []string
	for _, s := range list() {
		if keep(s) {
			out = append(out, s.name)
		}
	}
	return out
}
