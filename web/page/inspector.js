/**
 * Beside the thread: its events as they came, and its state, memory and artifacts as they stand.
 *
 * @module
 */

import { h, setText } from './dom.js';
import { oneLine, shortId } from './format.js';
import { jsonView, redacted } from './json-view.js';

/** How many events are kept, and how many of them are drawn. */
const kept = 20_000;
const drawn = 300;
/** Between two drawings, in milliseconds. */
const pause = 120;

export class Inspector {
  #events = [];
  #dropped = 0;
  #list = h('div', { class: 'events', tabindex: '0' });
  #count = h('span', { class: 'dim' });
  #filter;
  #state = h('div', { class: 'states' });
  #tabs;
  #tab = 'events';
  #rows = new Map();
  #root;
  #sub;
  #scheduled = false;
  #stale = true;

  /**
   * @param {HTMLElement} root
   * @param {() => void} fromStart asks for the whole log
   */
  constructor(root, fromStart) {
    this.#root = root;
    this.#filter = h('input', { type: 'search', placeholder: 'Type, such as tool.', 'aria-label': 'Filter events by type', oninput: () => this.#schedule() });
    this.#tabs = ['events', 'state'].map((name) => h('button', { type: 'button', role: 'tab', onclick: () => this.#show(name) }, name === 'events' ? 'Events' : 'State'));
    const whole = h('button', { type: 'button', class: 'link', title: 'Follow the thread from its first event', onclick: fromStart }, 'From the start');
    root.append(
      h('div', { class: 'tabs', role: 'tablist' }, ...this.#tabs),
      h('div', { class: 'tools' }, this.#filter, this.#count, whole),
      this.#list,
      this.#state,
    );
    this.#show('events');
  }

  get open() {
    return !this.#root.hidden;
  }

  toggle() {
    this.#root.hidden = !this.#root.hidden;
    this.#schedule();
  }

  /** @param {import('../client/index.js').Subscription|undefined} sub another thread, or the same anew */
  clear(sub) {
    this.#sub = sub;
    this.#events = [];
    this.#dropped = 0;
    this.#rows.clear();
    this.#list.replaceChildren();
    this.#schedule();
  }

  /** @param {{events: any[], pair: boolean}} batch */
  add({ events, pair }) {
    if (pair) this.#events.push({ type: '— joined —', n: this.#number(), mark: true });
    for (const ev of events) this.#events.push({ ev, type: ev.type, n: this.#number(), pair });
    if (this.#events.length > kept) this.#dropped += this.#events.splice(0, this.#events.length - kept).length;
    this.#schedule();
  }

  /** Told when the fold has changed. */
  changed() {
    this.#stale = true;
    this.#schedule();
  }

  #number() {
    return this.#dropped + this.#events.length;
  }

  #show(name) {
    this.#tab = name;
    this.#tabs.forEach((tab, i) => tab.setAttribute('aria-selected', String(['events', 'state'][i] === name)));
    this.#list.hidden = name !== 'events';
    this.#filter.hidden = name !== 'events';
    this.#state.hidden = name !== 'state';
    this.#schedule();
  }

  #schedule() {
    if (this.#scheduled || !this.open) return;
    this.#scheduled = true;
    setTimeout(() => {
      this.#scheduled = false;
      if (this.#tab === 'events') this.#drawEvents();
      else this.#drawState();
    }, pause);
  }

  #drawEvents() {
    const prefix = this.#filter.value.trim();
    const match = prefix === '' ? this.#events : this.#events.filter((e) => e.type.startsWith(prefix));
    const wanted = match.slice(-drawn);
    const atEnd = this.#list.scrollHeight - this.#list.scrollTop - this.#list.clientHeight < 60;
    const next = new Map();
    for (const entry of wanted) next.set(entry.n, this.#rows.get(entry.n) ?? row(entry));
    for (const [n, el] of this.#rows) if (!next.has(n)) el.remove();
    this.#rows = next;
    let at = this.#list.firstElementChild;
    for (const el of next.values()) {
      if (el === at) at = at.nextElementSibling;
      else this.#list.insertBefore(el, at);
    }
    setText(this.#count, `${match.length.toLocaleString('en')} event${match.length === 1 ? '' : 's'}${match.length > drawn ? `, the last ${drawn}` : ''}`);
    if (atEnd) this.#list.scrollTop = this.#list.scrollHeight;
  }

  #drawState() {
    const fold = this.#sub?.fold;
    if (!this.#stale || fold === undefined || fold === null) return;
    this.#stale = false;
    const { state, memory, artifacts, turns, messages } = fold.view();
    setText(this.#count, `${messages.length} messages, ${turns.length} turns`);
    const parts = [['State', state], ['Memory', memory], ['Artifacts', artifacts]].map(([name, value]) => [
      h('h3', {}, name),
      value === undefined || (Array.isArray(value) && value.length === 0) ? h('p', { class: 'dim' }, 'none') : jsonView(redacted(value)),
    ]);
    this.#state.replaceChildren(...parts.flat());
  }
}

function row({ ev, type, pair, mark }) {
  if (mark) return h('div', { class: 'event mark' }, 'A snapshot took the place of what was known');
  const body = h('div', { class: 'event-body' });
  const preview = typeof ev.delta === 'string' && !type.startsWith('reasoning.opaque') ? oneLine(JSON.stringify(ev.delta), 60) : (ev.toolCallId ?? ev.id ?? ev.messageId ?? '');
  const el = h(
    'details',
    { class: `event${pair ? ' pair' : ''}` },
    h('summary', {}, h('span', { class: 'seq' }, ev.seq), h('span', { class: 'type' }, type), h('span', { class: 'dim', dir: 'auto' }, typeof ev.delta === 'string' ? preview : shortId(String(preview)))),
    body,
  );
  el.addEventListener('toggle', () => {
    if (el.open && body.childElementCount === 0) body.append(jsonView(redacted(ev)));
  });
  return el;
}
