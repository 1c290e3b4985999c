/**
 * JSON for people: indented, its tokens told apart, long values cut until one asks for them.
 *
 * @module
 */

import { h } from './dom.js';

const cut = 12_000;
const short = 72;
/** Beyond this the tokens are not told apart, in characters. */
const coloured = 60_000;
const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * @param {unknown} value
 * @returns {HTMLElement}
 */
export function jsonView(value) {
  const text = indented(value);
  const pre = h('pre', { class: 'json', dir: 'ltr', tabindex: '0' });
  if (text.length <= cut) {
    paint(pre, text);
    return pre;
  }
  paint(pre, text.slice(0, cut));
  const more = h('button', {
    type: 'button',
    class: 'link',
    onclick: () => {
      pre.replaceChildren();
      paint(pre, text);
      more.remove();
    },
  }, `Show all of ${text.length.toLocaleString('en')} characters`);
  return h('div', {}, pre, more);
}

/** On one line where that is short. */
function indented(value) {
  const line = (JSON.stringify(value, null, 1) ?? 'undefined').replace(/\n */g, ' ');
  return line.length <= short ? line : JSON.stringify(value, null, 2);
}

function paint(pre, text) {
  if (text.length > coloured) {
    pre.append(text);
    return;
  }
  let last = 0;
  for (const match of text.matchAll(token)) {
    pre.append(text.slice(last, match.index));
    const [whole, string, colon] = match;
    const kind = string === undefined ? 'j-atom' : colon === undefined ? 'j-string' : 'j-name';
    pre.append(h('span', { class: kind }, string ?? whole), colon ?? '');
    last = match.index + whole.length;
  }
  pre.append(text.slice(last));
}

/** What is never shown: credentials and blobs that only a provider may read (SPEC §13.1, §13.2). */
const secrets = new Set(['token', 'requestState', 'signature', 'encryptedIndex']);

/**
 * A copy of an event for the screen.
 *
 * @param {any} value
 * @param {string} [name] the member it is
 * @returns {any}
 */
export function redacted(value, name = '') {
  if (typeof value === 'string') return secrets.has(name) ? hidden(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redacted(item));
  const opaque = value.type === 'reasoning.opaque' || name === 'opaque';
  const entries = Object.entries(value).map(([key, member]) => {
    const blob = (opaque && key === 'value') || (value.type === 'reasoning.opaque.delta' && key === 'delta');
    return [key, blob && typeof member === 'string' ? hidden(member) : redacted(member, key)];
  });
  return Object.fromEntries(entries);
}

function hidden(text) {
  return `(not shown, ${text.length} characters)`;
}
