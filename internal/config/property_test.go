package config_test

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agwire/agwire/internal/config"
)

// text draws values that are right, nearly right and wrong for every kind.
func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", " ", "true", "false", "True", "yes", "json", "console", "a,b", "a, b,", ",", "null", "~", "0x10",
			"1_0", "+5", "-5", "1e3", "nats://h:1", "tls://u:p@h,nats://g", "nats://", "http://h", "1MiB", "1mib", "1M", "5s", "5", "&a", "*a",
			"{}", "[a]", "- a", "# c", "a: b", "|", ">", "'", "\"", "2024-01-01", "\u2028", "日本"}),
		rapid.Map(rapid.IntRange(-10, 2000), func(n int) string { return fmt.Sprint(n) }),
		rapid.Map(rapid.Int64(), func(n int64) string { return time.Duration(n).String() }),
		rapid.Map(rapid.Int64Range(0, math.MaxInt64), config.FormatSize),
		rapid.StringMatching(`[0-9]{1,4}(B|KiB|MiB|kb|GB|K|ms|s|m|h)?`),
		rapid.String(),
	)
}

var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+-]*$`)

// yamlScalar writes text as it would be by hand: plain where that is safe, else
// quoted and escaped. (yaml.Marshal does not read back all that it writes.)
func yamlScalar(text string) string {
	if plain.MatchString(text) && !strings.EqualFold(text, "null") {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		fmt.Fprintf(&b, "\\U%08x", r)
	}
	return `"` + b.String() + `"`
}

// outcome is all values after Load, or the reasons it gave without where the value stood.
func outcome(t *rapid.T, src config.Source) string {
	var v values
	_, err := define(&v).Load(src)
	var all *config.Error
	if errors.As(err, &all) {
		var lines []string
		for _, p := range all.Problems {
			lines = append(lines, p.Name+": "+p.Reason)
		}
		return strings.Join(lines, "\n")
	}
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return fmt.Sprintf("%q %d %d %d %v %q %q %q %q", v.name, v.window, v.body, v.drain, v.demo, v.format, v.tags,
		v.token.Reveal(), v.nats.Reveal())
}

// A text means the same as a flag, a variable and a value of the file.
func TestSourcesAgree(t *testing.T) {
	dir := t.TempDir()
	names := define(new(values)).Names()
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(t, "settings")
		var args, environ []string
		var file strings.Builder
		for _, name := range chosen {
			value := text().Draw(t, name)
			args = append(args, "--"+name+"="+value)
			environ = append(environ, config.EnvName(name)+"="+value)
			fmt.Fprintf(&file, "%s: %s\n", name, yamlScalar(value))
		}
		flag := outcome(t, config.Source{Args: args})
		if env := outcome(t, config.Source{Environ: environ}); env != flag {
			t.Fatalf("environment: %s\nflag: %s", env, flag)
		}
		path := writeFile(t, dir, file.String())
		if yaml := outcome(t, config.Source{Environ: []string{"AGWIRE_CONFIG=" + path}}); yaml != flag {
			t.Fatalf("file: %s\nflag: %s\n%s", yaml, flag, file.String())
		}
	})
}

// What is logged, given again, yields the same value, but for what is redacted.
func TestLoggedReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v values
		set := define(&v)
		src := config.Source{}
		for _, name := range []string{"window", "max-body", "drain", "demo", "tags", "log-format", "name"} {
			src.Args = append(src.Args, "--"+name+"="+text().Draw(t, name))
			if _, err := define(&v).Load(src); err != nil {
				src.Args = src.Args[:len(src.Args)-1]
			}
		}
		before := outcome(t, src)
		if _, err := set.Load(src); err != nil {
			t.Fatal(err)
		}
		var again []string
		for name, value := range set.Logged() {
			if name != "token" && name != "from" {
				again = append(again, "--"+name+"="+value)
			}
		}
		if after := outcome(t, config.Source{Args: again}); after != before {
			t.Fatalf("%q\nbefore %s\nafter %s", again, before, after)
		}
	})
}

// Any arguments, variables and file end in values, ErrHelp or an *Error, never in a panic.
func TestLoadIsTotal(t *testing.T) {
	dir := t.TempDir()
	arg := rapid.OneOf(rapid.String(), rapid.StringMatching(`--?[a-z\-=é]{0,6}`), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return "-" + string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		src := config.Source{
			Args:    rapid.SliceOfN(arg, 0, 6).Draw(t, "args"),
			Environ: rapid.SliceOfN(rapid.StringMatching(`AGWIRE_[A-Z_]{0,8}=?.{0,5}`), 0, 4).Draw(t, "environ"),
		}
		data := rapid.OneOf(rapid.String(), rapid.StringMatching(`((window|name|tags|x): [a-z0-9\[\],&*!{}]{0,6}\n){0,4}`)).Draw(t, "file")
		src.Environ = append(src.Environ, "AGWIRE_CONFIG="+writeFile(t, dir, data))
		var v values
		_, err := define(&v).Load(src)
		var all *config.Error
		if err != nil && !errors.Is(err, config.ErrHelp) && !errors.As(err, &all) {
			t.Fatalf("Load: %v", err)
		}
		if all != nil && (len(all.Problems) == 0 || slices.Contains(all.Problems, config.Problem{})) {
			t.Fatalf("an error without a problem: %#v", all)
		}
	})
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "512": 512, "1KiB": 1024, "2mib": 2 << 20, "1GB": 1e9, "3kB": 3000, "9223372036854775807B": math.MaxInt64} {
		if n, err := config.ParseSize(text); err != nil || n != want {
			t.Errorf("%s is %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5MiB", "1 MiB", "1M", "1K", "9000000TiB", "9223372036854775808", "1MiBB", "é"} {
		if n, err := config.ParseSize(text); err == nil {
			t.Errorf("%q is read as %d", text, n)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "bytes")
		if back, err := config.ParseSize(config.FormatSize(n)); err != nil || back != n {
			t.Fatalf("%d is written %s and read %d, %v", n, config.FormatSize(n), back, err)
		}
	})
}
