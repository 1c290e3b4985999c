/**
 * A server of docs/protocol.md in memory, for tests and for looking at the page: it keeps whole logs, and it can be told to
 * misbehave. It is no fanout: nothing is bounded, nothing is durable.
 *
 * @module
 */

import { Fold } from '../fold.js';
import { clone } from '../json.js';
import { Live } from '../live.js';

const notInOpenPart = /^(state|artifact|ext|ui)\.|^(memory\.write|messages\.snapshot|hitl\.ask|error|host\.context)$/;

/**
 * The pair of DESIGN.md §4 for a client that joins after all of events.
 *
 * @param {any[]} events a thread's log from ordinal 0
 * @returns {any[]} a snapshot at the last boundary, what is true beside it, and the events since; the last has the log's last seq
 */
export function pairOf(events) {
  const fold = new Fold();
  const live = new Live();
  let cut = 0;
  let at = new Fold().result();
  events.forEach((ev, i) => {
    fold.push(ev);
    live.push(ev);
    if (!fold.atBoundary) return;
    cut = i + 1;
    at = undefined;
  });
  at ??= foldOf(events.slice(0, cut)).result();
  const now = fold.result();
  const pair = [
    { type: 'messages.snapshot', messages: at.messages, turns: at.turns, artifacts: now.artifacts, memory: now.memory.filter((m) => m.scope === 'thread') },
  ];
  if (now.state !== undefined) pair.push({ type: 'state.snapshot', snapshot: now.state });
  for (const { threadId, ...record } of now.memory) if (record.scope !== 'thread') pair.push({ type: 'memory.write', ...record });
  for (const ev of [...live.asks.values(), ...live.surfaces.values()]) pair.push(clone(ev));
  pair.push(...events.slice(cut).filter((ev) => !notInOpenPart.test(ev.type)).map(clone));
  const last = events.length === 0 ? 0 : events[events.length - 1].seq;
  pair.forEach((ev, i) => {
    ev.seq = last - pair.length + 1 + i;
  });
  return pair;
}

function foldOf(events) {
  const fold = new Fold();
  for (const ev of events) fold.push(ev);
  return fold;
}

/** Every log by its thread, and every connection. */
export class FakeFanout {
  /** @type {Map<string, {epoch: number, events: any[], first: number, updatedAt: number}>} */
  threads = new Map();
  /** @type {Set<Peer>} */
  peers = new Set();
  /** Every client message, in order of arrival. @type {any[]} */
  received = [];

  /** @param {{heartbeat?: number, now?: () => number}} [options] heartbeat in seconds, as `hello` tells it */
  constructor({ heartbeat = 15, now = Date.now } = {}) {
    this.heartbeat = heartbeat;
    this.now = now;
  }

  /** Appends events to a thread's log, which begins with an empty snapshot, and delivers them as one batch. */
  append(thread, ...events) {
    let log = this.threads.get(thread);
    if (log === undefined) {
      log = { epoch: 1, events: [], first: 0, updatedAt: 0 };
      this.threads.set(thread, log);
      events = [{ type: 'messages.snapshot', messages: [], turns: [], artifacts: [], memory: [] }, ...events];
    }
    const stamped = events.map((ev, i) => ({ ...ev, seq: log.events.length + i }));
    log.events.push(...stamped);
    log.updatedAt = this.now();
    for (const peer of this.peers) peer.deliver(thread, stamped);
  }

  /** The thread begins anew in another epoch; who follows it is told so. */
  rebuild(thread, ...events) {
    const log = this.threads.get(thread);
    log.epoch++;
    log.events = [];
    this.append(thread, { type: 'messages.snapshot', messages: [], turns: [], artifacts: [], memory: [] }, ...events);
  }

  /** Forgets everything below an ordinal, as a log's age limit does. */
  trim(thread, first) {
    this.threads.get(thread).first = first;
  }

  cursor(thread) {
    const log = this.threads.get(thread);
    return log === undefined ? '' : `${log.epoch}-${log.events.length - 1}`;
  }

  isOpen(thread) {
    const turns = new Map();
    for (const ev of this.threads.get(thread)?.events ?? []) {
      if (ev.type === 'turn.start') turns.set(ev.turnId, true);
      if (/^turn\.(done|error|abort)$/.test(ev.type)) turns.delete(ev.turnId);
    }
    return turns.size > 0;
  }

  list({ limit = 50, after } = {}) {
    const all = [...this.threads].sort(([a, x], [b, y]) => y.updatedAt - x.updatedAt || (a < b ? -1 : 1));
    const from = after === undefined ? 0 : Number(after);
    const page = all.slice(from, from + limit).map(([thread, log]) => this.#info(thread, log));
    return from + limit < all.length ? { threads: page, next: String(from + limit) } : { threads: page };
  }

  #info(thread, log) {
    return { thread, cursor: this.cursor(thread), open: this.isOpen(thread), updatedAt: new Date(log.updatedAt).toISOString() };
  }

  get(thread) {
    const log = this.threads.get(thread);
    if (log === undefined) return undefined;
    return { thread, cursor: this.cursor(thread), open: this.isOpen(thread), result: foldOf(log.events).result() };
  }

  /**
   * @param {(message: any) => void} send to the client
   * @param {(code: number) => void} close
   * @returns {Peer}
   */
  connect(send, close) {
    const peer = new Peer(this, send, close);
    this.peers.add(peer);
    send({ op: 'hello', protocol: 'agwire.v1', heartbeat: this.heartbeat });
    return peer;
  }

  beat() {
    for (const peer of this.peers) peer.beat();
  }
}

/** One connection. Its `faults` say what goes wrong next. */
export class Peer {
  /** Threads followed, and from which ordinal on. @type {Map<string, number>} */
  following = new Map();
  faults = { dropBatches: 0, mute: false, repeat: false };
  #fanout;
  #send;
  #close;

  constructor(fanout, send, close) {
    this.#fanout = fanout;
    this.#send = send;
    this.#close = close;
  }

  /** @param {any} message of the client */
  receive(message) {
    this.#fanout.received.push(message);
    switch (message.op) {
      case 'subscribe':
        return this.#subscribe(message.thread, message.from ?? 'now');
      case 'unsubscribe':
        this.following.delete(message.thread);
        return this.send({ op: 'unsubscribed', thread: message.thread });
      case 'ping':
        return this.send({ op: 'pong' });
      default:
        return this.close(4400);
    }
  }

  #subscribe(thread, from) {
    const log = this.#fanout.threads.get(thread);
    const cursor = this.#fanout.cursor(thread);
    if (log === undefined) {
      this.following.set(thread, 0);
      return this.send({ op: 'subscribed', thread, cursor });
    }
    const start = this.#startOf(log, from);
    if (start === undefined) return this.send({ op: 'error', thread, code: 'bad_cursor', message: 'no cursor' });
    this.following.set(thread, log.events.length);
    this.send({ op: 'subscribed', thread, cursor });
    if (start.reset !== undefined) return this.reset(thread, start.reset);
    const missed = log.events.slice(start.next);
    if (missed.length > 0) this.send({ op: 'events', thread, cursor, events: missed });
    return undefined;
  }

  #startOf(log, from) {
    if (from === 'now') return { reset: 'join' };
    if (from === 'start') return log.first === 0 ? { next: 0 } : { reset: 'trimmed' };
    if (from === 'live') return { next: log.events.length };
    const match = /^(\d+)-(\d+)$/.exec(from);
    if (match === null) return undefined;
    if (Number(match[1]) !== log.epoch) return { reset: 'epoch' };
    const next = Number(match[2]) + 1;
    return next < log.first ? { reset: 'trimmed' } : { next };
  }

  /** Resets a thread, as fanout does when it cannot serve the client's position. */
  reset(thread, reason) {
    this.send({ op: 'reset', thread, reason });
    this.send({ op: 'events', thread, cursor: this.#fanout.cursor(thread), pair: true, events: pairOf(this.#fanout.threads.get(thread).events) });
    this.following.set(thread, this.#fanout.threads.get(thread).events.length);
  }

  /** Delivers what was appended. */
  deliver(thread, events) {
    const from = this.following.get(thread);
    if (from === undefined) return;
    if (events[0].seq < from) {
      this.reset(thread, 'epoch');
      return;
    }
    this.following.set(thread, events[events.length - 1].seq + 1);
    if (this.faults.dropBatches > 0) {
      this.faults.dropBatches--;
      return;
    }
    const message = { op: 'events', thread, cursor: this.#fanout.cursor(thread), events };
    this.send(message);
    if (this.faults.repeat) this.send(message);
  }

  beat() {
    const heads = {};
    for (const thread of this.following.keys()) heads[thread] = { cursor: this.#fanout.cursor(thread), open: this.#fanout.isOpen(thread) };
    this.send({ op: 'heartbeat', heads });
  }

  send(message) {
    if (!this.faults.mute) this.#send(message);
  }

  /** The server ends the connection. */
  close(code) {
    this.gone();
    this.#close(code);
  }

  /** The connection is gone. */
  gone() {
    this.#fanout.peers.delete(this);
  }
}
