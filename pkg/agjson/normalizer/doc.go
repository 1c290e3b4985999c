// Package normalizer turns one invoke of an agent framework into AgJSON events (SPEC §8.0). It holds what all frameworks share:
// the Engine, which knows what is open and therefore stamps `seq`, resolves owners, opens turns and messages that the
// framework left out, cuts cumulative text into deltas, and closes what is open at the end (SPEC §5 INV-SEQ, INV-OWNER,
// INV-TURN, INV-MSG, INV-BLOCK, INV-DELTA, INV-FLUSH). What a framework says lives in a facet, one package below this one each.
//
// A facet is a decode, a flat switch, and calls on its Engine:
//
//	func New(host normalizer.Host) *normalizer.Runner {
//		return normalizer.Run(&facet{Engine: normalizer.NewEngine("acme", host)})
//	}
//
//	func (f *facet) Frame(v agjson.Value) {
//		switch v.Get("type").Str() {
//		case "text":
//			f.TextDelta(f.block, f.message, v.Get("text").Str())
//		default:
//			f.Unparsed(v)
//		}
//	}
//
// # What the engine guarantees
//
// Whatever a facet calls, in whatever order, the events keep the fold of SPEC §5 from parking, as far as one invoke can know:
//
//   - A block goes to an open message of an open turn. Where the facet names none, one is opened; where it names a sealed
//     one, a continuation `<id>~2` of it is opened; where its turn is closed, a follow-on turn `<id>:turn:2` is (that of a
//     subagent: `<id>~2`).
//   - A block id that was used before becomes `<id>~2`, and later events of the facet's id follow it.
//   - A turn has one terminal. Before it its open messages are sealed and its nested turns ended.
//   - What cannot be placed leaves as ext.<vendor>.refused with a reason and the event: a second terminal, a second start of a
//     tool call, arguments of an unknown tool call, a record of a closed turn. Nothing is dropped in silence.
//   - Every event that has an owner names it in `turnId`.
//
// Ids that a framework could give again in another invoke of the thread are qualified by the facet, see Engine.Qualify.
//
// A tool result for a call that this invoke did not open is passed on, adopted by a message of its own: the call may be one of
// an earlier invoke that this one resumes. Whether it is, only the log knows.
//
// # What it refuses to do
//
// There is no error result, no context, no clock, no I/O and no goroutine here. Equal frames give equal events.
package normalizer
