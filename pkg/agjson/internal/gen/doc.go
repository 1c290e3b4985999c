// The generator of pkg/agjson: table.go reads protocol.table, types.go writes the Go types, codec.go how they are
// decoded and encoded, schema.go the list of what can be checked by name.
package main
