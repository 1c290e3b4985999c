package main

import (
	"context"
	"os"
)

func main() {
	p := &process{environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, exit: os.Exit}
	os.Exit(run(context.Background(), p, os.Args[1:]))
}

// commands are the subcommands, in the order of the help text.
func commands() []command {
	return []command{
		upCommand(),
		ingestCommand(),
		normalizeCommand(),
		reduceCommand(),
		fanoutCommand(),
		pushCommand(),
		execCommand(),
		tailCommand(),
		replayCommand(),
		whyCommand(),
		probeCommand(),
		redisCommand(),
		convertCommand(),
		foldCommand(),
		checkCommand(),
		versionCommand(),
	}
}
