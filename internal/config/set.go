package config

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// EnvPrefix begins the name of every environment variable that is a setting.
const EnvPrefix = "AGWIRE_"

// configName is the setting every set has: the path of the YAML file.
const configName = "config"

// Set is the settings of one command, in sections. It is filled by Add, then used
// by Load, Help and Logged; it is not safe for concurrent use.
type Set struct {
	sections []section
	rules    []Rule
	path     string // value of the setting "config"
	defects  []Problem
}

type section struct {
	title    string
	settings []Setting
}

// NewSet returns a set that holds only the setting "config", the path of the YAML file.
func NewSet() *Set { return &Set{} }

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Add appends settings under a heading of the help text; the same title adds to
// the same section. A definition that cannot work (a name that is taken or badly
// formed, no target, a default out of its own range) is remembered as a problem of
// [Set.Check] and [Set.Load].
func (s *Set) Add(title string, settings ...Setting) {
	for _, v := range settings {
		in := v.info()
		switch {
		case !nameForm.MatchString(in.name):
			s.defect(in.name, "is no name of lower case words joined by -")
		case in.name == configName || in.name == "help" || s.find(in.name) != nil:
			s.defect(in.name, "is defined twice")
		case v.broken() != nil:
			s.defect(in.name, v.broken().Error())
		default:
			s.append(title, v)
		}
	}
}

func (s *Set) append(title string, v Setting) {
	i := slices.IndexFunc(s.sections, func(sec section) bool { return sec.title == title })
	if i < 0 {
		i = len(s.sections)
		s.sections = append(s.sections, section{title: title})
	}
	s.sections[i].settings = append(s.sections[i].settings, v)
}

func (s *Set) defect(name, reason string) {
	s.defects = append(s.defects, Problem{Name: name, From: "definition", Reason: reason})
}

// Check reports definitions that cannot work, as an [*Error], or nil. It is for the
// tests of whoever defines settings; Load checks too.
func (s *Set) Check() error {
	if len(s.defects) == 0 {
		return nil
	}
	return &Error{Problems: s.defects}
}

// Names lists the settings that the environment and the file may give, without
// "config", sorted. Another command's Load takes them as [Source.Known].
func (s *Set) Names() []string {
	var names []string
	for _, v := range s.all() {
		if in := v.info(); !in.flagOnly {
			names = append(names, in.name)
		}
	}
	slices.Sort(names)
	return names
}

// Logged is every setting with its value as text, secrets and credentials
// redacted, for one line of the log at start. Call it after Load.
func (s *Set) Logged() map[string]string {
	out := map[string]string{}
	for _, v := range s.all() {
		out[v.info().name] = v.logged()
	}
	if s.path != "" {
		out[configName] = s.path
	}
	return out
}

func (s *Set) all() []Setting {
	var out []Setting
	for _, sec := range s.sections {
		out = append(out, sec.settings...)
	}
	return out
}

func (s *Set) find(name string) Setting {
	for _, v := range s.all() {
		if v.info().name == name {
			return v
		}
	}
	return nil
}

// EnvName is the environment variable of a setting: nats-url is AGWIRE_NATS_URL.
func EnvName(name string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// nearest is the name of names closest to the misspelt one, or "" when none is close.
func nearest(misspelt string, names []string) string {
	best, distance := "", 3
	for _, name := range names {
		if d := editDistance(misspelt, name); d < distance || d == distance && best != "" && name < best {
			best, distance = name, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			previous, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, previous+cost)
		}
	}
	return row[len(b)]
}

func didYouMean(misspelt string, names []string) string {
	if near := nearest(misspelt, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// byOrder sorts problems by the order of the settings in the set, unknown names last.
func (s *Set) byOrder(problems []Problem) {
	order := map[string]int{configName: 1}
	for i, v := range s.all() {
		order[v.info().name] = i + 2
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Compare(rank(order, a.Name), rank(order, b.Name))
	})
}

func rank(order map[string]int, name string) int {
	if n, ok := order[name]; ok {
		return n
	}
	return len(order) + 2
}
