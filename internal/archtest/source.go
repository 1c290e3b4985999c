package archtest

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// sourceLaws are about what stands in a file.
func sourceLaws() []Law {
	return []Law{
		{"no-init", "what runs is called by someone", findInit},
		{"no-bare-go", "every goroutine is awaited: errgroup, or Go of a sync.WaitGroup", findGo},
		{"no-context-in-struct", "a context is the first parameter of a call, and ends with it", findContextField},
		{"no-sleep", "a sleep is a guess: wait for the thing itself, or run in a synctest bubble", findSleep},
		{"no-clock-in-agjson", "equal input yields equal output", findClock},
		{"no-notes-to-self", "finish it, or file an issue", findNotes},
		{"doc-go", "every package says what it is and what it refuses to do", findUndocumented},
		{"file-size", "past some 400 lines a file has a seam", findLong},
	}
}

// inspect calls visit for the nodes of all files that pass the filter.
func (t *Tree) inspect(want func(file) bool, visit func(file, ast.Node) []Breach) []Breach {
	var out []Breach
	for _, f := range t.files {
		if !want(f) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if n != nil {
				out = append(out, visit(f, n)...)
			}
			return true
		})
	}
	return out
}

func everyFile(file) bool { return true }

func findInit(t *Tree) []Breach {
	return t.inspect(everyFile, func(f file, n ast.Node) []Breach {
		if fn, ok := n.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			return []Breach{t.breach(f, fn.Pos(), "has a func init")}
		}
		return nil
	})
}

func findGo(t *Tree) []Breach {
	guarded := func(f file) bool {
		return !f.isTest() && match(f.pkg(), "/services/...", "/internal/...", "/pkg/...", "/cmd/...", "/web/...")
	}
	return t.inspect(guarded, func(f file, n ast.Node) []Breach {
		if stmt, ok := n.(*ast.GoStmt); ok {
			return []Breach{t.breach(f, stmt.Pos(), "has a bare go statement")}
		}
		return nil
	})
}

func findContextField(t *Tree) []Breach {
	return t.inspect(everyFile, func(f file, n ast.Node) []Breach {
		s, ok := n.(*ast.StructType)
		if !ok {
			return nil
		}
		var out []Breach
		for _, field := range s.Fields.List {
			if isSelector(f, field.Type, "context", "Context") {
				out = append(out, t.breach(f, field.Pos(), "keeps a context in a struct"))
			}
		}
		return out
	})
}

func findSleep(t *Tree) []Breach {
	var out []Breach
	for _, f := range t.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			// Time in a bubble passes at once, as soon as everyone waits.
			if isSelector(f, call.Fun, "testing/synctest", "Test") {
				return false
			}
			if isSelector(f, call.Fun, "time", "Sleep") {
				out = append(out, t.breach(f, call.Pos(), "sleeps"))
			}
			return true
		})
	}
	return out
}

func findClock(t *Tree) []Breach {
	pure := func(f file) bool {
		return !f.isTest() && match(f.pkg(), "/pkg/agjson/...") && !match(f.pkg(), "/pkg/agjson/agtest", "/pkg/agjson/internal/gen")
	}
	return t.inspect(pure, func(f file, n ast.Node) []Breach {
		e, ok := n.(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		for _, name := range []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"} {
			if isSelector(f, e, "time", name) {
				return []Breach{t.breach(f, e.Pos(), "reads the clock with time.%s", name)}
			}
		}
		return nil
	})
}

// isSelector reports whether e is pkg.name, under whatever name the file imports pkg.
func isSelector(f file, e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	for _, spec := range f.ast.Imports {
		if strings.Trim(spec.Path.Value, `"`) != pkg {
			continue
		}
		local := path.Base(pkg)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		return local == id.Name
	}
	return false
}

var notes = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func findNotes(t *Tree) []Breach {
	var out []Breach
	for _, f := range t.files {
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if word := notes.FindString(c.Text); word != "" {
					out = append(out, t.breach(f, c.Pos(), "says %s", word))
				}
			}
		}
	}
	for _, x := range t.texts {
		for i, line := range strings.Split(x.src, "\n") {
			if word := notes.FindString(line); word != "" {
				out = append(out, Breach{x.path, i + 1, "says " + word})
			}
		}
	}
	return out
}

func findUndocumented(t *Tree) []Breach {
	documented := map[string]bool{}
	var order []string
	for _, f := range t.files {
		pkg := f.pkg()
		if _, seen := documented[pkg]; !seen {
			documented[pkg] = false
			order = append(order, pkg)
		}
		if path.Base(f.path) == "doc.go" && f.ast.Doc != nil {
			documented[pkg] = true
		}
	}
	var out []Breach
	for _, pkg := range order {
		if !documented[pkg] {
			out = append(out, Breach{Path: strings.TrimPrefix(pkg, "/"), What: "has no doc.go with a package comment"})
		}
	}
	return out
}

// maxLines is twice the 400 that STYLE names: it marks a seam to look for, not lines to count.
const maxLines = 800

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func findLong(t *Tree) []Breach {
	var out []Breach
	for _, f := range t.files {
		lines := strings.Count(f.src, "\n")
		if lines > maxLines && !f.isTest() && !generated.MatchString(f.src) {
			out = append(out, Breach{Path: f.path, What: "has " + plural(lines, "line")})
		}
	}
	return out
}
