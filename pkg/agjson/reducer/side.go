package reducer

import (
	"bytes"
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
)

// artifactStart opens an artifact; a repeated one clears its parts.
func (s *Structure) artifactStart(ev *agjson.Event, b *agjson.ArtifactStart, dry bool) (effect, string) {
	t, reason := s.owner(ev)
	if reason != "" || dry {
		return effect{}, reason
	}
	a, fresh := s.artifact(b.ArtifactID)
	a.turn, a.sealed, a.last = t.id, false, ""
	return effect{art: a, fresh: fresh}, ""
}

func (s *Structure) artifact(id string) (a *artifact, fresh bool) {
	if a = s.arts[id]; a != nil {
		return a, false
	}
	a = &artifact{id: strings.Clone(id), order: s.next()}
	if s.arts == nil {
		s.arts = map[string]*artifact{}
	}
	s.arts[a.id] = a
	s.artSeq = append(s.artSeq, a)
	return a, true
}

// artifactDelta starts a part or goes on with the last one. An artifact outlives its turn.
func (s *Structure) artifactDelta(b *agjson.ArtifactDelta, dry bool) (effect, string) {
	a := s.arts[b.ArtifactID]
	switch {
	case a == nil:
		return effect{}, noSuch
	case a.sealed:
		return effect{}, "its artifact is sealed"
	case b.Append && a.last == "":
		return effect{}, "its artifact has no part to append to"
	case b.Append && (a.last != b.Part.Type() || !joins(b.Part)):
		return effect{}, "its part cannot be joined to the last one"
	case dry:
		return effect{}, ""
	}
	if a.last != b.Part.Type() {
		a.last = strings.Clone(b.Part.Type())
	}
	return effect{art: a}, ""
}

// joins says whether two parts of this kind can be concatenated.
func joins(b agjson.Block) bool {
	_, ok := b.(*agjson.TextBlock)
	return ok
}

func (s *Structure) artifactEnd(b *agjson.ArtifactEnd, dry bool) (effect, string) {
	a := s.arts[b.ArtifactID]
	switch {
	case a == nil:
		return effect{}, noSuch
	case a.sealed:
		return effect{}, "its artifact is sealed"
	case !dry:
		a.sealed = true
	}
	return effect{art: a}, ""
}

func (s *Structure) restoreArtifact(v *agjson.Artifact) {
	a, fresh := s.artifact(v.ArtifactID)
	if !fresh {
		return
	}
	a.turn = strings.Clone(v.TurnID)
	if n := len(v.Parts); n > 0 {
		a.last = strings.Clone(v.Parts[n-1].Type())
	}
}

func (s *Structure) stateSnapshot(b *agjson.StateSnapshot, dry bool) (effect, string) {
	doc, err := jsonpatch.New(bytes.Clone(b.Snapshot))
	if err != nil {
		return effect{}, "its snapshot is not JSON"
	}
	if !dry {
		s.parked = ""
		s.state = doc
	}
	return effect{}, ""
}

// stateDelta is RFC 6902 for an array and a node-keyed merge for an object; anything else changes nothing.
func (s *Structure) stateDelta(b *agjson.StateDelta, dry bool) (effect, string) {
	switch firstByte(b.Patch) {
	case '[':
		if s.state == nil {
			return effect{}, "there is no state to patch"
		}
		if err := patch(s.state, b.Patch, dry); err != nil {
			return effect{}, "its patch does not apply"
		}
	case '{':
		if dry {
			return effect{}, ""
		}
		if s.state == nil {
			s.state, _ = jsonpatch.New([]byte("{}"))
		}
		if err := s.state.MergeNodes(b.Patch); err != nil {
			return effect{}, "its patch does not apply"
		}
	}
	return effect{}, ""
}

func patch(d *jsonpatch.Document, p []byte, dry bool) error {
	if dry {
		return d.Check(p)
	}
	return d.Apply(p)
}

func firstByte(b []byte) byte {
	for _, c := range b {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (s *Structure) memoryWrite(b *agjson.MemoryWrite, dry bool) (effect, string) {
	key := memoryKey{scope: b.Scope}
	if b.Key != nil {
		key.key = *b.Key
	}
	m := s.memory[key]
	if b.Patch != nil {
		if m == nil {
			return effect{}, "there is no value to patch"
		}
		if err := patch(m.doc, b.Patch, dry); err != nil {
			return effect{}, "its patch does not apply"
		}
		return effect{mem: m}, ""
	}
	doc, err := jsonpatch.New(bytes.Clone(b.Value))
	if err != nil {
		return effect{}, "its value is not JSON"
	}
	if dry {
		return effect{}, ""
	}
	fresh := m == nil
	if fresh {
		m = s.addMemory(key)
	}
	m.doc = doc
	return effect{mem: m, fresh: fresh}, ""
}

func (s *Structure) addMemory(key memoryKey) *memory {
	key.key = strings.Clone(key.key)
	m := &memory{memoryKey: key}
	if s.memory == nil {
		s.memory = map[memoryKey]*memory{}
	}
	s.memory[key] = m
	s.memSeq = append(s.memSeq, m)
	return m
}

// restoreMemory replaces the records of scope thread; the others are another axis of persistence (SPEC §5).
func (s *Structure) restoreMemory(list []agjson.MemoryRecord) {
	old := s.memSeq
	s.memSeq = nil
	for _, m := range old {
		if m.scope == agjson.MemoryScopeThread {
			delete(s.memory, m.memoryKey)
		} else {
			s.memSeq = append(s.memSeq, m)
		}
	}
	for i := range list {
		if list[i].Scope == agjson.MemoryScopeThread {
			s.restoreRecord(&list[i])
		}
	}
}

func (s *Structure) restoreRecord(v *agjson.MemoryRecord) {
	key := memoryKey{scope: v.Scope}
	if v.Key != nil {
		key.key = *v.Key
	}
	doc, err := jsonpatch.New(bytes.Clone(v.Value))
	if err != nil {
		return
	}
	m := s.memory[key]
	if m == nil {
		m = s.addMemory(key)
	}
	m.doc = doc
}
