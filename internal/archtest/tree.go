package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is the path that begins every import of this repository.
const module = "github.com/agwire/agwire"

// Tree is a repository as the laws see it.
type Tree struct {
	files []file
	texts []text
	cases []text // testdata/….txtar
	fset  *token.FileSet
}

// file is one Go file.
type file struct {
	path string // from the root, with slashes
	ast  *ast.File
	src  string
}

// text is one file of another language that has comments, or of test cases.
type text struct{ path, src string }

// Breach is one place where a law is broken.
type Breach struct {
	Path string // of the file or directory, from the root
	Line int    // from 1; 0 is the whole of it
	What string
}

// String is the breach on one line, with its place first.
func (b Breach) String() string {
	if b.Line == 0 {
		return b.Path + ": " + b.What
	}
	return fmt.Sprintf("%s:%d: %s", b.Path, b.Line, b.What)
}

// Law is one rule.
type Law struct {
	Name string // unique
	Why  string // the reason, for who breaks it
	Find func(*Tree) []Breach
}

// Load reads the Go files, and the scripts and settings beside them, of a
// repository. Of directories named testdata it reads the files of cases, *.txtar;
// those named node_modules or with a leading dot or underscore are passed over. A
// file that does not parse is an error.
func Load(root fs.FS) (*Tree, error) {
	t := &Tree{fset: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); p != "." && (name == "node_modules" || name[0] == '.' || name[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		return t.add(root, p)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Tree) add(root fs.FS, p string) error {
	if in := "/" + p; strings.Contains(in, "/testdata/") {
		if path.Ext(p) != ".txtar" {
			return nil
		}
		src, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		t.cases = append(t.cases, text{p, string(src)})
		return nil
	}
	scripts := []string{".js", ".ts", ".css", ".html", ".yaml", ".yml", ".sh", ".lua", ".table"}
	isGo := path.Ext(p) == ".go"
	if !isGo && !slices.Contains(scripts, path.Ext(p)) && path.Base(p) != "Makefile" {
		return nil
	}
	src, err := fs.ReadFile(root, p)
	if err != nil {
		return err
	}
	if !isGo {
		t.texts = append(t.texts, text{p, string(src)})
		return nil
	}
	parsed, err := parser.ParseFile(t.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.files = append(t.files, file{p, parsed, string(src)})
	return nil
}

// breach is a breach at a position of a file.
func (t *Tree) breach(f file, pos token.Pos, format string, args ...any) Breach {
	return Breach{Path: f.path, Line: t.fset.Position(pos).Line, What: fmt.Sprintf(format, args...)}
}

// isTest reports whether the file is compiled for tests only.
func (f file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// pkg is the file's package: "/" and its directory from the root.
func (f file) pkg() string {
	if dir := path.Dir(f.path); dir != "." {
		return "/" + dir
	}
	return "/"
}

// imports are the packages a file imports: "/" and a directory for those of this
// repository, the import path for others.
func (f file) imports() map[string]token.Pos {
	out := map[string]token.Pos{}
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if p == module {
			p = "/"
		} else if rest, ok := strings.CutPrefix(p, module+"/"); ok {
			p = "/" + rest
		}
		out[p] = spec.Pos()
	}
	return out
}

// match reports whether a package is meant by one of the patterns: its path, "std"
// for the standard library, or a path ending in "/..." for it and all below.
func match(pkg string, patterns ...string) bool {
	for _, pattern := range patterns {
		prefix, below := strings.CutSuffix(pattern, "/...")
		switch {
		case pattern == "std":
			first, _, _ := strings.Cut(pkg, "/")
			if first != "" && !strings.Contains(first, ".") {
				return true
			}
		case pkg == prefix, below && strings.HasPrefix(pkg, prefix+"/"):
			return true
		}
	}
	return false
}
