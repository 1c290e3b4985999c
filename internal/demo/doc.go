// Package demo replays recorded streams of real SDKs into a running Agwire, paced as if the agents were live, for `agwire up
// --demo`. The recordings are the project's own, of the Claude Agent SDK and the Vercel AI SDK; they go through the same HTTP
// interface as any producer's frames.
package demo
