// The generator of pkg/agjson: table.go reads protocol.table, types.go writes the Go types, codec.go how they are decoded
// and encoded and the list of what can be checked by name, jsonschema.go the JSON Schema, and plain.go the same types for
// encoding/json, to be compared with.
package main
