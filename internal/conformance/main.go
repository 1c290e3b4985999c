package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"

	"github.com/agwire/agwire/internal/archtest"
)

func main() {
	root := flag.String("root", ".", "the root of the repository")
	flag.Parse()
	if err := report(*root); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// report prints the table of the run that stands on the standard input.
func report(root string) error {
	tree, err := archtest.Load(os.DirFS(root))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	r, err := readRun(os.Stdin, out)
	if err != nil {
		return err
	}
	bad := writeTable(out, table(tree.Citations(), archtest.Exceptions(), r))
	fmt.Fprintf(out, "\n%d tests passed, %d failed, %d were skipped\n", r.passed, r.failed, r.skipped)
	switch {
	case r.failed > 0:
		return fmt.Errorf("%d tests failed", r.failed)
	case bad > 0:
		return fmt.Errorf("%d clauses are not shown", bad)
	}
	return nil
}
