package jsonpatch

import (
	"slices"
	"strconv"
)

// MaxSize is the largest text, in bytes, that a patch may make of a document.
const MaxSize = 64 << 20

// Error says which operation of a patch failed, and why; never the values. The document is as it was before the patch.
type Error struct {
	Op  int // its index in the patch; -1 when the patch is no patch at all
	Why string
}

// Error is one line: place and reason.
func (e *Error) Error() string {
	if e.Op < 0 {
		return "jsonpatch: " + e.Why
	}
	return "jsonpatch: operation " + strconv.Itoa(e.Op) + ": " + e.Why
}

// Document is a JSON text that patches change. It is not safe for concurrent use.
type Document struct {
	root  *node
	text  []byte // Bytes, while nothing has changed since
	bytes int    // the text's size, never too low
	undo  []func()
	wide  []*object // objects that this patch has made holes in
}

// New is a document of the text, which it keeps and which must not change afterwards. The error is an *Error.
func New(text []byte) (*Document, error) {
	raw, depth, ok := check(text)
	if !ok {
		return nil, &Error{-1, "the document is not JSON, or nested too deeply"}
	}
	return &Document{root: &node{raw: raw, depth: depth}, text: raw, bytes: len(raw)}, nil
}

// Bytes is the document's text. It must not be changed; later patches do not change it either.
func (d *Document) Bytes() []byte {
	if d.text == nil {
		d.text = d.root.append(make([]byte, 0, min(d.bytes, MaxSize)))
		d.bytes = len(d.text)
	}
	return d.text
}

// Apply is New, Apply and Bytes.
func Apply(text, patch []byte) ([]byte, error) {
	d, err := New(text)
	if err == nil {
		err = d.Apply(patch)
	}
	if err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// Apply applies the patch, all of it or nothing. The error is an *Error. It keeps nothing of patch.
func (d *Document) Apply(patch []byte) error {
	if err := d.apply(patch); err != nil {
		return err
	}
	if len(d.undo) > 0 {
		d.text = nil
	}
	for _, o := range d.wide {
		o.settle()
	}
	d.forget()
	return nil
}

// apply does the patch and leaves in d.undo how to undo it; a patch that fails is undone.
func (d *Document) apply(patch []byte) error {
	raw, _, ok := check(patch)
	if !ok || raw[0] != '[' {
		return &Error{-1, "the patch is not an array of operations"}
	}
	size := d.bytes
	s := scanner{b: raw, i: 1}
	for i := 0; s.next(); i++ {
		text, _ := s.item()
		op, why := parse(text)
		if why == "" {
			why = d.do(op)
		}
		if why != "" {
			d.rollback()
			d.bytes = size
			return &Error{i, why}
		}
	}
	return nil
}

// Check says whether Apply would succeed, with the error it would return, and leaves the document as it is.
func (d *Document) Check(patch []byte) error {
	text, size := d.text, d.bytes
	err := d.apply(patch)
	if err == nil {
		d.rollback()
		d.text, d.bytes = text, size
	}
	return err
}

// rollback undoes what the running patch has done.
func (d *Document) rollback() {
	for _, f := range slices.Backward(d.undo) {
		f()
	}
	d.forget()
}

// forget drops what holds on to old values.
func (d *Document) forget() {
	clear(d.undo)
	clear(d.wide)
	d.undo, d.wide = d.undo[:0], d.wide[:0]
}

func (d *Document) do(op operation) string {
	switch op.op {
	case "add":
		return d.insert(op.pathTokens, op.fresh())
	case "remove":
		_, why := d.cut(op.pathTokens)
		return why
	case "replace":
		return d.swap(op.pathTokens, op.fresh())
	case "test":
		n := d.at(op.pathTokens)
		if n == nil {
			return "path names nothing"
		}
		if !n.equal(&node{raw: op.value, depth: op.depth}) {
			return "the value is another"
		}
		return ""
	case "copy":
		n := d.at(op.fromTokens)
		if n == nil {
			return "from names nothing"
		}
		if why := d.grow(n.size()); why != "" {
			return why
		}
		return d.insert(op.pathTokens, n.clone())
	}
	return d.move(op.fromTokens, op.pathTokens)
}

func (d *Document) move(from, to []string) string {
	n := d.at(from)
	if n == nil {
		return "from names nothing"
	}
	if len(from) <= len(to) && slices.Equal(from, to[:len(from)]) {
		if len(from) == len(to) {
			return ""
		}
		return "path lies inside from"
	}
	n, why := d.cut(from)
	if why != "" {
		return why
	}
	return d.insert(to, n)
}

// grow makes room for n more bytes, or says why not.
func (d *Document) grow(n int) string {
	if d.bytes+n > MaxSize {
		d.bytes = d.root.size()
	}
	if d.bytes+n > MaxSize {
		return "the document would be too large"
	}
	d.bytes += n
	return ""
}

// at is the value that the tokens name, or nil.
func (d *Document) at(path []string) *node {
	n := d.root
	for _, t := range path {
		if n = n.child(t); n == nil {
			return nil
		}
	}
	return n
}

// parent is the opened container of the last token; it knows now that it may become as deep as v makes it.
func (d *Document) parent(path []string, v *node) (*node, string) {
	n := d.at(path[:len(path)-1])
	if n == nil {
		return nil, "path leads through nothing"
	}
	n.open()
	if n.raw != nil {
		return nil, "path leads through a scalar"
	}
	if v == nil {
		return n, ""
	}
	if len(path)+v.depth > MaxDepth {
		return nil, "nested too deeply"
	}
	if why := d.grow(v.size() + len(path[len(path)-1]) + 4); why != "" {
		return nil, why
	}
	up := d.root
	for i, t := range path {
		up.depth = max(up.depth, len(path)-i+v.depth)
		if i < len(path)-1 {
			up = up.child(t)
		}
	}
	return n, ""
}

// insert is the add of RFC 6902.
func (d *Document) insert(path []string, v *node) string {
	if len(path) == 0 {
		return d.setRoot(v)
	}
	p, why := d.parent(path, v)
	if why != "" {
		return why
	}
	last := path[len(path)-1]
	if p.obj != nil {
		if i := p.obj.find(last); i >= 0 {
			return d.setMember(p.obj, i, v)
		}
		p.obj.push(last, v)
		d.undo = append(d.undo, func() { p.obj.pop() })
		return ""
	}
	i := len(p.items)
	if last != "-" {
		var ok bool
		if i, ok = arrayIndex(last, len(p.items)+1); !ok {
			return "no such place in the array"
		}
	}
	p.items = slices.Insert(p.items, i, v)
	d.undo = append(d.undo, func() { p.items = slices.Delete(p.items, i, i+1) })
	return ""
}

func (d *Document) setRoot(v *node) string {
	if why := d.grow(v.size()); why != "" {
		return why
	}
	old := d.root
	d.root = v
	d.undo = append(d.undo, func() { d.root = old })
	return ""
}

func (d *Document) setMember(o *object, i int, v *node) string {
	old := o.members[i].val
	o.members[i].val = v
	d.undo = append(d.undo, func() { o.members[i].val = old })
	return ""
}

// swap is the replace of RFC 6902.
func (d *Document) swap(path []string, v *node) string {
	if len(path) == 0 {
		return d.setRoot(v)
	}
	p, why := d.parent(path, v)
	if why != "" {
		return why
	}
	last := path[len(path)-1]
	if p.obj != nil {
		i := p.obj.find(last)
		if i < 0 {
			return "path names nothing"
		}
		return d.setMember(p.obj, i, v)
	}
	i, ok := arrayIndex(last, len(p.items))
	if !ok {
		return "path names nothing"
	}
	old := p.items[i]
	p.items[i] = v
	d.undo = append(d.undo, func() { p.items[i] = old })
	return ""
}

// cut is the remove of RFC 6902; it returns what was there.
func (d *Document) cut(path []string) (*node, string) {
	if len(path) == 0 {
		return nil, "the root cannot be removed"
	}
	p, why := d.parent(path, nil)
	if why != "" {
		return nil, why
	}
	last := path[len(path)-1]
	if p.obj == nil {
		i, ok := arrayIndex(last, len(p.items))
		if !ok {
			return nil, "path names nothing"
		}
		old := p.items[i]
		p.items = slices.Delete(p.items, i, i+1)
		d.undo = append(d.undo, func() { p.items = slices.Insert(p.items, i, old) })
		return old, ""
	}
	i := p.obj.find(last)
	if i < 0 {
		return nil, "path names nothing"
	}
	old := d.hole(p.obj, i)
	if p.obj.twice {
		for j := range p.obj.members[:i] {
			if p.obj.members[j].val != nil && p.obj.members[j].name == last {
				d.hole(p.obj, j)
			}
		}
	}
	d.wide = append(d.wide, p.obj)
	return old, ""
}

func (d *Document) hole(o *object, i int) *node {
	old := o.members[i].val
	o.members[i].val = nil
	o.holes++
	d.undo = append(d.undo, func() {
		o.members[i].val = old
		o.holes--
		if o.index != nil {
			o.index[o.members[i].name] = i
		}
	})
	return old
}
