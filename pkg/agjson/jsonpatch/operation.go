package jsonpatch

import "bytes"

// operation is one member of a patch, as it came.
type operation struct {
	op, path, from             string
	hasOp, hasPath, hasFrom    bool
	value                      []byte // nil = absent
	depth                      int
	pathTokens, fromTokens     []string
	pathPointer, fromIsPointer bool
}

func parse(text []byte) (op operation, why string) {
	if text[0] != '{' {
		return op, "not an object"
	}
	str := func(v []byte, into *string, has *bool) bool {
		if *has || v[0] != '"' {
			return false
		}
		*into, *has = unquote(v), true
		return true
	}
	s := scanner{b: text, i: 1}
	for s.next() {
		name := unquote(s.name())
		v, depth := s.item()
		ok := true
		switch name {
		case "op":
			ok = str(v, &op.op, &op.hasOp)
		case "path":
			ok = str(v, &op.path, &op.hasPath)
		case "from":
			ok = str(v, &op.from, &op.hasFrom)
		case "value":
			ok = op.value == nil
			op.value, op.depth = v, depth
		}
		if !ok {
			return op, "member " + name + " is no string, or given twice"
		}
	}
	switch {
	case !op.hasOp:
		return op, "op is missing"
	case !op.hasPath:
		return op, "path is missing"
	}
	if op.pathTokens, op.pathPointer = tokens(op.path); !op.pathPointer {
		return op, "path is not a JSON Pointer"
	}
	if len(op.pathTokens) > MaxDepth {
		return op, "path is too long"
	}
	return op, op.need()
}

// need checks what the kind of operation requires.
func (op *operation) need() string {
	switch op.op {
	case "add", "replace", "test":
		if op.value == nil {
			return "value is missing"
		}
	case "move", "copy":
		if !op.hasFrom {
			return "from is missing"
		}
		if op.fromTokens, op.fromIsPointer = tokens(op.from); !op.fromIsPointer {
			return "from is not a JSON Pointer"
		}
	case "remove":
	default:
		return "unknown op"
	}
	return ""
}

func (op *operation) fresh() *node { return &node{raw: bytes.Clone(op.value), depth: op.depth} }
