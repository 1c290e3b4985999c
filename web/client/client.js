/**
 * The client of docs/protocol.md: many threads on one WebSocket, each followed by its cursor and folded as it comes.
 *
 * @example
 * const client = new Client({ url: 'http://127.0.0.1:8080/' });
 * const sub = client.subscribe('my-thread');
 * sub.on('change', () => render(sub.fold.view()));
 *
 * @module
 */

import { getThread, listThreads } from './api.js';
import { Connection } from './connection.js';
import { Emitter } from './emitter.js';
import { socketURL } from './protocol.js';
import { Subscription } from './subscription.js';

/**
 * @typedef {object} ClientOptions
 * @property {string|URL} url where Agwire is served; in a page usually `document.baseURI`
 * @property {typeof globalThis.WebSocket} [WebSocket] needed where the platform has none, as in Node 20
 * @property {typeof globalThis.fetch} [fetch]
 * @property {{base?: number, cap?: number}} [backoff] of reconnects, in milliseconds
 * @property {() => number} [random] in [0, 1)
 * @property {{setTimeout: Function, clearTimeout: Function, now: () => number}} [timers]
 *
 * @typedef {object} ClientEvents
 * @property {import('./connection.js').ConnectionState} state
 * @property {{code: string, message: string}} error an error of the connection, not of a thread
 */

const clock = {
  /** @param {() => void} run @param {number} wait */
  setTimeout: (run, wait) => globalThis.setTimeout(run, wait),
  /** @param {any} id */
  clearTimeout: (id) => globalThis.clearTimeout(id),
  now: () => Date.now(),
};

/** @extends {Emitter<ClientEvents>} */
export class Client extends Emitter {
  #connection;
  #server;
  #timers;
  #random;
  /** @type {Map<string, Subscription>} */
  #subscriptions = new Map();
  /** How many answers a thread still owes on this connection; until they are here its events are of an older subscription. */
  #owed = new Map();

  /**
   * Connects at once.
   *
   * @param {ClientOptions} options
   * @throws {TypeError} where there is no WebSocket
   */
  constructor({ url, WebSocket = globalThis.WebSocket, fetch, backoff, random = Math.random, timers = clock }) {
    super();
    if (WebSocket === undefined) throw new TypeError('no WebSocket: pass one as an option');
    this.#timers = timers;
    this.#random = random;
    this.#server = { url, fetch: fetch ?? ((...args) => globalThis.fetch(...args)) };
    this.#connection = new Connection({
      url: socketURL(url),
      WebSocket,
      timers,
      random,
      backoff,
      onHello: () => this.#hello(),
      onMessage: (message) => this.#dispatch(message),
      onState: (state) => this.#stateChanged(state),
    });
    this.#connection.open();
  }

  /** @returns {import('./connection.js').ConnectionState} */
  get state() {
    return this.#connection.state;
  }

  /** @returns {IterableIterator<Subscription>} */
  get subscriptions() {
    return this.#subscriptions.values();
  }

  /**
   * Follows a thread, which need not exist yet. A second subscription to a thread replaces the first.
   *
   * @param {string} thread
   * @param {{from?: import('./subscription.js').From, fold?: import('./fold.js').Fold|null}} [options] from is `now` unless given; fold is
   *   what a cursor continues on, or null to fold nothing
   * @returns {Subscription}
   */
  subscribe(thread, options = {}) {
    this.#subscriptions.get(thread)?.close();
    const sub = new Subscription(thread, options, {
      subscribe: (from) => this.#request({ op: 'subscribe', thread, from }),
      giveUp: () => this.#connection.giveUp(),
      timers: this.#timers,
      random: this.#random,
    });
    this.#subscriptions.set(thread, sub);
    if (this.state.name === 'live') sub.ask();
    return sub;
  }

  /** @param {Subscription} sub ends it; nothing happens where another one has replaced it */
  unsubscribe(sub) {
    sub.close();
    if (this.#subscriptions.get(sub.thread) !== sub) return;
    this.#subscriptions.delete(sub.thread);
    this.#request({ op: 'unsubscribe', thread: sub.thread });
  }

  /**
   * @param {{limit?: number, after?: string, signal?: AbortSignal}} [options]
   * @returns {ReturnType<typeof listThreads>} the threads, newest activity first
   */
  threads(options) {
    return listThreads(this.#server, options);
  }

  /**
   * @param {string} thread
   * @param {{signal?: AbortSignal}} [options]
   * @returns {ReturnType<typeof getThread>} the thread as it stands
   */
  thread(thread, options) {
    return getThread(this.#server, thread, options);
  }

  /** Reconnects at once, if it waits to; for a page that came back to the front or online. */
  retryNow() {
    this.#connection.retryNow();
  }

  /** Connects again after the server refused to have this client back, or after close. */
  reopen() {
    if (this.state.name === 'stopped') this.#connection.open();
  }

  /** Ends the connection and every subscription. */
  close() {
    for (const sub of this.#subscriptions.values()) sub.close();
    this.#subscriptions.clear();
    this.#connection.close();
  }

  #request(message) {
    if (this.#connection.send(message)) this.#owed.set(message.thread, (this.#owed.get(message.thread) ?? 0) + 1);
  }

  #hello() {
    for (const sub of this.#subscriptions.values()) sub.ask();
  }

  #stateChanged(state) {
    if (state.name === 'waiting' || state.name === 'stopped') {
      this.#owed.clear();
      for (const sub of this.#subscriptions.values()) sub.disconnected();
    }
    this.emit('state', state);
  }

  #dispatch(message) {
    switch (message.op) {
      case 'subscribed':
        if (this.#answered(message.thread)) this.#subscriptions.get(message.thread)?.subscribed({ cursor: text(message.cursor) });
        return;
      case 'unsubscribed':
        this.#answered(message.thread);
        return;
      case 'reset':
        this.#current(message.thread)?.reset({ reason: text(message.reason) });
        return;
      case 'events':
        if (Array.isArray(message.events)) {
          this.#current(message.thread)?.events({ events: message.events, cursor: text(message.cursor), pair: message.pair === true });
        }
        return;
      case 'heartbeat':
        this.#heartbeat(message.heads);
        return;
      case 'error':
        this.#refused(message);
        return;
      default: // an op of a later version
    }
  }

  /** Counts an answer. @returns {boolean} whether the thread owes none any more */
  #answered(thread) {
    const owed = (this.#owed.get(thread) ?? 1) - 1;
    if (owed > 0) this.#owed.set(thread, owed);
    else this.#owed.delete(thread);
    return owed <= 0;
  }

  /** The subscription that a thread's message is for; none while the message may be of an older one. */
  #current(thread) {
    return this.#owed.has(thread) ? undefined : this.#subscriptions.get(thread);
  }

  #heartbeat(heads) {
    for (const sub of [...this.#subscriptions.values()]) {
      const head = heads !== null && typeof heads === 'object' && Object.hasOwn(heads, sub.thread) ? heads[sub.thread] : undefined;
      const told = head === undefined ? undefined : { cursor: text(head?.cursor), open: head?.open === true };
      sub.heartbeat(told, !this.#owed.has(sub.thread));
    }
  }

  #refused({ thread, code, message }) {
    const error = { code: text(code), message: text(message) };
    if (typeof thread !== 'string' || thread === '') {
      this.emit('error', error);
      return;
    }
    if (this.#answered(thread)) this.#subscriptions.get(thread)?.refused(error);
  }
}

function text(v) {
  return typeof v === 'string' ? v : '';
}
