package normalizer

import (
	"strings"

	"github.com/agwire/agwire/pkg/agjson"
)

func (e *Engine) artifactStart(ev agjson.Event, b *agjson.ArtifactStart) {
	t := e.place(&ev)
	b.ThreadID = e.Thread()
	e.artifacts[strings.Clone(b.ArtifactID)] = true
	ev.TurnID = t.id
	e.put(ev)
}

// artifactPart places a part or the end of an artifact that is open.
func (e *Engine) artifactPart(ev agjson.Event, id string, end bool) {
	if !e.artifacts[id] {
		e.refuse("no-open-artifact", ev)
		return
	}
	if end {
		e.artifacts[id] = false
	}
	e.mark(&ev)
	e.put(ev)
}
