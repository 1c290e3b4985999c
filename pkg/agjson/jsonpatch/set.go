package jsonpatch

// Set puts the value at the pointer: over what is there, as a new member, or behind the last item of an array. Objects on
// the way that are missing are made. The error is an *Error; the document is then as it was. It keeps nothing of value.
func (d *Document) Set(pointer string, value []byte) error {
	path, ok := tokens(pointer)
	if !ok || len(path) > MaxDepth {
		return &Error{-1, "not a JSON Pointer"}
	}
	raw, depth, ok := check(value)
	if !ok {
		return &Error{-1, "the value is not JSON, or nested too deeply"}
	}
	op := operation{value: raw, depth: depth}
	size := d.bytes
	if why := d.set(path, op.fresh()); why != "" {
		d.rollback()
		d.bytes = size
		return &Error{-1, why}
	}
	d.text = nil
	d.forget()
	return nil
}

func (d *Document) set(path []string, v *node) string {
	n := d.root
	for i, t := range path {
		next := n.child(t)
		if next == nil && i < len(path)-1 && n.obj != nil {
			next = &node{raw: []byte("{}"), depth: 1}
			if why := d.insert(path[:i+1], next); why != "" {
				return why
			}
		}
		if next == nil {
			return d.insert(path, v) // the last step, or one that leads nowhere
		}
		n = next
	}
	return d.swap(path, v)
}

// Remove takes away what is at the pointer. The error is an *Error; the document is then as it was.
func (d *Document) Remove(pointer string) error {
	path, ok := tokens(pointer)
	if !ok || len(path) > MaxDepth {
		return &Error{-1, "not a JSON Pointer"}
	}
	if _, why := d.cut(path); why != "" {
		return &Error{-1, why}
	}
	d.text = nil
	for _, o := range d.wide {
		o.settle()
	}
	d.forget()
	return nil
}
