package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// module is what a package's import path has before its directory.
const module = "github.com/agwire/agwire/"

// run is what `go test -json` told of each test.
type run struct {
	results                 map[string]map[string]string // package directory, test: pass, fail or skip
	passed, failed, skipped int
}

// event is a line of `go test -json`.
type event struct{ Action, Package, ImportPath, Test, Output string }

// readRun reads a run, and writes on what a failed test, package or build printed.
func readRun(in io.Reader, out io.Writer) (*run, error) {
	r := &run{results: map[string]map[string]string{}}
	printed := map[[2]string][]string{} // by package and test
	dec := json.NewDecoder(in)
	for {
		var ev event
		if err := dec.Decode(&ev); errors.Is(err, io.EOF) {
			return r, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the run: %w", err)
		}
		key := [2]string{ev.Package, ev.Test}
		switch ev.Action {
		case "build-output":
			fmt.Fprint(out, ev.Output)
		case "output":
			printed[key] = append(printed[key], ev.Output)
		case "pass", "fail", "skip":
			if ev.Action == "fail" {
				fmt.Fprint(out, strings.Join(printed[key], ""))
			}
			delete(printed, key)
			r.add(strings.TrimPrefix(ev.Package, module), ev.Test, ev.Action)
		}
	}
}

// add counts a result; that of a whole package, "" for the test, only where it failed.
func (r *run) add(pkg, test, action string) {
	if r.results[pkg] == nil {
		r.results[pkg] = map[string]string{}
	}
	r.results[pkg][test] = action
	switch {
	case action == "fail":
		r.failed++
	case test == "":
	case action == "skip":
		r.skipped++
	default:
		r.passed++
	}
}

// find is the results of a test, or with "*/" before it of the subtests of that name.
func (r *run) find(pkg, test string) map[string]string {
	out := map[string]string{}
	name, sub := strings.CutPrefix(test, "*/")
	if !sub {
		if result, ok := r.results[pkg][test]; ok {
			out[test] = result
		}
		return out
	}
	for full, result := range r.results[pkg] {
		if strings.Contains(full, "/") && path.Base(full) == name {
			out[full] = result
		}
	}
	return out
}
