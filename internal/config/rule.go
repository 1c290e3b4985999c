package config

import (
	"errors"
	"slices"
)

// Rule is a condition over settings that are each good by themselves, or one that only their owner can judge.
type Rule struct {
	Names []string     // the settings it is about, at least one; a problem stands under the first
	Check func() error // nil when all is well; reads the settings' variables; its error repeats no secret
}

// Rules appends rules. [Set.Load] checks each of them once all of its settings have good values, and reports what it finds among
// the other problems.
func (s *Set) Rules(rules ...Rule) {
	for _, r := range rules {
		missing := slices.IndexFunc(r.Names, func(name string) bool { return s.find(name) == nil })
		switch {
		case len(r.Names) == 0 || r.Check == nil:
			s.defect("rule", "is about no setting, or has no check")
		case missing >= 0:
			s.defect(r.Names[missing], "is no setting, and a rule is about it")
		default:
			s.rules = append(s.rules, r)
		}
	}
}

// broken is what the rules find, but for those about a setting that has a problem already.
func (s *Set) broken(already []Problem, sources ...map[string]given) []Problem {
	var problems []Problem
	for _, r := range s.rules {
		if slices.ContainsFunc(already, func(p Problem) bool { return slices.Contains(r.Names, p.Name) }) {
			continue
		}
		if err := r.Check(); err != nil {
			problems = append(problems, Problem{Name: r.Names[0], From: whence(r.Names, sources), Reason: err.Error()})
		}
	}
	return problems
}

// whence is where the first of the settings that was given came from; "" where all have their defaults.
func whence(names []string, sources []map[string]given) string {
	for _, name := range names {
		for _, source := range sources {
			if g, ok := source[name]; ok {
				return g.from
			}
		}
	}
	return ""
}

// Reason is what is left of an error once the name that it begins with, up to the first colon, is taken off: for rules that
// ask a validation which names fields in its own way.
func Reason(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for i := range text {
		if text[i] == ':' && i+2 < len(text) {
			return errors.New(text[i+2:])
		}
	}
	return err
}
