package reducer

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
)

// surface is a render surface that has not ended, compacted: its start, one update, one data model. Components are opaque
// (SPEC §0.2) but for this: an update whose components are a list of objects with a string `id` replaces earlier ones of
// the same id, as A2UI has it. What does not look so, or a data-model path that leads nowhere, is kept as it came.
type surface struct {
	at     int
	start  agjson.Event
	update agjson.Event // the first update, as the frame of the compacted one
	comps  []component
	byID   map[string]int // in comps
	model  *jsonpatch.Document
	gone   bool           // the model was deleted
	pushed *agjson.Event  // the first data-model push, as the frame of the compacted one
	rest   []agjson.Event // updates and pushes from the first on that cannot be compacted
}

type component struct {
	id  string
	raw []byte
}

func (l *liveFacts) surfaceStart(ev *agjson.Event, b *agjson.UISurfaceStart) {
	if l.bySurf == nil {
		l.bySurf = map[string]*surface{}
	}
	l.surfaceEnd(b.SurfaceID)
	f := &surface{start: *ev, at: len(l.surfaces)}
	l.surfaces = append(l.surfaces, f)
	l.bySurf[b.SurfaceID] = f
}

func (l *liveFacts) surfaceEnd(id string) bool {
	f := l.bySurf[id]
	if f == nil {
		return false
	}
	delete(l.bySurf, id)
	l.surfaces[f.at] = nil
	if l.ended++; l.ended > 8 && l.ended > len(l.surfaces)/2 {
		l.surfaces = slices.DeleteFunc(l.surfaces, func(f *surface) bool { return f == nil })
		for i, f := range l.surfaces {
			f.at = i
		}
		l.ended = 0
	}
	return true
}

func (l *liveFacts) surfaceUpdate(ev *agjson.Event, b *agjson.UISurfaceUpdate) bool {
	f := l.bySurf[b.SurfaceID]
	if f == nil {
		return false
	}
	list, ok := components(b.Components)
	if !ok || f.rest != nil {
		f.rest = append(f.rest, *ev)
		return true
	}
	if f.byID == nil {
		f.update, f.byID = *ev, map[string]int{}
	}
	for _, c := range list {
		if i, ok := f.byID[c.id]; ok {
			f.comps[i] = c
			continue
		}
		f.byID[c.id] = len(f.comps)
		f.comps = append(f.comps, c)
	}
	return true
}

// components reads a list of objects that each have a string id.
func components(raw []byte) (list []component, ok bool) {
	v, err := agjson.ParseValue(raw)
	if err != nil || v.Kind() != agjson.KindList {
		return nil, false
	}
	for _, item := range v.Items {
		id := item.Get("id")
		if id.Kind() != agjson.KindString {
			return nil, false
		}
		list = append(list, component{id: strings.Clone(id.Str()), raw: bytes.Clone(item.Raw())})
	}
	return list, true
}

func (l *liveFacts) dataModel(ev *agjson.Event, b *agjson.UIDataModel) bool {
	f := l.bySurf[b.SurfaceID]
	if f == nil {
		return false
	}
	if f.rest != nil || !f.push(b) {
		f.rest = append(f.rest, *ev)
		return true
	}
	if f.pushed == nil {
		c := *ev
		f.pushed = &c
	}
	return true
}

// push applies a data-model push to the model so far; false means that it does not fit.
func (f *surface) push(b *agjson.UIDataModel) bool {
	path := ""
	if b.Path != nil && *b.Path != "/" {
		path = *b.Path
	}
	if path == "" {
		f.model, f.gone = nil, b.Value == nil
		if b.Value == nil {
			return true
		}
		var err error
		f.model, err = jsonpatch.New(bytes.Clone(b.Value))
		return err == nil
	}
	d := f.model
	if d == nil {
		base := []byte("{}")
		if start := f.start.Body.(*agjson.UISurfaceStart); f.pushed == nil && start.DataModel != nil {
			base = bytes.Clone(start.DataModel)
		}
		var err error
		if d, err = jsonpatch.New(base); err != nil {
			return false
		}
	}
	if b.Value != nil && d.Set(path, b.Value) != nil {
		return false
	}
	if b.Value == nil {
		_ = d.Remove(path) // what is not there needs no removal
	}
	f.model, f.gone = d, false
	return true
}

func (f *surface) events(dst []agjson.Event) []agjson.Event {
	dst = append(dst, f.start)
	if f.byID != nil {
		ev := f.update
		raw := []byte{'['}
		for i, c := range f.comps {
			if i > 0 {
				raw = append(raw, ',')
			}
			raw = append(raw, c.raw...)
		}
		ev.Body = &agjson.UISurfaceUpdate{SurfaceID: f.update.Body.(*agjson.UISurfaceUpdate).SurfaceID, Components: append(raw, ']')}
		dst = append(dst, ev)
	}
	if f.pushed != nil {
		ev := *f.pushed
		body := &agjson.UIDataModel{SurfaceID: f.pushed.Body.(*agjson.UIDataModel).SurfaceID}
		if !f.gone {
			body.Value = f.model.Bytes()
		}
		ev.Body = body
		dst = append(dst, ev)
	}
	return append(dst, f.rest...)
}
