/**
 * The names and numbers of docs/protocol.md.
 *
 * @module
 */

/** The WebSocket sub-protocol. */
export const subprotocol = 'agwire.v1';

/** Close codes that this client sends itself; none forbids coming back. */
export const closeCodes = { normal: 1000, heartbeatMissed: 4002, malformed: 3400 };

/**
 * @param {number} code of a closed WebSocket
 * @returns {boolean} whether to come back: all but 4400–4499 do, an abnormal end included
 */
export function comesBack(code) {
  return code < 4400 || code > 4499;
}

const reasons = new Map([
  [1001, 'the server leaves'],
  [1006, 'the connection was lost'],
  [4000, 'the server is draining'],
  [4001, 'this client read too slowly'],
  [4002, 'no heartbeat'],
  [4400, 'malformed message'],
  [4401, 'not allowed'],
  [4408, 'too many subscriptions'],
  [4409, 'message too large'],
]);

/**
 * @param {number} code
 * @returns {string} what it says, for people
 */
export function describeClose(code) {
  return reasons.get(code) ?? `closed with ${code}`;
}

/**
 * @param {string|URL} base where Agwire is served
 * @returns {URL} of its WebSocket
 */
export function socketURL(base) {
  const url = apiURL(base, 'v1/ws');
  url.protocol = url.protocol === 'https:' || url.protocol === 'wss:' ? 'wss:' : 'ws:';
  return url;
}

/**
 * @param {string|URL} base where Agwire is served
 * @param {string} path relative
 * @returns {URL}
 */
export function apiURL(base, path) {
  const root = new URL(base);
  root.search = '';
  root.hash = '';
  if (!root.pathname.endsWith('/')) root.pathname += '/';
  return new URL(path, root);
}
