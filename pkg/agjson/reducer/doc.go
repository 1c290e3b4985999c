// Package reducer folds AgJSON events into an AgReduceResult (SPEC §5), strictly to the text of the specification.
//
//	r := reducer.New()
//	for _, line := range lines {
//		ev, err := agjson.Decode(line)
//		if err != nil {
//			return err // malformed input never reaches the fold (SPEC §5 trust boundary)
//		}
//		r.Push(ev)
//	}
//	if why := r.Parked(); why != "" {
//		return fmt.Errorf("a snapshot is needed: %s", why)
//	}
//	result := r.Result()
//
// Every error that the text names parks the fold, with a reason a caller can read: a forward gap, a block for a sealed
// message or a closed turn, a delta for a block that is not there, an id that is taken, an owner that cannot be resolved.
// A parked fold takes nothing until a messages.snapshot or a state.snapshot (SPEC §5 INV-SEQ).
//
// A Structure is the same fold without content. Who writes a log asks its Admit about each event before writing it, so that
// the log never parks a reader.
//
// A Snapshot is what a late reader needs (boundary, open part, live facts); Snapshot.Pair is the same as events, and Import
// goes on from it. Changes says what of it is new, in time proportional to what is new.
//
// The package has no clock, no I/O and no goroutine, and repairs nothing.
//
// # Where the text leaves a choice
//
//   - An event with the seq of the one before is a redelivery and folds to nothing. An event with seq 0 after a different
//     event with seq 0 is another invoke's first (SPEC §5 INV-SEQ names the 0-restart).
//   - An omitted turnId falls to the message named by messageId, else to the sole open turn; with several open it parks.
//   - A block goes to the open message of its (turn, candidate), whatever messageId says, but a messageId that names a sealed
//     message parks.
//   - A tool.done needs no call in the fold (a resumed run brings results of calls that another log holds), but a call takes
//     one final result.
//   - A repeated turn.start opens a closed turn again: what follows attaches under it.
//   - A sealed block or artifact takes no delta and no second seal. reasoning.opaque may follow reasoning.end.
//   - reasoning.start with a partIndex for a block that is open opens a part of it; a delta without partIndex goes on with the
//     part written last; parts stand in the order of their index.
//   - content.block replaces by the event's id, else by a data block's id, else by a tool-call's toolCallId, anywhere in the
//     fold; where that block is sealed it parks.
//   - artifact.delta with append joins text to text; other kinds cannot be joined and park.
//   - A final tool.done replaces its preliminary one wholesale, but _meta survives a final that has none.
package reducer
