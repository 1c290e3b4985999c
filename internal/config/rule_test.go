package config_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/agwire/agwire/internal/config"
)

// ruled is two settings, the second of which must exceed the first.
func ruled() *config.Set {
	var low, high int
	set := config.NewSet()
	set.Add("One",
		&config.IntVar{Name: "low", To: &low, Default: 1, Min: 0, Max: 10, Help: "the lower"},
		&config.IntVar{Name: "high", To: &high, Default: 5, Min: 0, Max: 10, Help: "the higher"})
	set.Rules(config.Rule{Names: []string{"high", "low"}, Check: func() error {
		if high <= low {
			return errors.New("does not exceed low")
		}
		return nil
	}})
	return set
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		name    string
		args    []string
		environ []string
		want    []string
	}{
		{"defaults", nil, nil, nil},
		{"kept", []string{"--low", "6", "--high", "7"}, nil, nil},
		{"broken", []string{"--high", "1"}, nil, []string{"high: does not exceed low (--high)"}},
		{"broken by the other", nil, []string{"AGWIRE_LOW=9"}, []string{"high: does not exceed low (AGWIRE_LOW)"}},
		{"beside other problems", []string{"--high", "1", "--nope"}, nil, []string{"high: does not exceed low (--high)", "--nope: is no flag"}},
		{"not judged on a bad value", []string{"--high", "1", "--low", "x"}, nil, []string{`low: "x" is no whole number (--low)`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ruled().Load(config.Source{Args: c.args, Environ: c.environ})
			if c.want == nil {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if got := problems(t, err); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestBrokenRules(t *testing.T) {
	set := ruled()
	set.Rules(config.Rule{Names: []string{"low", "middle"}, Check: func() error { return nil }}, config.Rule{Names: []string{"low"}})
	want := []string{"middle: is no setting, and a rule is about it (definition)", "rule: is about no setting, or has no check (definition)"}
	if got := problems(t, set.Check()); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReason(t *testing.T) {
	for text, want := range map[string]string{"max age: 1h is not enough": "1h is not enough", "no name": "no name", "odd:": "odd:"} {
		if got := config.Reason(errors.New(text)); got.Error() != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if config.Reason(nil) != nil {
		t.Error("no error has a reason")
	}
}
