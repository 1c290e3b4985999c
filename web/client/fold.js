/**
 * The fold of SPEC §5: events in, AgReduceResult out, one event at a time. The text of the specification is kept strictly:
 * what it calls an error parks the fold with a reason, and only a snapshot un-parks it.
 *
 * @example
 * const fold = new Fold();
 * for (const event of events) fold.push(event);
 * if (fold.parked) console.warn('needs a snapshot:', fold.parked);
 * console.log(fold.result().messages);
 *
 * @module
 */

import { clone, equal } from './json.js';
import { State } from './folding/state.js';
import { turnRows } from './folding/turns.js';
import { messageRows } from './folding/messages.js';
import { blockRows } from './folding/blocks.js';
import { toolRows } from './folding/tools.js';
import { sideRows } from './folding/side.js';
import { messagesSnapshot } from './folding/snapshot.js';

/** @typedef {import('./types.js').AgEvent} AgEvent */
/** @typedef {import('./types.js').AgReduceResult} AgReduceResult */
/** @typedef {import('./types.js').Changes} Changes */

/** A row returns nothing, or why the event is an error; it then has changed nothing. */
const rows = new Map(Object.entries({
  ...turnRows,
  ...messageRows,
  ...blockRows,
  ...toolRows,
  ...sideRows,
  'messages.snapshot': messagesSnapshot,
}));

const unparking = new Set(['messages.snapshot', 'state.snapshot']);

/** An incremental fold. Events are folded as they are given: check those of another process first (see check.js). */
export class Fold {
  #state = new State();
  #last = -1;
  /** The last event that had seq 0. */
  #first;
  #parked = '';

  /**
   * Folds one event. While parked everything but a snapshot is ignored. An event of a type without a row (live-only, `ext.*`,
   * unknown) folds to nothing and uses its seq. An event with the seq of the one before it is a redelivery and is skipped, unless
   * it is another invoke's 0 after an invoke of one event.
   *
   * @param {AgEvent} ev kept by reference: it must not be changed afterwards
   * @returns {boolean} whether the event was taken: false while parked, when it parks, and for a redelivery
   */
  push(ev) {
    const snapshot = unparking.has(ev.type);
    if (this.#parked !== '' && !snapshot) return false;
    if (!snapshot) {
      if (ev.seq > this.#last + 1) return this.#park(`seq ${ev.seq} follows ${this.#last}: a gap (SPEC §5 INV-SEQ)`);
      if (ev.seq === this.#last && !(ev.seq === 0 && !equal(ev, this.#first))) return false;
    }
    const row = rows.get(ev.type);
    const why = row === undefined ? undefined : row(this.#state, ev);
    if (why !== undefined) return this.#park(`${ev.type} at seq ${ev.seq}: ${why}`);
    this.#last = ev.seq;
    if (ev.seq === 0) this.#first = ev;
    if (snapshot) this.#parked = '';
    return true;
  }

  #park(why) {
    this.#parked = why;
    return false;
  }

  /** Why a snapshot is needed; '' while live (SPEC §5 INV-SEQ). */
  get parked() {
    return this.#parked;
  }

  /** The seq of the last event folded; -1 before the first. */
  get last() {
    return this.#last;
  }

  /** Whether no open turn has an unsealed message or a preliminary tool result, so that a snapshot may be cut here. */
  get atBoundary() {
    return this.#state.atBoundary();
  }

  /**
   * @returns {AgReduceResult} a copy; later pushes do not reach it
   */
  result() {
    return clone(this.view());
  }

  /**
   * The result without the copy, for a renderer: its parts change with later pushes and must not be changed by the caller.
   *
   * @returns {AgReduceResult}
   */
  view() {
    const s = this.#state;
    const out = {
      messages: Array.from(s.messages.values(), (m) => m.message),
      artifacts: Array.from(s.artifacts.values(), (a) => a.artifact),
      memory: Array.from(s.memory.values()),
      turns: Array.from(s.turns.values(), (t) => t.record),
    };
    if (s.state !== undefined) out.state = s.state;
    return out;
  }

  /** @param {string} id @returns {import('./types.js').AgMessage|undefined} the live message */
  message(id) {
    return this.#state.messages.get(id)?.message;
  }

  /** @param {string} id @returns {boolean} whether blocks may still join the message */
  isOpenMessage(id) {
    const m = this.#state.messages.get(id);
    return m?.seal === 'started';
  }

  /** @param {string} id @returns {import('./types.js').AgTurnRecord|undefined} the live record */
  turn(id) {
    return this.#state.turns.get(id)?.record;
  }

  /** @param {string} id @returns {boolean} whether the turn is closed; true for one that is not known */
  isClosedTurn(id) {
    return this.#state.turns.get(id)?.closed ?? true;
  }

  /** @returns {string[]} of all messages, in order */
  messageIds() {
    return [...this.#state.messages.keys()];
  }

  /** @returns {string[]} of all turns, in order */
  turnIds() {
    return [...this.#state.turns.keys()];
  }

  /** @param {string} id @returns {import('./types.js').AgArtifact|undefined} the live artifact */
  artifact(id) {
    return this.#state.artifacts.get(id)?.artifact;
  }

  /** @param {string} turnId @returns {import('./types.js').AgArtifact[]} the live artifacts of a turn */
  artifactsOf(turnId) {
    return Array.from(this.#state.artifacts.values(), (a) => a.artifact).filter((a) => a.turnId === turnId);
  }

  /**
   * What is known of a tool call: its block, its result so far, the arguments as far as they have streamed ('' once they are
   * assembled), and its turn.
   *
   * @param {string} toolCallId
   * @returns {{call: any|undefined, result: any|undefined, streamed: string, turnId: string|undefined}}
   */
  tool(toolCallId) {
    const call = this.#state.calls.get(toolCallId);
    return { call: call?.block, result: this.#state.results.get(toolCallId)?.block, streamed: call?.scratch ?? '', turnId: call?.owner.message.turnId };
  }

  /**
   * What has changed since the last call.
   *
   * @returns {Changes}
   */
  takeChanges() {
    return this.#state.takeChanges();
  }
}

/**
 * The batch surface of SPEC §5.
 *
 * @param {Iterable<AgEvent>} events
 * @returns {{result: AgReduceResult, needsResync: boolean, why: string}}
 */
export function reduce(events) {
  const fold = new Fold();
  for (const ev of events) fold.push(ev);
  return { result: fold.result(), needsResync: fold.parked !== '', why: fold.parked };
}
