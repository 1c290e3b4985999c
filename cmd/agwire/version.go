package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/agwire/agwire/internal/config"
)

func versionCommand() command {
	return command{
		name:    "version",
		summary: "print the version of this binary",
		setup: func(*config.Set) runFunc {
			return func(_ context.Context, p *process, _ []string) error {
				_, err := fmt.Fprintf(p.stdout, "agwire %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return err
			}
		},
	}
}

// version is what the build recorded: a release, or the commit with + when the tree
// had changes, or (devel).
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
