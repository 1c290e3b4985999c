package vercel

import (
	"encoding/json"

	"github.com/agwire/agwire/pkg/agjson"
	"github.com/agwire/agwire/pkg/agjson/normalizer"
)

// aside says a part that is whole by itself. After the turn has ended it is a follow-on turn by itself, over at once: an
// application may write parts after the `finish` of the run that it merged.
func (f *facet) aside(say func()) {
	late := f.RootTurn() == "" && f.Opened()
	say()
	if turn := f.RootTurn(); late && turn != "" {
		f.close()
		f.CloseTurn(turn, &agjson.TurnDone{Outcome: &agjson.SuccessOutcome{}, FinishReason: agjson.FinishReasonOther})
		f.run = run{}
	}
}

func (f *facet) source(v agjson.Value) {
	id := idOf(v.Get("sourceId"))
	if id == "" {
		id = idOf(v.Get("id"))
	}
	payload := grounding(v)
	if id == "" || payload == nil {
		f.Unparsed(v)
		return
	}
	f.aside(func() {
		f.Emit(agjson.Event{TurnID: f.OpenTurn("", nil), Body: &agjson.SourceEvent{
			SourceID: id, Source: payload, ProviderMetadata: bag(v.Get("providerMetadata")),
		}})
	})
}

func (f *facet) file(kind string, v agjson.Value) {
	block := fileBlock(v)
	if block == nil {
		f.Carry(kind, v)
		return
	}
	f.aside(func() { f.ContentBlock(f.ensureMessage(), block) })
}

// custom is a provider's own content, which goes back to it on the next call: kept, though no block has its shape.
func (f *facet) custom(v agjson.Value) {
	if v.Get("kind").StrPtr() == nil {
		f.Carry("custom", v)
		return
	}
	f.aside(func() { f.ProviderRaw(f.ensureMessage(), "vercel", v.Raw()) })
}

// data is a part of the application's. One with an id takes the place of the one before it of that name and id, wherever in the
// turn that is; a transient one is shown and not kept. The fold finds a block by its id among those of all turns, while the
// application's is its own within a message; so the block's is `<turnId>:<name>:<id>`, and the application's in its `_meta`.
func (f *facet) data(name string, v agjson.Value) {
	block := &agjson.DataBlock{Name: name, Data: v.Get("data").Raw()}
	id := v.Get("id")
	if id.Set() {
		block.Meta = note("id", id.Raw())
	}
	if v.Get("transient").Bool() {
		if f.RootTurn() == "" && f.Opened() {
			f.Carry("data-"+name, v)
			return
		}
		f.OpenTurn("", nil)
		block.Transient = new(true)
		f.Emit(agjson.Event{MessageID: f.message, Body: &agjson.ContentBlock{Block: block, Transient: new(true)}})
		return
	}
	f.aside(func() {
		own := idOf(id)
		if own == "" {
			f.ContentBlock(f.ensureMessage(), block)
			return
		}
		block.ID = new(f.OpenTurn("", nil) + ":" + name + ":" + own)
		f.ContentBlock(f.placeOf(*block.ID), block)
	})
}

// placeOf is the message that holds the data part, which stays open for it.
func (f *facet) placeOf(block string) string {
	if id, ok := f.places[block]; ok && f.MessageOpen(id) {
		return id
	}
	if f.places == nil {
		f.places = map[string]string{}
	}
	id := f.ensureMessage()
	f.places[block] = id
	for _, h := range f.held {
		if h.id == id {
			return id
		}
	}
	f.held = append(f.held, held{id: id})
	return id
}

func (f *facet) messageMetadata(v agjson.Value) {
	meta := v.Get("messageMetadata")
	switch {
	case !meta.Exists():
		f.Unparsed(v)
	case f.RootTurn() == "" && f.Opened():
		f.Carry("message-metadata", v)
	default:
		f.OpenTurn("", nil)
		f.addMetadata("message-metadata", v, asObject("messageMetadata", meta))
	}
}

// steered is a message of the user's that joined the run.
type steered struct {
	id     string
	meta   json.RawMessage
	blocks []agjson.Block
}

// steering is a message of the user's between two steps; one that comes within a step waits for its end.
func (f *facet) steering(v agjson.Value) {
	list := v.Get("parts")
	if !list.Exists() {
		list = v.Path("message", "content")
	}
	s := steered{id: idOf(v.Get("id"))}
	if n := v.Get("stepNumber"); n.Set() {
		s.meta = note("stepNumber", n.Raw())
	}
	if list.Kind() == agjson.KindString {
		s.blocks = append(s.blocks, &agjson.TextBlock{Text: list.Str()})
	}
	for _, p := range list.Items {
		s.blocks = append(s.blocks, userBlock(p))
	}
	if len(s.blocks) == 0 {
		f.Unparsed(v)
		return
	}
	if f.step != "" || f.message != "" {
		f.steered = append(f.steered, s)
		return
	}
	f.aside(func() { f.say(s) })
}

func userBlock(p agjson.Value) agjson.Block {
	switch p.Get("type").Str() {
	case "text":
		if t := p.Get("text").StrPtr(); t != nil {
			return &agjson.TextBlock{Text: *t, ProviderMetadata: bag(p.Get("providerMetadata"))}
		}
	case "file":
		if b := fileBlock(p); b != nil {
			return b
		}
	}
	return &agjson.ProviderRawBlock{Vendor: "vercel", Raw: p.Raw()}
}

// say says a whole message of the user's.
func (f *facet) say(s steered) {
	turn := f.OpenTurn("", nil)
	id := s.id
	if id == "" {
		id = "steering"
	}
	msg := f.OpenMessage(turn, turn+":"+id, &agjson.MessageStart{Role: agjson.RoleUser})
	if s.meta != nil {
		f.Emit(agjson.Event{MessageID: msg, Body: &agjson.MessageMetadata{Metadata: s.meta}})
	}
	for _, b := range s.blocks {
		t, ok := b.(*agjson.TextBlock)
		if !ok {
			f.ContentBlock(msg, b)
			continue
		}
		block := f.Derive(msg, "text")
		f.TextStart(block, msg, &agjson.TextStart{ProviderMetadata: t.ProviderMetadata})
		f.TextDelta(block, msg, t.Text)
		f.TextEnd(block, msg, nil)
	}
	f.CloseMessage(msg, nil)
}

var _ normalizer.Facet = (*facet)(nil)
