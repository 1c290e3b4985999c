// Package agjson is the vocabulary of AgJSON v1: its events, blocks, messages and inputs as Go types, their codec, and the
// check of a value against the specification (SPEC §§2–4, §3, §9, §12).
//
// An Event is a header that all events share and a sealed Body; readers write
//
//	switch b := ev.Body.(type) {
//	case *agjson.TextDelta:
//		fmt.Print(b.Delta)
//	}
//
// Decode is the trust boundary: what it returns is well-formed, what it refuses is an ErrMalformed with a JSON Pointer and
// no content. Unknown types and members survive a decode and an encode as they came (SPEC §0.2). Opaque values are raw JSON,
// byte for byte. Strings are Go strings in which a lone surrogate, escaped on the wire, is kept as three bytes (WTF-8).
// A member given twice is malformed, save in opaque values. Time and memory are bounded by the text: see MaxSize, MaxDepth
// and MaxItems.
//
// Check is the same reading with a verdict only, of any schema by its name and in two postures: what a producer may send, and
// what a consumer takes. docs/agjson.schema.json says the former as JSON Schema. ProfileOf and Profile.Admit are the
// profiles of SPEC §9.
//
// Optional members: a scalar is a pointer, set with new("…"); an enum, a Number or an id of the header is "" when absent; a
// list, a map or raw JSON is nil when absent. encoding/json reads and writes every type, with the methods of this package.
//
// The types, the codec, the checks and the JSON Schema are generated from protocol.table, one row a field. The package
// folds nothing and reads no stream: see the packages reducer and normalizer below it.
package agjson
