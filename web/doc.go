// Package web serves Agwire's page, the viewer, and its JavaScript client: plain ES modules, embedded, without a build step.
//
//	mux.Handle("/", web.Handler())
//
// The page is a client of docs/protocol.md like any other. It asks for v1/ beside itself, so that handler and fanout are
// mounted under the same path.
//
// What a thread holds never becomes code here (SPEC §13.3, §13.4, §13.6). Two walls stand before it: the page makes elements
// from text alone, and the policy that the handler sends forbids scripts and styles from anywhere but this package, string
// evaluation, and turning strings into markup (Trusted Types) but for the one sandboxed frame that mandatory HTML is shown in.
//
// The package keeps no state, reads no file at run time, and knows nothing of threads.
package web
