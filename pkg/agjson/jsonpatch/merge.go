package jsonpatch

import "bytes"

// Merge puts the members of with over those of the document, each as a whole; members that are not there yet come last, in
// their order. Where one of the two is no object the document becomes with. The error is an *Error; the document is then
// as it was. It keeps nothing of with.
func (d *Document) Merge(with []byte) error { return d.merge(with, 1) }

// MergeNodes is Merge one level deeper: each member of with is merged with the member of that name (SPEC §5 state.delta,
// node-keyed last-writer-wins).
func (d *Document) MergeNodes(with []byte) error { return d.merge(with, 2) }

func (d *Document) merge(with []byte, levels int) error {
	raw, depth, ok := check(with)
	if !ok {
		return &Error{-1, "the merge is not JSON, or nested too deeply"}
	}
	if d.bytes += len(raw); d.bytes > MaxSize {
		if d.bytes = d.root.size() + len(raw); d.bytes > MaxSize {
			d.bytes -= len(raw)
			return &Error{-1, "the document would be too large"}
		}
	}
	d.text = nil
	d.root = d.root.merge(&node{raw: bytes.Clone(raw), depth: depth}, levels)
	return nil
}

// merge is the node with v's members over its own, or v.
func (n *node) merge(v *node, levels int) *node {
	if levels == 0 || n.kind() != '{' || v.kind() != '{' {
		return v
	}
	n.open()
	n.depth = max(n.depth, v.depth)
	s := scanner{b: v.raw, i: 1}
	for s.next() {
		key := s.name()
		text, depth := s.item()
		name, val := unquote(key), &node{raw: text, depth: depth}
		if i := n.obj.find(name); i >= 0 {
			n.obj.members[i].val = n.obj.members[i].val.merge(val, levels-1)
			continue
		}
		n.obj.push(name, val)
		n.obj.members[len(n.obj.members)-1].key = key
	}
	return n
}
