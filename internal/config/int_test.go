package config_test

import (
	"strings"
	"testing"

	"github.com/agwire/agwire/internal/config"
)

// A number of bytes kept as an int reads and shows as a size, and one of few values names them.
func TestIntsOfSizesAndOfFewValues(t *testing.T) {
	var size, few int
	load := func(args ...string) (*config.Set, error) {
		set := config.NewSet()
		set.Add("A", &config.IntVar{Name: "size", To: &size, Default: 16 << 20, Min: 1 << 10, Max: 64 << 20, Unit: "bytes", Help: "largest frame"},
			&config.IntVar{Name: "few", To: &few, Default: 1, Values: []int{1, 3, 5}, Unit: "replicas", Help: "replicas"})
		_, err := set.Load(config.Source{Args: args})
		return set, err
	}
	set, err := load()
	if err != nil || size != 16<<20 || few != 1 {
		t.Fatal(size, few, err)
	}
	if got := set.Logged()["size"]; got != "16MiB" {
		t.Errorf("logged %q", got)
	}
	var b strings.Builder
	if err := set.Help(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--size size", "1KiB to 64MiB. Default 16MiB.", "1, 3 or 5. Default 1 replicas."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	for text, want := range map[string]int{"2048": 2048, "2KiB": 2048, "1MB": 1e6} {
		if _, err := load("--size", text, "--few", "5"); err != nil || size != want || few != 5 {
			t.Errorf("%s is %d: %v", text, size, err)
		}
	}
	for arg, want := range map[string]string{
		"--size=1": "1B is out of range: 1KiB to 64MiB", "--size=1GiB": "1GiB is out of range", "--size=-5": "is no size",
		"--few=2": "2 is not 1, 3 or 5", "--few=x": "is no whole number",
	} {
		if _, err := load(arg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
}
