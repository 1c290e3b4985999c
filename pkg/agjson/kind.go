package agjson

import "strings"

// pass skips the value of a discriminant that is known already.
func (d *decoder) pass() error {
	if !d.skip() {
		return d.syntax()
	}
	return nil
}

// kind enters the object that comes and finds its discriminant, the member disc. Where that stands first, as an encoder
// should put it, it is passed and first is false; else the object is to be read from its first member on.
func (d *decoder) kind(disc string, optional bool) (kind string, first bool, err error) {
	if err := d.enter(); err != nil {
		return "", false, err
	}
	start, depth := d.i, d.depth
	for first = true; ; first = false {
		name, more, ok := d.nextName(first)
		if !ok {
			return "", false, d.syntax()
		}
		if !more && !optional {
			return "", false, d.wrongAt(disc, "missing")
		}
		if !more {
			break
		}
		if name != disc {
			if !d.skip() {
				return "", false, within(d.syntax(), name)
			}
			continue
		}
		if kind, err = d.text(); err != nil {
			return "", false, within(err, disc)
		}
		if optional && kind == "" {
			return "", false, d.wrongAt(disc, unknownKind)
		}
		if first {
			return kind, false, nil
		}
		break
	}
	d.i, d.depth = start, depth
	return kind, true, nil
}

// surfaceKind is kind for a surface interaction, which has two discriminants: "surface", and one that depends on it. A
// surface of a later version has its name alone.
func (d *decoder) surfaceKind() (kind string, discs []string, err error) {
	start, depth := d.i, d.depth
	surface, _, err := d.kind("surface", false)
	d.i, d.depth = start, depth
	if err != nil {
		return "", nil, err
	}
	inner := "method"
	switch Surface(surface) {
	case SurfaceA2ui:
		inner = "a2uiMessage"
	case SurfaceMcpApp, SurfaceOpenaiApp:
	default:
		if strings.Contains(surface, "/") {
			return "", nil, d.wrongAt("surface", "want a kebab-case name")
		}
		return surface, []string{"surface"}, d.enter()
	}
	kind, _, err = d.kind(inner, false)
	d.i, d.depth = start, depth
	if err != nil {
		return "", nil, err
	}
	return surface + "/" + kind, []string{"surface", inner}, d.enter()
}
