// Package sources knows the frameworks by name: it makes the normalizer for a source, and tells a name that is none from one that
// is not built yet. It is the one place where all facets meet; they do not know each other.
package sources
