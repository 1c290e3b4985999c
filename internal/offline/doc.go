// Package offline is the tools for scripts, without bus and store: native frames to events, events to their fold, values to
// verdicts. Each reads lines and writes lines, one pass, with memory for one line (and what a fold holds), and answers the
// same input with the same bytes.
//
// With Lines set every input line is one case, a JSON array of frames or events, and every output line its answer, so that
// thousands of cases take one process.
//
//	fold := offline.Fold{Lines: true, Bad: func(line int, why error) { … }}
//	err := fold.Run(os.Stdin, os.Stdout)
//
// An error of Run is one of reading or writing. What is wrong with the input is told to Bad by line, and the rest is done.
package offline
