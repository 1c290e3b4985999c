package archtest

import (
	"fmt"
	"strings"
)

// importLaw says what the packages of from may not import, or, if only is set, what
// they may. Patterns are those of match.
type importLaw struct {
	name   string
	from   []string // nil is every package
	except []string // packages of from that the law spares
	deny   []string
	only   []string
	spare  bool // test files are spared
	why    string
}

// importLaws are the rooms of the codebase.
func importLaws() []importLaw {
	nats := []string{"github.com/nats-io/nats.go/...", "github.com/nats-io/nats-server/..."}
	redis := []string{"github.com/redis/...", "github.com/alicebob/miniredis/..."}
	return []importLaw{
		{name: "agjson-is-pure", from: []string{"/pkg/agjson/..."}, except: []string{"/pkg/agjson/agtest"}, spare: true,
			only: []string{"std", "/pkg/agjson/..."}, why: "the protocol is a library that anyone can embed"},
		{name: "agjson-tests", from: []string{"/pkg/agjson/..."},
			only: []string{"std", "/pkg/agjson/...", "pgregory.net/rapid"}, why: "its tests need no more than it does, and rapid"},
		{name: "agjson-has-no-effects", from: []string{"/pkg/agjson/..."}, spare: true,
			except: []string{"/pkg/agjson/agtest", "/pkg/agjson/internal/gen"},
			deny:   []string{"net/...", "os/...", "log/...", "context", "io/fs", "math/rand/...", "crypto/rand"},
			why:    "no clock, network, goroutine or logger below pkg/agjson"},
		{name: "pkg-is-public", from: []string{"/pkg/..."},
			deny: []string{"/internal/...", "/services/...", "/cmd/...", "/web/..."}, why: "pkg is for others, too"},
		{name: "internal-knows-no-service", from: []string{"/internal/..."},
			deny: []string{"/services/...", "/cmd/...", "/e2e/..."}, why: "services stand on internal, not the reverse"},
		{name: "services-know-no-command", from: []string{"/services/..."},
			deny: []string{"/cmd/...", "/e2e/...", "/internal/embednats", "/internal/embedredis"}, spare: true,
			why: "a service is given what it depends on"},
		{name: "nats-has-one-room", except: []string{"/internal/bus", "/internal/natstest", "/internal/embednats"},
			deny: nats, why: "one package speaks JetStream: internal/bus"},
		{name: "redis-has-one-room", except: []string{"/internal/snapshot", "/internal/redistest", "/internal/embedredis"},
			deny: redis, why: "one package speaks to Redis: internal/snapshot"},
		{name: "e2e-is-outside", from: []string{"/e2e/..."},
			only: []string{"std", "/pkg/...", "/e2e/...", "gopkg.in/yaml.v3"}, why: "e2e drives real processes, as a stranger would, and reads deploy/compose.yaml"},
		{name: "zap-stays-inside", except: []string{"/internal/...", "/services/...", "/cmd/..."},
			deny: []string{"go.uber.org/zap/..."}, why: "libraries do not log"},
		{name: "one-logger", deny: []string{"log", "log/slog"}, why: "zap is the logger, and it is injected"},
		{name: "tests-only", spare: true, except: []string{"/internal/natstest", "/internal/redistest", "/pkg/agjson/agtest", "/internal/conformance", "/e2e/..."},
			deny: []string{"testing/...", "pgregory.net/rapid/...", "go.uber.org/goleak/...", "/internal/natstest", "/internal/redistest",
				"/internal/archtest", "/pkg/agjson/agtest"}, why: "what serves tests stays out of the binary"},
	}
}

// law is the table row as a Law.
func (l importLaw) law() Law {
	return Law{Name: l.name, Why: l.why, Find: func(t *Tree) []Breach {
		var out []Breach
		for _, f := range t.files {
			if l.from != nil && !match(f.pkg(), l.from...) || match(f.pkg(), l.except...) || l.spare && f.isTest() {
				continue
			}
			for p, pos := range f.imports() {
				if match(p, l.deny...) || l.only != nil && !match(p, l.only...) {
					out = append(out, t.breach(f, pos, "imports %s", p))
				}
			}
		}
		return out
	}}
}

// siblings forbids that packages below different directories of parent import each
// other. A directory named internal is for all of them; the registry, if there is
// one, may import all, but none may import it.
func siblings(name, parent, registry, why string) Law {
	return Law{Name: name, Why: why, Find: func(t *Tree) []Breach {
		var out []Breach
		for _, f := range t.files {
			mine := childOf(parent, f.pkg())
			if mine == "" || mine == registry {
				continue
			}
			for p, pos := range f.imports() {
				if other := childOf(parent, p); other != "" && other != mine && other != "internal" {
					out = append(out, t.breach(f, pos, "%s imports %s", mine, other))
				}
			}
		}
		return out
	}}
}

// childOf is the directory of parent that a package is in or below, or "".
func childOf(parent, pkg string) string {
	rest, ok := strings.CutPrefix(pkg, parent+"/")
	if !ok {
		return ""
	}
	child, _, _ := strings.Cut(rest, "/")
	return child
}

// Laws are all laws but that of the clauses, which is [Clauses].
func Laws() []Law {
	laws := []Law{
		siblings("services-meet-on-the-bus", "/services", "", "services meet on the bus, not in code"),
		siblings("facets-are-strangers", "/pkg/agjson/normalizer", "sources", "no facet knows another; what they share is the engine"),
	}
	for _, l := range importLaws() {
		laws = append(laws, l.law())
	}
	return append(laws, sourceLaws()...)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
