/**
 * One thread on a client's connection: its cursor, its fold, and what is done when the two and the server disagree.
 *
 * @module
 */

import { Backoff } from './backoff.js';
import { checkEvent } from './check.js';
import { Emitter } from './emitter.js';
import { Fold } from './fold.js';
import { Live } from './live.js';

/** How long the cursor may stay behind a head that was told before the thread is asked for again, in milliseconds. */
const grace = 2_000;
/** Refusals that asking again does not change; after any other the thread is asked for ever more rarely. */
const permanent = new Set(['bad_thread', 'bad_cursor', 'not_allowed']);
/** After so many heartbeats without an answer to a subscribe, or without the pair after a reset, the connection is given up. */
const patience = 3;

/**
 * @typedef {import('./types.js').AgEvent} AgEvent
 * @typedef {'now'|'start'|'live'|string} From a place to start at, or a cursor
 *
 * @typedef {object} SubscriptionEvents
 * @property {{events: AgEvent[], cursor: string, pair: boolean}} events a batch, after it was folded; without what was known already
 * @property {undefined} change the fold, the live facts or the status changed
 * @property {{reason: string}} reset what was known is being replaced
 * @property {{cursor: string, open: boolean}} head the head that a heartbeat told
 * @property {{why: string, last: number}} gap ordinals were missing; the thread is asked for again
 * @property {{why: string}} diverged the fold parked or an event was refused; a new one is asked for
 * @property {{seq: unknown, type: unknown, path: string, why: string}} rejected an event was not what SPEC §4 says (SPEC §10.20)
 * @property {{code: string, message: string}} error the server refused the subscription; where it may change its mind it is asked again
 *
 * @typedef {object} Link what a subscription uses of its connection
 * @property {(from: string) => void} subscribe asks for the thread; events before the answer belong to an older subscription
 * @property {() => void} giveUp the connection does not answer
 * @property {{setTimeout: Function, clearTimeout: Function}} timers
 * @property {() => number} random
 */

/** @extends {Emitter<SubscriptionEvents>} */
export class Subscription extends Emitter {
  /** The fold so far; null where there is nothing to fold on (`live`, a cursor without a fold). @type {Fold|null} */
  fold;
  live = new Live();
  /** Whether the thread has an open turn, as the last head told. @type {boolean|undefined} */
  open = undefined;
  /** @type {'subscribing'|'live'|'absent'|'failed'} */
  status = 'subscribing';
  counts = { resets: 0, gaps: 0, diverged: 0, behind: 0, rejected: 0, events: 0 };
  /** The reason of the last reset, '' before the first. */
  lastReset = '';
  #from;
  #cursor = '';
  /** The last ordinal taken; undefined where any may be the first. @type {number|undefined} */
  #last;
  #awaitingPair = false;
  #suspended = false;
  #unanswered = 0;
  #missing = 0;
  #link;
  #timer;
  #backoff;
  #closed = false;

  /**
   * Made by Client.subscribe.
   *
   * @param {string} thread
   * @param {{from?: From, fold?: Fold|null}} options
   * @param {Link} link
   */
  constructor(thread, { from = 'now', fold }, link) {
    super();
    this.thread = thread;
    this.#from = from;
    this.#link = link;
    this.#backoff = new Backoff({ base: 1_000, cap: 60_000, random: link.random });
    const base = from === 'now' || from === 'start';
    this.fold = fold === null ? null : (fold ?? (base ? new Fold() : null));
    this.#last = this.fold?.last ?? (base ? -1 : undefined);
    if (!base && from !== 'live') this.#cursor = from;
  }

  /** The last cursor received: with it the thread is resumed; '' before the first. */
  get cursor() {
    return this.#cursor;
  }

  /** Whether a reset was announced and what replaces the fold has not come yet; the old one still stands. */
  get resetting() {
    return this.#awaitingPair;
  }

  /** Asks for the thread from where it is known: on a new connection, and whenever it must be asked for again. */
  ask() {
    this.#stopTimer();
    if (this.#closed || this.status === 'failed') return;
    if (this.#suspended && this.#cursor === '' && this.#from === 'start') this.#begin(new Fold(), new Live());
    this.#suspended = false;
    this.#awaitingPair = false;
    this.#unanswered = 0;
    this.#missing = 0;
    if (this.status !== 'live') this.status = 'subscribing';
    this.#link.subscribe(this.#cursor === '' ? this.#from : this.#cursor);
  }

  /** Forgets what is folded once its replacement is here, and asks for the whole thread. */
  #askAnew(why) {
    this.counts.diverged++;
    this.#cursor = '';
    if (this.#from === 'live') this.#last = undefined;
    else if (this.#from !== 'start') this.#from = 'now';
    this.emit('diverged', { why });
    const wait = this.#backoff.next();
    this.#askLater(this.#backoff.attempt === 1 ? 0 : wait);
  }

  /** Takes nothing until the thread is asked for again. */
  #askLater(wait) {
    this.#suspended = true;
    this.#startTimer(() => this.ask(), wait);
  }

  #begin(fold, live) {
    this.fold = fold;
    this.live = live;
    this.#last = fold.last;
  }

  /** @param {{cursor: string}} message */
  subscribed({ cursor }) {
    if (cursor === '') {
      this.status = 'absent';
    } else {
      this.status = 'live';
      if (this.#from === 'live' && this.#cursor === '') this.#cursor = cursor;
    }
    this.emit('change', undefined);
  }

  /** @param {{reason: string}} message */
  reset({ reason }) {
    if (this.#suspended) return;
    this.#awaitingPair = true;
    this.counts.resets++;
    this.lastReset = reason;
    this.emit('reset', { reason });
    this.emit('change', undefined);
  }

  /** @param {{events: AgEvent[], cursor: string, pair?: boolean}} batch */
  events({ events, cursor, pair = false }) {
    if (this.#suspended) return;
    const taken = pair ? this.#takePair(events) : this.#takeBatch(events);
    if (taken === undefined) return;
    if (cursor !== '') this.#cursor = cursor;
    this.status = 'live';
    this.counts.events += taken.length;
    this.emit('events', { events: taken, cursor: this.#cursor, pair });
    this.emit('change', undefined);
  }

  /** A pair is one unit: it replaces the fold when all of it is folded, or not at all. */
  #takePair(events) {
    const fold = this.fold === null ? null : new Fold();
    const live = new Live();
    for (const ev of events) {
      const why = this.#fold(fold, live, ev);
      if (why !== undefined) return void this.#askAnew(why);
    }
    this.#awaitingPair = false;
    if (fold !== null) {
      this.#begin(fold, live);
    } else {
      this.live = live;
      this.#last = events.length === 0 ? undefined : events[events.length - 1].seq;
    }
    return events;
  }

  #takeBatch(events) {
    if (this.#awaitingPair) return void this.#askAgain('a batch came where the pair was due');
    let last = this.#last;
    const known = last ?? -1;
    const fresh = events.filter((ev) => !(ev?.seq <= known));
    for (const ev of fresh) {
      if (last !== undefined && ev?.seq > last + 1) return void this.#askAgain(`ordinal ${ev.seq} follows ${last}`);
      last = ev?.seq;
    }
    for (const ev of fresh) {
      const why = this.#fold(this.fold, this.live, ev);
      if (why !== undefined) return void this.#askAnew(why);
      this.#last = ev.seq;
    }
    return fresh;
  }

  /** @returns {string|undefined} why the event could not be folded */
  #fold(fold, live, ev) {
    const fault = checkEvent(ev);
    if (fault !== undefined) {
      this.counts.rejected++;
      this.emit('rejected', { seq: ev?.seq, type: ev?.type, ...fault });
      return `an event is malformed at ${fault.path}: ${fault.why}`;
    }
    live.push(ev);
    if (fold === null) return undefined;
    fold.push(ev);
    return fold.parked === '' ? undefined : fold.parked;
  }

  /** Ordinals are missing: what came after the cursor is asked for again. */
  #askAgain(why) {
    this.counts.gaps++;
    this.emit('gap', { why, last: this.#last ?? -1 });
    this.ask();
  }

  /**
   * What a heartbeat says of the thread; nothing where it does not name it.
   *
   * @param {{cursor: string, open: boolean}|undefined} head
   * @param {boolean} answered whether the last subscribe was answered
   */
  heartbeat(head, answered) {
    if (this.status === 'failed' || this.#suspended) return;
    if (!answered || this.#awaitingPair) {
      if (++this.#unanswered >= patience) this.#link.giveUp();
      return;
    }
    this.#unanswered = 0;
    if (head === undefined) {
      if (++this.#missing >= 2) this.ask();
      return;
    }
    this.#missing = 0;
    this.open = head.open;
    this.emit('head', head);
    if (head.cursor === this.#cursor) {
      this.#stopTimer();
      this.#backoff.reset();
    } else if (head.cursor !== '' && this.#timer === undefined) {
      this.#watch(this.#cursor);
    }
    this.emit('change', undefined);
  }

  /** Asks again if the cursor is still where it was when a later head was told. */
  #watch(cursor) {
    this.#startTimer(() => {
      if (this.#cursor !== cursor) return;
      this.counts.behind++;
      this.ask();
    }, grace);
  }

  /** @param {{code: string, message: string}} error */
  refused({ code, message }) {
    if (code === 'bad_cursor' && this.#cursor !== '') {
      this.#askAnew('the server does not know the cursor');
      return;
    }
    if (permanent.has(code)) {
      this.status = 'failed';
      this.#stopTimer();
    } else {
      this.status = 'subscribing';
      this.#askLater(this.#backoff.next());
    }
    this.emit('error', { code, message });
    this.emit('change', undefined);
  }

  /** The connection is gone: what waited for an answer waits no more. */
  disconnected() {
    this.#stopTimer();
    this.emit('change', undefined);
  }

  /** Ends it for good; made by Client.unsubscribe. */
  close() {
    this.#closed = true;
    this.#stopTimer();
  }

  #startTimer(run, wait) {
    this.#stopTimer();
    this.#timer = this.#link.timers.setTimeout(() => {
      this.#timer = undefined;
      run();
    }, wait);
  }

  #stopTimer() {
    if (this.#timer !== undefined) this.#link.timers.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
