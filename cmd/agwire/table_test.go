package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/agwire/agwire/internal/config"
)

// Every command of the binary can be set up, told about and told apart.
func TestCommandsAreWhole(t *testing.T) {
	var names []string
	for _, cmd := range commands() {
		names = append(names, cmd.name)
		set := config.NewSet()
		if cmd.setup(set) == nil {
			t.Errorf("%s has nothing to run", cmd.name)
		}
		if err := set.Check(); err != nil {
			t.Errorf("%s: %v", cmd.name, err)
		}
		if cmd.summary == "" || strings.HasSuffix(cmd.summary, ".") {
			t.Errorf("%s has the summary %q", cmd.name, cmd.summary)
		}
		if cmd.maxArgs >= 0 && cmd.maxArgs < cmd.minArgs || (cmd.maxArgs != 0) != (cmd.args != "") {
			t.Errorf("%s takes %d to %d arguments, called %q", cmd.name, cmd.minArgs, cmd.maxArgs, cmd.args)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) || slices.Contains(names, "help") {
		t.Errorf("a name is taken twice: %q", names)
	}
}

// One name is one setting wherever it is used, so that one environment and one
// file serve all commands. Only defaults may differ.
func TestSettingsMeanTheSameEverywhere(t *testing.T) {
	type use struct{ command, text string }
	seen := map[string]use{}
	for _, cmd := range commands() {
		set := config.NewSet()
		cmd.setup(set)
		var b strings.Builder
		if err := set.Help(&b); err != nil {
			t.Fatal(err)
		}
		for name, text := range settingsOf(b.String()) {
			if before, ok := seen[name]; ok && before.text != text {
				t.Errorf("--%s is in %s\n%s\nand in %s\n%s", name, before.command, before.text, cmd.name, text)
			}
			seen[name] = use{cmd.name, text}
		}
	}
}

// settingsOf cuts a help text into settings of the environment and the file, each
// without its default.
func settingsOf(help string) map[string]string {
	out := map[string]string{}
	for _, block := range strings.Split(help, "\n  --")[1:] {
		block, _, _ = strings.Cut(block, "\n\n")
		name, _, _ := strings.Cut(block, " ")
		text := strings.Join(strings.Fields(block), " ")
		text, _, _ = strings.Cut(text, " Default ")
		if strings.Contains(text, config.EnvName(name)) {
			out[name] = text
		}
	}
	return out
}

func TestSettingsOf(t *testing.T) {
	set := config.NewSet()
	var s, u string
	set.Add("A", &config.StringVar{Name: "alpha", To: &s, Default: "x y", Help: "first"},
		&config.StringVar{Name: "beta", To: &u, Help: "second", FlagOnly: true})
	var b strings.Builder
	if err := set.Help(&b); err != nil {
		t.Fatal(err)
	}
	got := settingsOf(b.String())
	if len(got) != 2 || got["alpha"] != "alpha string AGWIRE_ALPHA First." || !strings.HasPrefix(got["config"], "config path AGWIRE_CONFIG ") {
		t.Errorf("settings are %q", got)
	}
}
