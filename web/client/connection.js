/**
 * One WebSocket after another to the same place: opening, watching, backing off. It knows the protocol's envelope and nothing of
 * threads.
 *
 * @module
 */

import { Backoff } from './backoff.js';
import { closeCodes, comesBack, describeClose, subprotocol } from './protocol.js';

/** How long an attempt may take until `hello`, in milliseconds. */
const patience = 15_000;
/** A connection that lasted so long was a good one: the next attempt is the first again. In milliseconds. */
const settled = 10_000;
/** The connection is taken for dead after so many heartbeats' time without any message. */
const missed = 2.5;

/**
 * @typedef {object} ConnectionState
 * @property {'connecting'|'live'|'waiting'|'stopped'} name
 * @property {number} attempt how many attempts failed in a row
 * @property {number} [retryAt] when the next attempt is made, as the clock has it, in milliseconds; only while waiting
 * @property {number} [code] how the last connection was closed
 * @property {string} [why] the same in words
 *
 * @typedef {object} ConnectionOptions
 * @property {URL} url
 * @property {typeof WebSocket} WebSocket
 * @property {{setTimeout: Function, clearTimeout: Function, now: () => number}} timers
 * @property {() => number} random
 * @property {{base?: number, cap?: number}} [backoff]
 * @property {() => void} onHello a connection is ready
 * @property {(message: any) => void} onMessage any message but hello
 * @property {(state: ConnectionState) => void} onState
 */

export class Connection {
  #options;
  /** @type {WebSocket|null} */
  #socket = null;
  #backoff;
  #timer;
  #watchdog;
  #silence = patience;
  #since = 0;
  /** @type {ConnectionState} */
  state = { name: 'stopped', attempt: 0 };

  /** @param {ConnectionOptions} options */
  constructor(options) {
    this.#options = options;
    this.#backoff = new Backoff({ ...options.backoff, random: options.random });
  }

  /** Connects now, whatever the connection waits for. */
  open() {
    this.#clear();
    const { WebSocket, url } = this.#options;
    this.#setState({ name: 'connecting', attempt: this.#backoff.attempt });
    this.#silence = patience;
    let socket;
    try {
      socket = new WebSocket(url.href, [subprotocol]);
    } catch (err) {
      this.#setState({ name: 'stopped', attempt: this.#backoff.attempt, why: err instanceof Error ? err.message : 'no connection can be made' });
      return;
    }
    this.#socket = socket;
    const mine = (handle) => (event) => {
      if (this.#socket === socket) handle(event);
    };
    socket.onmessage = mine((event) => this.#receive(event.data));
    socket.onclose = mine((event) => this.#closed(event.code));
    socket.onerror = () => {}; // a close follows
    this.#watch();
  }

  /**
   * Sends one message. What is sent while no connection is live is dropped: everything is asked for again after `hello`.
   *
   * @param {object} message
   * @returns {boolean} whether it was handed to the socket
   */
  send(message) {
    if (this.state.name !== 'live' || this.#socket === null) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** Gives the present connection up and makes another. */
  giveUp(code = closeCodes.heartbeatMissed) {
    if (this.#socket === null) return;
    const socket = this.#socket;
    this.#closed(code);
    socket.close(code, describeClose(code));
  }

  /** Makes an attempt at once, if it waits for one. */
  retryNow() {
    if (this.state.name === 'waiting') this.open();
  }

  /** Ends it for good. */
  close() {
    const socket = this.#socket;
    this.#clear();
    this.#setState({ name: 'stopped', attempt: 0, code: closeCodes.normal, why: 'closed here' });
    socket?.close(closeCodes.normal);
  }

  #receive(data) {
    this.#watch();
    const message = parse(data);
    if (message === undefined) return this.giveUp(closeCodes.malformed);
    if (message.op !== 'hello') {
      if (this.state.name === 'live') this.#options.onMessage(message);
      return undefined;
    }
    if (typeof message.heartbeat === 'number' && message.heartbeat > 0) this.#silence = message.heartbeat * missed * 1_000;
    this.#watch();
    this.#since = this.#options.timers.now();
    this.#setState({ name: 'live', attempt: 0 });
    this.#options.onHello();
    return undefined;
  }

  #closed(code) {
    const { timers } = this.#options;
    if (this.state.name === 'live' && timers.now() - this.#since >= settled) this.#backoff.reset();
    this.#clear();
    const why = describeClose(code);
    if (!comesBack(code)) {
      this.#setState({ name: 'stopped', attempt: this.#backoff.attempt, code, why });
      return;
    }
    const wait = this.#backoff.next();
    this.#timer = timers.setTimeout(() => this.open(), wait);
    this.#setState({ name: 'waiting', attempt: this.#backoff.attempt, retryAt: timers.now() + wait, code, why });
  }

  /** (Re)starts the watch for a silent connection. */
  #watch() {
    const { timers } = this.#options;
    if (this.#watchdog !== undefined) timers.clearTimeout(this.#watchdog);
    this.#watchdog = timers.setTimeout(() => this.giveUp(), this.#silence);
  }

  #clear() {
    const { timers } = this.#options;
    if (this.#timer !== undefined) timers.clearTimeout(this.#timer);
    if (this.#watchdog !== undefined) timers.clearTimeout(this.#watchdog);
    this.#timer = undefined;
    this.#watchdog = undefined;
    this.#socket = null;
  }

  #setState(state) {
    this.state = state;
    this.#options.onState(state);
  }
}

/** @returns {any} the message; nothing where data is none */
function parse(data) {
  if (typeof data !== 'string') return undefined;
  try {
    const message = JSON.parse(data);
    return typeof message?.op === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
