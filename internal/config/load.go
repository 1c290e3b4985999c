package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Source is where settings come from.
type Source struct {
	Args    []string // arguments after the command's name
	Environ []string // NAME=value, as os.Environ gives them; the last of a name counts
	Known   []string // settings of other commands: allowed in the environment and the file, not used
	Foreign []string // AGWIRE_ variables that are no settings; one that ends in * is a prefix
}

// given is the text of a setting, where it stood, and why it cannot be one.
type given struct {
	text, from string
	err        error
}

// Load fills the variables of all settings and returns the arguments that are no
// flags. Its error is [ErrHelp], or an [*Error] with every problem there is; then
// the variables hold no defined value.
func (s *Set) Load(src Source) ([]string, error) {
	flags, args, problems, help := s.parseArgs(src.Args)
	if help {
		return nil, ErrHelp
	}
	problems = append(slices.Clone(s.defects), problems...)
	env, more := s.parseEnviron(src)
	problems = append(problems, more...)

	path := env[configName]
	if flag, ok := flags[configName]; ok {
		path = flag
	}
	s.path = path.text
	file, more := s.parseFile(path, src.Known)
	problems = append(problems, more...)

	for _, v := range s.all() {
		if p, bad := resolve(v, flags, env, file); bad {
			problems = append(problems, p)
		}
	}
	problems = append(problems, s.broken(problems, flags, env, file)...)
	if len(problems) > 0 {
		s.byOrder(problems)
		return nil, &Error{Problems: problems}
	}
	return args, nil
}

// resolve stores the value of one setting from the first source that gives it.
func resolve(v Setting, sources ...map[string]given) (Problem, bool) {
	in := v.info()
	for _, source := range sources {
		g, ok := source[in.name]
		if !ok {
			continue
		}
		err := g.err
		if err == nil {
			err = v.parse(g.text)
		}
		if err != nil {
			return Problem{Name: in.name, From: g.from, Reason: err.Error()}, true
		}
		return Problem{}, false
	}
	if in.required {
		how := "--" + in.name
		if !in.flagOnly {
			how += " or " + EnvName(in.name)
		}
		return Problem{Name: in.name, Reason: "is required: give " + how}, true
	}
	v.useDefault()
	return Problem{}, false
}

// rawFlag keeps what a flag was given, unparsed, so that all bad values are found
// together and by the same parser as in the other sources.
type rawFlag struct {
	text string
	set  bool
	list bool
}

func (f *rawFlag) String() string { return f.text }
func (f *rawFlag) Type() string   { return "text" }
func (f *rawFlag) Set(text string) error {
	if f.list && f.set {
		text = f.text + "," + text
	}
	f.text, f.set = text, true
	return nil
}

// parseArgs reads the flags. pflag stops at the first flag it does not know, so each
// such flag is noted, then defined, and the arguments are parsed again.
func (s *Set) parseArgs(args []string) (flags map[string]given, rest []string, problems []Problem, help bool) {
	var unknown []string
	for {
		fs, raw := s.flagSet(unknown)
		err := fs.Parse(args)
		if errors.Is(err, pflag.ErrHelp) {
			return nil, nil, nil, true
		}
		if name, ok := unknownFlag(err); ok && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
			problems = append(problems, Problem{Name: name, Reason: "is no flag" + didYouMean(name, s.flagNames())})
			continue
		}
		if err != nil {
			problems = append(problems, flagProblem(err))
		}
		flags = map[string]given{}
		for name, f := range raw {
			if f.set {
				flags[name] = given{text: f.text, from: "--" + name}
			}
		}
		return flags, fs.Args(), problems, false
	}
}

// unknownFlag is the flag that err says does not exist, with its dashes. A short one
// outside ASCII, which pflag cannot define, is not told apart.
func unknownFlag(err error) (string, bool) {
	var notExist *pflag.NotExistError
	if !errors.As(err, &notExist) {
		return "", false
	}
	name := notExist.GetSpecifiedName()
	if notExist.GetSpecifiedShortnames() == "" {
		return "--" + name, true
	}
	return "-" + name, len(name) == 1
}

// flagProblem names the flag of a parse error without repeating the argument.
func flagProblem(err error) Problem {
	var needsValue *pflag.ValueRequiredError
	if errors.As(err, &needsValue) {
		return Problem{Name: needsValue.GetFlag().Name, Reason: "needs a value"}
	}
	return Problem{Name: "arguments", Reason: "hold something that is no flag and no argument; put -- before the arguments"}
}

// flagSet defines every setting, and the unknown flags so that they are passed over.
func (s *Set) flagSet(unknown []string) (*pflag.FlagSet, map[string]*rawFlag) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.Usage = func() {}
	raw := map[string]*rawFlag{configName: {}}
	fs.Var(raw[configName], configName, "")
	for _, v := range s.all() {
		in := v.info()
		_, isList := v.(*ListVar)
		raw[in.name] = &rawFlag{list: isList}
		f := fs.VarPF(raw[in.name], in.name, "", "")
		if in.kind == "" {
			f.NoOptDefVal = "true"
		}
	}
	for _, name := range unknown {
		short := ""
		long, isLong := strings.CutPrefix(name, "--")
		if !isLong {
			short, long = name[1:], name
		}
		fs.VarPF(&rawFlag{}, long, short, "").NoOptDefVal = "true"
	}
	return fs, raw
}

func (s *Set) flagNames() []string {
	names := []string{"--" + configName}
	for _, v := range s.all() {
		names = append(names, "--"+v.info().name)
	}
	return names
}

// parseEnviron reads the AGWIRE_ variables.
func (s *Set) parseEnviron(src Source) (map[string]given, []Problem) {
	byEnv := map[string]string{EnvName(configName): configName}
	for _, name := range slices.Concat(src.Known, s.Names()) {
		byEnv[EnvName(name)] = name
	}
	found := map[string]given{}
	unknown := map[string]bool{}
	for _, entry := range src.Environ {
		key, text, ok := strings.Cut(entry, "=")
		if !ok || !strings.HasPrefix(key, EnvPrefix) || foreign(key, src.Foreign) {
			continue
		}
		if name, ok := byEnv[key]; ok {
			found[name] = given{text: text, from: key}
		} else {
			unknown[key] = true
		}
	}
	var problems []Problem
	for _, key := range sortedKeys(unknown) {
		problems = append(problems, Problem{Name: key, Reason: "is no setting" + didYouMean(key, sortedKeys(byEnv))})
	}
	return found, problems
}

func foreign(key string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, isPrefix := strings.CutSuffix(p, "*")
		return key == p || isPrefix && strings.HasPrefix(key, prefix)
	})
}
