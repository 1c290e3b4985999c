// Package jsonpatch applies JSON Patch (RFC 6902) to raw JSON and compares JSON by value.
//
// A Document keeps what a patch does not touch byte for byte: number text, key order, escapes, white space inside untouched
// values, duplicate names. It parses only what the pointers of its patches walk through and keeps that between patches, so
// a patch costs its own size and the width of the containers on its paths, not the size of the document.
//
//	d, err := jsonpatch.New([]byte(`{"n":1e400,"list":[1,2]}`))
//	if err != nil {
//		return err
//	}
//	err = d.Apply([]byte(`[{"op":"add","path":"/list/-","value":3}]`))
//	// d.Bytes() is {"n":1e400,"list":[1,2,3]}
//
// It repairs nothing: pointers are strict (RFC 6901: an index has no leading zero, "-" only adds), a patch is applied whole
// or not at all, and what a patch makes is bounded by MaxDepth and MaxSize. Names that repeat within one object are read as
// the last of them, as most parsers do; removing such a name removes them all.
package jsonpatch
