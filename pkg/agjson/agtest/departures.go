package agtest

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

// Rule makes one kind of departure go away: it rewrites the expected and the actual events of a case, copies of its own, and
// returns what is then to be compared.
type Rule func(want, got []Object) (newWant, newGot []Object)

// Departures are the expected departures of the cases of one file of vectors, or several.
type Departures struct {
	path  string
	cases map[string][]string // rules of a case, by its key
	wide  map[string]int      // `<file>:* <rule>` → cases in which it is needed
}

// ReadDepartures reads a departures file; see the package doc.
func ReadDepartures(t testing.TB, path string) *Departures {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := &Departures{path: path, cases: map[string][]string{}, wide: map[string]int{}}
	for i, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		CheckReason(t, path+":"+strconv.Itoa(i+1), line)
		if len(f) < 3 {
			t.Fatalf("%s:%d: want a case, its rules and why", path, i+1)
		}
		file, isWide := strings.CutSuffix(f[0], ":*")
		if !isWide {
			if d.cases[f[0]] != nil {
				t.Fatalf("%s:%d: listed twice", path, i+1)
			}
			d.cases[f[0]] = strings.Split(f[1], ",")
			continue
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || len(f) < 4 {
			t.Fatalf("%s:%d: want a rule, the number of cases that need it, and why", path, i+1)
		}
		d.wide[file+" "+f[1]] = n
	}
	return d
}

// reasonForm is a clause of the specification, or a numbered place of the vectors' NOTES.
var reasonForm = regexp.MustCompile(`SPEC §[0-9]|NOTES[^;]* [0-9]`)

// CheckReason fails the test when a line of a departures file names neither a clause nor a number of NOTES.md.
func CheckReason(t testing.TB, where, line string) {
	t.Helper()
	if !reasonForm.MatchString(line) {
		t.Errorf("%s: the departure names no clause and no number of NOTES.md", where)
	}
}

// Check compares every case after its rules. Every rule must be known, and needed where it is listed.
func (d *Departures) Check(t *testing.T, rules map[string]Rule, cases []Case, run func(c Case) []Object) {
	t.Helper()
	needed := map[string]int{}
	seen := map[string]bool{}
	for _, c := range cases {
		seen[c.Key] = true
		file, _, _ := strings.Cut(c.Key, ":")
		if strings.HasPrefix(file, "corpus/") {
			file = "corpus"
		}
		var list []string
		for w := range d.wide {
			if f, rule, _ := strings.Cut(w, " "); f == file {
				list = append(list, rule)
			}
		}
		slices.Sort(list)
		own := d.cases[c.Key]
		t.Run(c.Key, func(t *testing.T) {
			got := run(c)
			compare := func(without string) string {
				w, g := clones(c.Events), clones(got)
				for _, name := range slices.Concat(own, list) {
					rule := rules[name]
					if rule == nil {
						t.Fatalf("%s: no rule %q", d.path, name)
					}
					if name != without {
						w, g = rule(w, g)
					}
				}
				return SameEvents(w, g)
			}
			if diff := compare(""); diff != "" {
				t.Fatalf("%s: %s", c.Name, diff)
			}
			for _, name := range own {
				if compare(name) == "" {
					t.Errorf("%s lists %s for this case, but it agrees without", d.path, name)
				}
			}
			for _, name := range list {
				if compare(name) != "" {
					needed[file+" "+name]++
				}
			}
		})
	}
	for w, n := range d.wide {
		if needed[w] != n {
			t.Errorf("%s: %s is needed by %d cases, the list says %d", d.path, w, needed[w], n)
		}
	}
	for key := range d.cases {
		if !seen[key] {
			t.Errorf("%s: there is no case %s", d.path, key)
		}
	}
}

func clones(list []Object) []Object {
	out := make([]Object, len(list))
	for i, o := range list {
		out[i] = Clone(o).(Object)
	}
	return out
}

// Normalizer is what a run needs of one.
type Normalizer interface {
	Push(native []byte) []agjson.Event
	Flush() []agjson.Event
}

// Run pushes all frames and flushes. A frame that is no event's business is pushed all the same.
func Run[F ~[]byte](n Normalizer, frames []F) []agjson.Event {
	var out []agjson.Event
	for _, f := range frames {
		out = append(out, n.Push(f)...)
	}
	return append(out, n.Flush()...)
}

// RunOverwriting is Run by a caller who uses its bytes for something else as soon as Push has returned.
func RunOverwriting[F ~[]byte](n Normalizer, frames []F) []agjson.Event {
	var out []agjson.Event
	for _, f := range frames {
		buf := bytes.Clone(f)
		out = append(out, n.Push(buf)...)
		for i := range buf {
			buf[i] = '#'
		}
	}
	return append(out, n.Flush()...)
}

// Objects are events as decoded JSON.
func Objects(events []agjson.Event) []Object {
	out := make([]Object, len(events))
	for i := range events {
		out[i] = Decode(agjson.AppendEvent(nil, &events[i])).(Object)
	}
	return out
}

// NoSeq is a Rule that leaves `seq` out: for cases in which events are added or left out.
func NoSeq(want, got []Object) (newWant, newGot []Object) {
	for _, list := range [][]Object{want, got} {
		for _, o := range list {
			delete(o, "seq")
		}
	}
	return want, got
}

// OwnersAdded is a Rule for the SDK's events without `turnId` where ours names the owner (DESIGN: every owned event has one).
func OwnersAdded(want, got []Object) (newWant, newGot []Object) {
	for i := range min(len(want), len(got)) {
		if _, has := want[i]["turnId"]; !has && want[i]["type"] == got[i]["type"] {
			delete(got[i], "turnId")
		}
	}
	return want, got
}
